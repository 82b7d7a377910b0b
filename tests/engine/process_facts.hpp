// What the system knows of this process: its threads and open files.
#pragma once

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <string>
#include <thread>

namespace flow::test {

/// By their ids, so that a thread that has just ended does not hide one that was made.
inline std::set<std::string> threads_now()
{
    // A sanitizer makes a thread of its own when the first one is made: it is to be there before anybody counts.
    [[maybe_unused]] static bool const one_was_made = (std::thread([] {}).join(), true);
    std::set<std::string> ids;
    for (auto const& t : std::filesystem::directory_iterator("/proc/self/task")) ids.insert(t.path().filename());
    return ids;
}

inline int new_threads_since(std::set<std::string> const& before)
{
    auto const now = threads_now();
    std::set<std::string> made;
    std::set_difference(now.begin(), now.end(), before.begin(), before.end(), std::inserter(made, made.end()));
    return static_cast<int>(made.size());
}

inline int open_files_now()
{
    auto const all = std::filesystem::directory_iterator("/proc/self/fd");
    return static_cast<int>(std::distance(begin(all), end(all)));
}

}  // namespace flow::test
