// From what a person types to the one thing meant.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runtime/cli/verbs.hpp"

namespace flow::cli {

/// A whole id, an unambiguous beginning of one, key:KEY, or schedule:NAME. Throws flow::error: unknown_run.
run_id find_run(session const& s, std::string_view text);

/// A token or an intervention, whole, by an unambiguous beginning, or by its run where only one is open. Throws flow::error:
/// unknown_token or unknown_intervention.
waitpoint_row find_waitpoint(session const& s, std::string_view text, waitpoint_purpose purpose);

/// "2h", "3d", "1d12h" before now, a date, or an RFC 3339 instant with any offset. Throws misuse.
time_point read_time(std::string_view option, std::string_view text, time_point now);

/// "90m", "1d12h"; nothing: it is no length.
std::optional<duration> read_length(std::string_view text);

/// A beginning of the run's id, at least eight characters, that names it alone in the store.
std::string short_id(session const& s, run_id id);

}  // namespace flow::cli
