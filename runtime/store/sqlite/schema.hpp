// The tables, and what a file must be to be ours. docs/reference/journal_format.md says what the columns hold.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "flow/ids.hpp"
#include "runtime/store/sqlite/connection.hpp"

namespace flow::sqlite_detail {

/// PRAGMA application_id: "flow" in ASCII.
inline constexpr std::int32_t application_id = 0x666c6f77;
/// PRAGMA user_version.
inline constexpr std::int32_t schema_version = 3;

/// Looks at the file before SQLite reads it. Throws refusal (store_foreign, store_newer) for one that is plainly not ours;
/// an empty file passes.
void check_header(connection& c, std::string const& file);

/// Throws refusal (store_foreign, store_newer) unless the file has our tables; also for an empty one. Throws failure.
void check_schema(connection& c, std::string const& file);

/// Makes the tables if there are none, in one transaction that one of many processes wins and the others wait for.
/// `make_key` is called inside it and returns the store key's fingerprint. Throws failure, refusal.
void prepare_schema(connection& c, std::string const& file, digest (*make_key)(std::string const& key_file),
                    std::string const& key_file, std::chrono::steady_clock::time_point deadline);

}  // namespace flow::sqlite_detail
