// Names: what is one, how it stands in a place, how any text stands in a log (protocol P1).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace flow::detail {

/// Throws flow::error(bad_name), saying what is wrong: a name is 1 to 256 bytes of UTF-8 without control characters.
void check_name(std::string_view name);

/// Of a workflow of the library's own.
inline bool is_internal(std::string_view workflow) noexcept { return workflow.starts_with("flow."); }

/// Appends a name as a place holds it: bytes other than letters, digits, `_`, `-` and those from 0x80 on percent-encoded.
void append_place_name(std::string& out, std::string_view name);

/// `text` for a log or a message: one line of UTF-8 of at most `max` bytes, control characters and what is no UTF-8 escaped,
/// `…` where it was cut.
std::string printable(std::string_view text, std::size_t max);

/// As a shell must be given it.
std::string shell_word(std::string_view text);

}  // namespace flow::detail
