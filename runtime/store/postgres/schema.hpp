// The tables; docs/reference/journal_format.md says what the columns hold. The same as SQLite's, in PostgreSQL's types.
#pragma once

#include "flow/postgres.hpp"
#include "runtime/store/postgres/connection.hpp"

namespace flow::postgres_detail {

/// In `meta`.
inline constexpr std::int64_t schema_version = 3;

/// Rows of `pulse`, whose sum is the change counter. Each connection raises one of them in its own transaction, so the sum moves
/// with each commit and with nothing else, and commits do not wait for each other over it (but for two connections on one row).
inline constexpr int counter_slots = 64;

/// Throws flow::error(usage) for what cannot be a schema's name unquoted.
void check_schema_name(std::string const& schema);

/// Makes schema and tables if there are none, in one transaction that one of many processes wins and the others wait for.
/// `store`: its name, for messages. Throws failure, refusal, flow::error(store_key).
void prepare_schema(connection& c, postgres_options const& options, std::string const& store);

}  // namespace flow::postgres_detail
