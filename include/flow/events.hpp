// Events: what happens outside, told to whoever waits for it, now or later. The rows of the stores' inbox, as values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "flow/ids.hpp"
#include "flow/time.hpp"

#pragma GCC visibility push(default)

namespace flow {

/// How many events of one topic are kept for somebody to want them; more are refused (errc::inbox_full).
inline constexpr std::size_t inbox_limit = 10'000;

/// Something that happened outside. It goes to one waiter: the run that has waited longest for its topic and correlation, or the first that
/// comes to.
struct event {
    event_id id;
    std::string topic, correlation;
    std::optional<run_id> run;  ///< for this run alone; the correlation is then the run's id
    std::string payload;        ///< JSON
    std::string by;
    time_point at{};
    time_point expires_at = never;  ///< kept until then, taken or not; a second telling is known as long
    bool only_if_awaited = false;   ///< refused where nobody waits for it now
};

enum class delivery_answer : std::uint8_t {
    matched,      ///< it has ended a wait
    kept,         ///< for who comes to wait for it
    unfit,        ///< kept; but who waits for it wants a value of another shape
    duplicate,    ///< told before, with the same value: nothing was written
    conflict,     ///< told before, with another value
    not_awaited,  ///< nobody waits for it, or for another shape, and it was not to be kept
    inbox_full,
    unknown_run,
    run_ended,
};

struct delivered {
    delivery_answer answer = delivery_answer::kept;
    std::optional<run_id> run;  ///< whose wait it has ended
    std::string wanted;         ///< of `unfit` and `not_awaited`: the shape that is waited for, if any
};

/// How an event is told. A plain value.
struct event_options {
    /// The sender's own name for it: told again under this name, topic and correlation, it counts once. Empty: every call is another event.
    std::string_view id{};
    /// So long it is kept for who comes to wait for it, and known by its id. Zero: seven days, for one run alone as long as the store is there.
    duration keep{};
    /// Refused (event_not_awaited, wrong_shape) where nobody waits for it now: finds misspelt topics.
    bool only_if_awaited = false;
    /// Who tells it. Empty: the client's own name.
    std::string_view by{};
};

/// Where an event is.
enum class event_fate : std::uint8_t {
    kept,   ///< in the inbox, for nobody yet
    given,  ///< it has ended a run's wait, and the run has not gone on with it yet, or ended without
    taken,  ///< a run has it in its journal
};

struct event_row {
    event what;
    std::int64_t cursor = 0;  ///< to go on behind it
    event_fate fate = event_fate::kept;
    std::optional<run_id> taker;
    seq_no entry = seq_no::none;  ///< of the taker's journal
};

/// Which events. Empty fields do not filter. Oldest first.
struct event_filter {
    std::string topic{}, correlation{};
    std::optional<run_id> run{};  ///< told to this run alone
    std::optional<event_fate> fate{};
    std::int64_t after = 0;       ///< a cursor
    std::size_t limit = 100;
};

}  // namespace flow

#pragma GCC visibility pop
