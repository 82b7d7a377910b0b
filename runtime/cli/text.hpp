// Words for people: escaped text, lengths of time, instants, what to type.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "flow/status.hpp"
#include "flow/time.hpp"
#include "src/names.hpp"

namespace flow::cli {

/// Stored text as one line without terminal codes, at most about `max` bytes. Backslashes stay as they are, so that JSON can be
/// copied and what was escaped before is not escaped twice.
std::string shown(std::string_view text, std::size_t max = 4096);

/// How many columns a terminal needs for UTF-8 text that is `shown`.
std::size_t columns(std::string_view text);
/// At most so many columns of it, `…` where it was cut.
std::string cut(std::string_view text, std::size_t width);

/// "3 min 12 s"; "0 s" for what lies in the future.
std::string length_text(duration d);
/// "2026-11-30 09:10:34", UTC.
std::string time_text(time_point t);
/// "3 steps", "1 step".
std::string counted(std::size_t n, std::string_view thing);

using flow::detail::shell_word;

/// "token approve#0", "until 2026-11-30 09:10:34": for the narrow column of a table.
std::string wait_text(wait_reason const& w);

}  // namespace flow::cli
