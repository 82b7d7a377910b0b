// What was typed, read into a plain value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>

namespace flow::cli {

enum class verb { runs, show, journal, published, graph, tokens, complete, fail, approve, reject, secret, decide, send, events, schedules, schedule, backfill, policies, cancel, pause, resume, backup };

struct arguments {
    verb what{};
    bool json = false;
    std::string store;  ///< as flow::open_store takes it, where the program opens it itself
    std::string typed;  ///< what is to be typed before a verb
    std::string which;  ///< RUN, TOKEN, INTERVENTION or the back-up's FILE
    std::string value;  ///< JSON or CHOICE
    std::optional<std::string> output;
    std::string topic, about, id, person;
    std::optional<std::string> secret;
    bool if_awaited = false, kept = false;
    std::string cron, zone, every, overlap, catch_up;
    std::uint64_t firings = 0;  ///< 0: no limit
    std::string status, workflow, tenant, since, until, tag, before, run, by, why;
    std::int64_t after = 0;
    std::string set;  ///< a file
    std::uint32_t roll_back = 0;  ///< to this version; 0: not asked for
    bool late = false;
    bool history = false, dot = false, mermaid = false;
    std::optional<std::size_t> limit;
};

/// The command line itself is wrong; the message says how.
struct misuse : std::runtime_error {
    using std::runtime_error::runtime_error;
};
/// Help was asked for, or nothing at all.
struct help {
    std::string text;
    bool asked_for = true;
};

/// `opens_store`: the program takes `--store` and `--db`. Throws misuse.
std::variant<arguments, help> read_arguments(int argc, char const* const* argv, bool opens_store);

/// Was `--json` given? Known even of a command line that is wrong otherwise.
bool wants_json(int argc, char const* const* argv);

}  // namespace flow::cli
