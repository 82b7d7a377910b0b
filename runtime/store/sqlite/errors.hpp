// SQLite's result codes as flow's.
#pragma once

#include <string>

#include "flow/error.hpp"

namespace flow::sqlite_detail {

errc code_of(int sqlite_code) noexcept;

/// After these nothing may be read or written before the file was closed and opened anew (protocol P8).
bool needs_reopening(int sqlite_code) noexcept;

bool is_busy(int sqlite_code) noexcept;

/// "flow.db: database disk image is malformed (SQLITE 11)"
error error_of(std::string const& file, int sqlite_code, std::string const& message);

}  // namespace flow::sqlite_detail
