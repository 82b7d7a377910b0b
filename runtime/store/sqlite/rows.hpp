// Between rows and values: one place for each table's columns.
#pragma once

#include <optional>
#include <string>

#include "flow/store.hpp"
#include "runtime/store/read_rows.hpp"
#include "runtime/store/sqlite/connection.hpp"

namespace flow::sqlite_detail {

using store_detail::as;
template <class Enum>
std::int64_t number(Enum value) noexcept
{
    return static_cast<std::int64_t>(value);
}

// Column lists in the order the readers expect; `from` what follows them.
std::string select_runs(std::string_view from);
std::string select_runs_and(std::string_view column, std::string_view from);  ///< with that column behind them
std::string select_journal(std::string_view from);
std::string select_waitpoints(std::string_view from);  ///< waitpoints as w, its run as o
std::string select_waitpoints(std::string_view woken_run, std::string_view from);  ///< with that column besides
std::string select_requests(std::string_view from);    ///< requests as q, its run as r

run_row read_run(rows& r);
journal_entry read_entry(rows& r);
waitpoint_row read_waitpoint(rows& r);
std::int64_t waitpoint_num(rows& r);
run_id read_woken_run(rows& r);
request read_request(rows& r);
request_fate read_fate(rows& r);
seq_no read_request_entry(rows& r);

std::optional<run_row> find_run(connection& c, run_id id);
std::optional<run_row> find_run(connection& c, std::int64_t num);
seq_no last_seq(connection& c, std::int64_t run);

/// Appends one entry, and its blob where it has one. The entry comes first (protocol P8).
void insert_entry(connection& c, std::int64_t run, journal_entry const& e);
/// Only where it hashes to what the entry says.
void put_payload_back(connection& c, std::int64_t run, seq_no seq, std::string const& payload);
/// Returns the new row's number.
std::int64_t insert_run(connection& c, run_row const& row);
/// The columns that change with a status, and epoch and owner.
void update_run(connection& c, run_row const& row);
/// Returns the new row's number. A second row under the same id or key is the caller's error.
std::int64_t insert_waitpoint_row(connection& c, std::int64_t run, waitpoint_row const& row);
void insert_request(connection& c, std::int64_t run, request const& what, request_fate fate, seq_no entry);

struct found_waitpoint {
    std::int64_t num;
    waitpoint_row row;
};
std::optional<found_waitpoint> find_waitpoint(connection& c, waitpoint_id id);

}  // namespace flow::sqlite_detail
