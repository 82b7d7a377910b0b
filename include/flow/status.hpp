// The two state machines of a run, as tables: the only way a status changes.
//
// execution_status is for the machinery, run_status for people. The guard in the stores, the SQL CHECKs and the page
// docs/reference/status.md are made from these tables; a test walks all pairs of status and event.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flow/ids.hpp"
#include "flow/time.hpp"

#pragma GCC visibility push(default)

namespace flow {

// Stored in the run row: append at the end, never renumber.
enum class execution_status : std::uint8_t {
    created, delayed, queued, executing, executing_with_waitpoints, suspended, queued_executing, finished,
};

// Stored in the run row: append at the end, never renumber.
enum class run_status : std::uint8_t {
    created, queued, running, waiting, paused, held, cancelling,
    succeeded, failed, cancelled, timed_out, expired,
};

// Journaled by name in snapshot entries.
enum class status_event : std::uint8_t {
    enqueue,    ///< the run may be claimed
    delay,      ///< it may be claimed at its due instant
    fall_due,   ///< that instant has come
    claim,      ///< an engine takes it; the epoch rises
    take_over,  ///< its owner is dead, another engine takes it; the epoch rises
    block,      ///< the body waits on a waitpoint
    unblock,    ///< what it waited for is there
    suspend,    ///< frame and ownership are given up; the epoch rises
    requeue,    ///< given back while there is work to do: an orderly stop, a retry of a live run
    hold,       ///< going on would be wrong; somebody has to look
    pause,      ///< a person or program asked it to stand still
    resume,     ///< asked to go on: from held, paused
    cancel,     ///< a cancel was taken
    succeed, fail, end_cancelled, time_out, expire,
    reopen,     ///< the one way back from the end (P44)
};

/// Who may cause an event.
enum class status_actor : std::uint8_t {
    holder = 1,   ///< the engine that holds the run's epoch
    system = 2,   ///< the store or an engine that takes the epoch for this one transaction
    outside = 4,  ///< a person or program, through a request
};

constexpr std::uint8_t operator|(status_actor a, status_actor b) noexcept
{
    return static_cast<std::uint8_t>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}

template <class Status>
struct transition {
    Status from;
    status_event on;
    Status to;
    std::uint8_t actors;
};

namespace detail {
inline constexpr std::uint8_t by_holder = static_cast<std::uint8_t>(status_actor::holder);
inline constexpr std::uint8_t by_system = static_cast<std::uint8_t>(status_actor::system);
inline constexpr std::uint8_t by_outside = static_cast<std::uint8_t>(status_actor::outside);
}  // namespace detail

inline constexpr auto execution_transitions = [] {
    using enum execution_status;
    using on = status_event;
    using namespace detail;
    using row = transition<execution_status>;
    return std::to_array<row>({
        {created, on::enqueue, queued, by_system | by_outside},
        {created, on::delay, delayed, by_system | by_outside},
        {created, on::end_cancelled, finished, by_system | by_outside},

        {delayed, on::fall_due, queued, by_system},
        {delayed, on::end_cancelled, finished, by_system | by_outside},
        {delayed, on::expire, finished, by_system},
        {delayed, on::pause, suspended, by_outside},

        {queued, on::claim, executing, by_system},
        {queued, on::cancel, queued, by_system | by_outside},         // it has begun before: its clean-up must run
        {queued, on::end_cancelled, finished, by_system | by_outside}, // it never began
        {queued, on::expire, finished, by_system},
        {queued, on::pause, suspended, by_outside},
        {queued, on::unblock, queued, by_system},                     // a second wake is harmless
        {queued, on::resume, queued, by_outside},

        {executing, on::block, executing_with_waitpoints, by_holder},
        {executing, on::take_over, executing, by_system},
        {executing, on::requeue, queued, by_holder},
        {executing, on::hold, suspended, by_holder},
        {executing, on::pause, suspended, by_holder},
        {executing, on::cancel, executing, by_holder},
        {executing, on::succeed, finished, by_holder},
        {executing, on::fail, finished, by_holder},
        {executing, on::end_cancelled, finished, by_holder | by_outside},
        {executing, on::time_out, finished, by_holder},
        {executing, on::expire, finished, by_holder},

        {executing_with_waitpoints, on::block, executing_with_waitpoints, by_holder},
        {executing_with_waitpoints, on::unblock, executing, by_holder},
        {executing_with_waitpoints, on::take_over, executing_with_waitpoints, by_system},
        {executing_with_waitpoints, on::suspend, suspended, by_holder},
        {executing_with_waitpoints, on::requeue, queued_executing, by_holder},
        {executing_with_waitpoints, on::hold, suspended, by_holder},
        {executing_with_waitpoints, on::pause, suspended, by_holder},
        {executing_with_waitpoints, on::cancel, executing, by_holder},
        {executing_with_waitpoints, on::fail, finished, by_holder},
        {executing_with_waitpoints, on::end_cancelled, finished, by_holder | by_outside},
        {executing_with_waitpoints, on::time_out, finished, by_holder},
        {executing_with_waitpoints, on::expire, finished, by_holder},

        {suspended, on::unblock, queued, by_system},
        {suspended, on::resume, queued, by_system | by_outside},
        {suspended, on::pause, suspended, by_outside},
        {suspended, on::cancel, queued, by_system | by_outside},
        {suspended, on::end_cancelled, finished, by_system | by_outside},
        {suspended, on::time_out, finished, by_system},
        {suspended, on::expire, finished, by_system},

        {queued_executing, on::claim, executing, by_holder},          // hot: the frame is still there
        {queued_executing, on::take_over, executing, by_system},
        {queued_executing, on::requeue, queued, by_holder},           // evicted while it stood in line
        {queued_executing, on::cancel, queued_executing, by_holder},
        {queued_executing, on::unblock, queued_executing, by_holder},
        {queued_executing, on::hold, suspended, by_holder},
        {queued_executing, on::pause, suspended, by_holder},
        {queued_executing, on::fail, finished, by_holder},
        {queued_executing, on::end_cancelled, finished, by_holder | by_outside},
        {queued_executing, on::time_out, finished, by_holder},
        {queued_executing, on::expire, finished, by_holder},

        {finished, on::reopen, queued, by_outside},
        {finished, on::unblock, finished, by_holder | by_system},      // a late completion is harmless
    });
}();

inline constexpr auto run_transitions = [] {
    using enum run_status;
    using on = status_event;
    using namespace detail;
    using row = transition<run_status>;
    return std::to_array<row>({
        {created, on::enqueue, queued, by_system | by_outside},
        {created, on::delay, created, by_system | by_outside},
        {created, on::fall_due, queued, by_system},
        {created, on::end_cancelled, cancelled, by_system | by_outside},
        {created, on::expire, expired, by_system},
        {created, on::pause, paused, by_outside},

        {queued, on::claim, running, by_system},
        {queued, on::take_over, running, by_system},
        {queued, on::cancel, cancelling, by_system | by_outside},
        {queued, on::end_cancelled, cancelled, by_system | by_outside},
        {queued, on::expire, expired, by_system},
        {queued, on::pause, paused, by_outside},
        {queued, on::unblock, queued, by_system},
        {queued, on::resume, queued, by_outside},

        {running, on::block, waiting, by_holder},
        {running, on::take_over, running, by_system},
        {running, on::requeue, queued, by_holder},
        {running, on::hold, held, by_holder},
        {running, on::pause, paused, by_holder},
        {running, on::cancel, cancelling, by_holder},
        {running, on::succeed, succeeded, by_holder},
        {running, on::fail, failed, by_holder},
        {running, on::end_cancelled, cancelled, by_holder | by_outside},
        {running, on::time_out, timed_out, by_holder},
        {running, on::expire, expired, by_holder},

        {waiting, on::block, waiting, by_holder},
        {waiting, on::unblock, running, by_holder},                    // the frame is there: it goes on at once
        {waiting, on::resume, queued, by_system | by_outside},
        {waiting, on::take_over, waiting, by_system},
        {waiting, on::suspend, waiting, by_holder},
        {waiting, on::requeue, waiting, by_holder},
        {waiting, on::claim, running, by_holder | by_system},
        {waiting, on::hold, held, by_holder},
        {waiting, on::pause, paused, by_holder | by_outside},
        {waiting, on::cancel, cancelling, by_holder | by_system | by_outside},
        {waiting, on::fail, failed, by_holder},
        {waiting, on::end_cancelled, cancelled, by_holder | by_system | by_outside},
        {waiting, on::time_out, timed_out, by_holder | by_system},
        {waiting, on::expire, expired, by_holder | by_system},

        {paused, on::pause, paused, by_outside},
        {paused, on::unblock, paused, by_system},                      // kept, and acted on at resume
        {paused, on::resume, queued, by_outside},
        {paused, on::cancel, cancelling, by_system | by_outside},
        {paused, on::end_cancelled, cancelled, by_system | by_outside},
        {paused, on::time_out, timed_out, by_system},
        {paused, on::expire, expired, by_system},

        {held, on::unblock, held, by_system},                          // likewise
        {held, on::resume, queued, by_system | by_outside},
        {held, on::pause, paused, by_outside},
        {held, on::cancel, cancelling, by_system | by_outside},
        {held, on::end_cancelled, cancelled, by_system | by_outside},
        {held, on::time_out, timed_out, by_system},
        {held, on::expire, expired, by_system},

        {cancelling, on::claim, cancelling, by_system | by_holder},
        {cancelling, on::take_over, cancelling, by_system},
        {cancelling, on::block, cancelling, by_holder},                // clean-up may wait
        {cancelling, on::unblock, cancelling, by_holder | by_system},
        {cancelling, on::suspend, cancelling, by_holder},
        {cancelling, on::requeue, cancelling, by_holder},
        {cancelling, on::hold, held, by_holder},
        {cancelling, on::resume, cancelling, by_system | by_outside},
        {cancelling, on::cancel, cancelling, by_holder | by_system | by_outside},  // asked twice
        {cancelling, on::end_cancelled, cancelled, by_holder | by_system | by_outside},
        {cancelling, on::fail, failed, by_holder},                     // clean-up failed
        {cancelling, on::time_out, timed_out, by_holder},
        {cancelling, on::expire, expired, by_holder},

        {succeeded, on::reopen, queued, by_outside},
        {failed, on::reopen, queued, by_outside},
        {cancelled, on::reopen, queued, by_outside},
        {timed_out, on::reopen, queued, by_outside},
        {expired, on::reopen, queued, by_outside},
        {succeeded, on::unblock, succeeded, by_holder | by_system},
        {failed, on::unblock, failed, by_holder | by_system},
        {cancelled, on::unblock, cancelled, by_holder | by_system},
        {timed_out, on::unblock, timed_out, by_holder | by_system},
        {expired, on::unblock, expired, by_holder | by_system},
    });
}();

/// Where an event leads, or nothing: then it must not happen.
constexpr std::optional<execution_status> next(execution_status from, status_event on) noexcept
{
    for (auto const& row : execution_transitions)
        if (row.from == from && row.on == on) return row.to;
    return std::nullopt;
}

constexpr std::optional<run_status> next(run_status from, status_event on) noexcept
{
    for (auto const& row : run_transitions)
        if (row.from == from && row.on == on) return row.to;
    return std::nullopt;
}

/// Both statuses of a run at one moment.
struct status_pair {
    execution_status execution = execution_status::created;
    run_status run = run_status::created;
    friend bool operator==(status_pair const&, status_pair const&) = default;
};

/// The guard: where an event by this actor leads, or nothing if either machine refuses it.
constexpr std::optional<status_pair> next(status_pair from, status_event on, status_actor who) noexcept
{
    auto const bit = static_cast<std::uint8_t>(who);
    for (auto const& e : execution_transitions)
        if (e.from == from.execution && e.on == on && (e.actors & bit))
            for (auto const& r : run_transitions)
                if (r.from == from.run && r.on == on && (r.actors & bit)) return status_pair{e.to, r.to};
    return std::nullopt;
}

// Predicates (mechanism TD-22).
constexpr bool is_dequeueable(execution_status s) noexcept
{
    return s == execution_status::queued || s == execution_status::queued_executing;
}
constexpr bool is_executing(execution_status s) noexcept
{
    return s == execution_status::executing || s == execution_status::executing_with_waitpoints;
}
constexpr bool is_initial(execution_status s) noexcept
{
    return s == execution_status::created || s == execution_status::delayed;
}
constexpr bool is_checkpointable(execution_status s) noexcept
{
    return s == execution_status::created || is_dequeueable(s) || is_executing(s);
}
constexpr bool is_terminal(execution_status s) noexcept { return s == execution_status::finished; }
constexpr bool is_terminal(run_status s) noexcept { return s >= run_status::succeeded; }

/// A name as printed and journaled: `executing_with_waitpoints`.
std::string_view to_string(execution_status s) noexcept;
std::string_view to_string(run_status s) noexcept;
std::string_view to_string(status_event e) noexcept;
std::optional<execution_status> parse_execution_status(std::string_view name) noexcept;
std::optional<run_status> parse_run_status(std::string_view name) noexcept;
std::optional<status_event> parse_status_event(std::string_view name) noexcept;

/// When others are asked as well where a wait takes long (timeout_action::escalate), as it is stored with the wait.
struct escalation {
    time_point at{};
    std::vector<std::string> to;  ///< by the identities they act under
    std::string channel;          ///< where it is shown from then on; empty: where it was
    friend bool operator==(escalation const&, escalation const&) = default;
};

/// What a run waits for, machine-readable and complete: every text for people is made from it.
struct wait_reason {
    // Journaled by name.
    enum class kind : std::uint8_t {
        none, queue, approval, input, tool, external, timer, child, acceptance, rate_limit, intervention, code,
    };
    kind type = kind::none;
    std::string id;      ///< of what is waited for: a waitpoint's id; for `code` one of P41's kinds
    std::string name;    ///< the place of the wait, or the step in question
    std::string detail;  ///< one sentence for a person, where the kind alone does not say it
    time_point since{};
    time_point until = never;  ///< when the wait ends by itself
    time_point sla_at = never;  ///< when somebody should look why it still waits
    std::uint32_t policy = 0;  ///< the version of the wait policies it was registered with; 0: none
    bool resumable = true;     ///< it may go on in another process
    std::vector<escalation> escalations{};  ///< when others are asked as well

    friend bool operator==(wait_reason const&, wait_reason const&) = default;
};

std::string_view to_string(wait_reason::kind k) noexcept;

/// As stored in the run row and in snapshots; `parse_wait_reason` reads it back. "" is no reason.
std::string to_json(wait_reason const& w);
wait_reason parse_wait_reason(std::string_view json);

/// The step machine (mechanism CK-01).
enum class step_status : std::uint8_t { pending, running, completed, failed, skipped };

inline constexpr auto step_transitions = [] {
    using enum step_status;
    struct row {
        step_status from, to;
    };
    return std::to_array<row>({
        {pending, running},
        {running, completed}, {running, failed}, {running, skipped},
        {running, pending},    // taken back: the attempt is made again
        {pending, skipped}, {pending, completed},  // by a person's decision
        {completed, pending},  // its stored output was damaged (P27)
        {failed, pending}, {failed, completed}, {failed, skipped},  // retry, or a decision, after the end
    });
}();

constexpr bool may_become(step_status from, step_status to) noexcept
{
    for (auto const& row : step_transitions)
        if (row.from == from && row.to == to) return true;
    return false;
}

std::string_view to_string(step_status s) noexcept;

}  // namespace flow

#pragma GCC visibility pop
