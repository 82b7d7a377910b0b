// Reads a repository's history by running git: no shell in between, so a name with spaces or quotes is only a name.
#pragma once

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <flow/time.hpp>

namespace report {

struct commit {
    std::string id, author, subject;
    flow::time_point at;
};

struct history {
    std::string title;
    flow::time_point from, until;
    std::vector<commit> commits;  // newest first
};

/// What a program prints; nothing if it cannot be started or does not end well.
inline std::optional<std::string> output_of(std::vector<std::string> words)
{
    std::vector<char*> argv;
    for (auto& w : words) argv.push_back(w.data());
    argv.push_back(nullptr);

    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
    ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    ::pid_t child = 0;
    int const failed = ::posix_spawnp(&child, argv[0], &files, nullptr, argv.data(), environ);
    ::posix_spawn_file_actions_destroy(&files);
    ::close(ends[1]);

    std::string text;
    char piece[16384];
    for (::ssize_t n = 0; failed == 0 && (n = ::read(ends[0], piece, sizeof piece)) > 0;) text.append(piece, static_cast<std::size_t>(n));
    ::close(ends[0]);
    int status = 0;
    if (failed != 0 || ::waitpid(child, &status, 0) != child || status != 0) return std::nullopt;
    return text;
}

inline flow::time_point from_seconds(std::string_view digits)
{
    std::int64_t s = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), s);
    return flow::time_point{std::chrono::seconds{s}};
}

/// Whole days: the first of `span` days of which `until` is in the last.
inline flow::time_point first_day(flow::time_point until, std::chrono::days span)
{
    return std::chrono::floor<std::chrono::days>(until) - span + std::chrono::days{1};
}

/// For folders without history.
inline history sample(flow::time_point until, std::chrono::days span)
{
    using namespace std::chrono_literals;
    history h{"a sample (no git history found)", first_day(until, span), until, {}};
    char const* const what[] = {"Say what a retry waits for", "Close the file before renaming it", "A test for the empty journal",
                                "Count attempts from one",    "Name both sides of a mismatch"};
    char const* const who[] = {"ada", "grace", "barbara"};
    for (int i = 0; i < 14; ++i)
        if (auto const at = until - i * i * 40min; at >= h.from)
            h.commits.push_back({"sample" + std::to_string(i), who[i * i % 3], what[i % 5], at});
    return h;
}

/// The last `span` of a repository's history that has commits in it, not newer than `until`.
inline history read_history(std::string const& repository, flow::time_point until, std::chrono::days span)
{
    auto const git_log = [&](std::vector<std::string> how) {
        std::vector<std::string> all{"git", "-C", repository, "log"};
        all.insert(all.end(), how.begin(), how.end());
        return output_of(all);
    };
    auto const newest = git_log({"--max-count=1", "--format=%ct", "--until=" + flow::to_string(until)});
    if (!newest || newest->empty()) return sample(until, span);

    history h{repository, {}, from_seconds(*newest), {}};
    h.from = first_day(h.until, span);
    auto const lines = git_log({"--max-count=5000", "--format=%h%x1f%an%x1f%ct%x1f%s", "--since=" + flow::to_string(h.from),
                                "--until=" + flow::to_string(h.until)});
    std::istringstream in(lines.value_or(""));
    for (std::string line; std::getline(in, line);) {
        std::istringstream fields(line);
        commit c;
        std::string seconds;
        std::getline(fields, c.id, '\x1f');
        std::getline(fields, c.author, '\x1f');
        std::getline(fields, seconds, '\x1f');
        std::getline(fields, c.subject);
        c.at = from_seconds(seconds);
        h.commits.push_back(std::move(c));
    }
    return h;
}

}  // namespace report
