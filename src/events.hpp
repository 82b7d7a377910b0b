// What becomes of an event: decided here for every store, written by them under their locks.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "flow/events.hpp"
#include "flow/rows.hpp"

#pragma GCC visibility push(default)

namespace flow::detail {

/// Is a pending wait ended by such a value? A wait names the shape it wants (P53).
bool fits(waitpoint_row const& wait, std::string_view payload);

/// The wait, ended by this event.
waitpoint_row ended_by(waitpoint_row wait, event const& e, time_point at);

/// The event, for this run alone.
event told_to(event e, run_id run);

/// What a store finds before it writes an event.
struct inbox_facts {
    std::optional<digest> told_before;      ///< SHA-256 of the value under its id
    std::optional<run_status> addressee{};  ///< of an event for one run; nothing: there is no such run
    bool is_awaited = false, fits = false;  ///< by a wait that is pending; by one that wants its shape
    std::size_t kept = 0;                   ///< of its topic, for nobody yet
};
delivery_answer judge(event const& e, inbox_facts const& f);

/// Is it written, with this answer?
constexpr bool is_written(event const& e, delivery_answer a) noexcept
{
    using enum delivery_answer;
    return a == matched || a == kept || (a == unfit && !e.only_if_awaited);
}

/// What somebody types to end this wait for an event.
std::string send_command(waitpoint_row const& wait);

/// Throws flow::error(bad_argument) for one that is empty or longer than 1024 bytes; `who` gave it.
void check_correlation(std::string_view correlation, std::string const& who);

/// Of the first event of a run that is started with it: otherwise the run is not started.
constexpr bool stands_with_its_run(delivery_answer a) noexcept
{
    using enum delivery_answer;
    return a == matched || a == kept || a == unfit || a == duplicate;
}

/// The id of an event that its sender names by a text of his own.
event_id id_of_event(std::string_view topic, std::string_view correlation, std::string_view name);

}  // namespace flow::detail

#pragma GCC visibility pop
