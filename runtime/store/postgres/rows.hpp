// Between rows and values: one place for each table's columns.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "flow/store.hpp"
#include "runtime/store/read_rows.hpp"
#include "runtime/store/postgres/connection.hpp"

namespace flow::postgres_detail {

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
std::string select_journal_and_run(std::string_view from);  ///< with the run's number besides
std::string select_waitpoints(std::string_view from);  ///< waitpoints as w, its run as o
std::string select_waitpoints(std::string_view woken_run, std::string_view from);  ///< with that column besides
std::string select_requests(std::string_view from);    ///< requests as q, its run as r

/// Behind the columns of select_runs: the run's last seq.
inline constexpr int last_seq_column = 22;
inline constexpr std::string_view last_seq_of_run = ", coalesce((select max(j.seq) from journal j where j.run = r.num), 0)";
/// select_runs with that column.
std::string select_runs_and_last(std::string_view from);

run_row read_run(rows& r);
journal_entry read_entry(rows& r);
std::int64_t read_entry_run(rows& r);
waitpoint_row read_waitpoint(rows& r);
std::int64_t waitpoint_num(rows& r);
run_id read_woken_run(rows& r);
request read_request(rows& r);
request_fate read_fate(rows& r);
seq_no read_request_entry(rows& r);

template <class Value, class Read>
std::vector<Value> all(rows r, Read const& read)
{
    std::vector<Value> out;
    out.reserve(r.size());
    while (r.step()) out.push_back(read(r));
    return out;
}
std::vector<std::int64_t> numbers(rows r);

std::optional<run_row> find_run(connection& c, run_id id);
std::optional<run_row> find_key(connection& c, std::string_view tenant, std::string_view key);

/// What the unique index on start keys holds: no key is too long for it. None for no key.
digest key_hash(std::string_view tenant, std::string_view key);

struct run_entry {
    std::int64_t run;
    journal_entry const* entry;
};
/// Appends them in this order, and their blobs. Before any other row of their groups (protocol P8).
void insert_entries(connection& c, std::span<run_entry const> entries);
/// Only where it hashes to what the entry says.
void put_payload_back(connection& c, std::int64_t run, seq_no seq, std::string const& payload);
/// Returns the new rows' numbers; without those whose id or key is there.
std::map<run_id, std::int64_t> insert_runs(connection& c, std::span<run_row const> rows);
/// The columns that change with a status, and epoch and owner.
void update_runs(connection& c, std::span<run_row const> rows);

struct run_waitpoint {
    std::int64_t run;
    waitpoint_row const* row;
};
/// A second row under the same id or key is the caller's error.
void insert_waitpoints(connection& c, std::span<run_waitpoint const> rows);
void insert_request(connection& c, std::int64_t run, request const& what, request_fate fate, seq_no entry);

struct found_waitpoint {
    std::int64_t num;
    waitpoint_row row;
};
std::optional<found_waitpoint> find_waitpoint(connection& c, waitpoint_id id);

}  // namespace flow::postgres_detail
