// Sentences for people about steps in doubt, and the rows that carry them: made here and nowhere else.
#pragma once

#include <string>
#include <string_view>

#include "flow/retry.hpp"
#include "flow/status.hpp"
#include "flow/rows.hpp"
#include "src/payloads.hpp"

namespace flow::detail::texts {

// What an intervention about the run as a whole names as its step.
inline constexpr std::string_view the_run = "the run", the_version = "the version";

std::string timed_out(std::string const& place, time_span limit);
/// Of flow::poll_until.
std::string looks_again(std::string const& place, time_point at);
std::string never_came(std::string const& place, std::string_view last_failure);
/// Of flow::begin_step.
std::string not_completed(std::string const& place);
std::string silent(std::string const& place, duration silence);
std::string too_large(std::string const& place, std::size_t bytes, std::size_t limit);
std::string in_doubt(std::string const& place, std::string const& why);
std::string unstorable(std::string const& place);
std::string abandoned(std::string const& place);
std::string damaged(std::string const& place, std::string const& seq);
std::string differs(std::string const& place);

/// The waitpoint only a person's decision completes.
waitpoint_row intervention_waitpoint(run_id run, intervention_payload const& p, std::string const& place, time_point now);
wait_reason asks(intervention_payload const& p, std::string const& place, time_point since);

}  // namespace flow::detail::texts
