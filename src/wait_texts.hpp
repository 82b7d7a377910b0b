// Every wait in words: what a person reads, what they do about it, and whom it concerns when it takes too long. One table; nothing else
// makes such sentences (mechanisms AT-18, AT-53, AT-54).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "flow/rows.hpp"
#include "flow/status.hpp"

namespace flow::detail {

/// Whom a wait concerns that takes longer than it should.
enum class alert_route : std::uint8_t { nobody, process_owner, tool_owner, platform_duty, workflow_owner };
std::string_view name_of(alert_route r) noexcept;

/// {name}, {id}, {until}, {detail} are the reason's; {run}, {workflow}, {version} the run's.
struct wait_words {
    wait_reason::kind type;
    bool event;               ///< of `external`: an event, not a token
    std::string_view brief;   ///< for a narrow column
    std::string_view doing;   ///< a sentence, where the reason brings none of its own
    std::string_view action;  ///< what lets the run go on
    alert_route late;
};

inline constexpr auto wait_table = [] {
    using enum wait_reason::kind;
    using enum alert_route;
    return std::to_array<wait_words>({
        {none, false, "", "It waits at {name}.", "", nobody},
        {queue, false, "an engine", "It stands in the queue: an engine that has registered \"{workflow}\" version {version} will take it.",
         "an engine that has registered \"{workflow}\" on this store", platform_duty},
        {approval, false, "approval {name}", "It waits at {name} for people to decide.", "flow approve {id}, or flow reject {id}", process_owner},
        {input, false, "input {name}", "It waits at {name} for what people know.", "flow approve {id}, or flow reject {id}", process_owner},
        {tool, false, "tool {name}", "It waits at {name} for a tool.", "flow complete {id} JSON", tool_owner},
        {external, false, "token {name}", "It waits for somebody to complete {name}.", "flow complete {id} JSON", workflow_owner},
        {external, true, "event {name}", "It waits at {name} for an event.", "flow send {name} JSON", workflow_owner},
        {timer, false, "until {until}", "It sleeps at {name} until {until}.", "the time {until}", nobody},
        {child, false, "child {name}", "It waits for the end of run {name}.", "the end of run {name}", nobody},
        {acceptance, false, "acceptance {name}", "It waits at {name} for the result to be accepted.", "flow approve {id}, or flow reject {id}",
         process_owner},
        {rate_limit, false, "a limit at {name}", "It waits at {name} until the limit allows more.", "the time {until}", platform_duty},
        {intervention, false, "a decision on {name}", "It waits for a decision on {name}.", "flow decide {id}", process_owner},
        {code, false, "its cause to be removed: {id}", "It is held: {detail}", "flow resume {run}, once its cause is gone", platform_duty},
    });
}();

wait_words const& words_of(wait_reason::kind k, bool event = false) noexcept;
/// Past its SLA, or past the first instant when others are asked as well.
bool is_late(wait_reason const& w, time_point now) noexcept;
/// A text of the table with its names filled in. `row`: null where none of its names occur. `time`: how instants are printed.
std::string filled(std::string_view text, wait_reason const& w, run_row const* row, std::string (*time)(time_point));

}  // namespace flow::detail
