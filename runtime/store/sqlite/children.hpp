// Children and their parents, inside a write transaction.
#pragma once

#include <optional>
#include <span>

#include "flow/store.hpp"
#include "runtime/store/sqlite/connection.hpp"
#include "src/children.hpp"

namespace flow::sqlite_detail {

/// A new run: its row, its first entries. Nobody has its id or its key.
run_row insert_new_run(connection& c, new_run const& what);

/// The run that has this key; nothing for no key.
std::optional<run_row> find_key(connection& c, std::string_view tenant, std::string_view key);

/// The run that has the child's id or key and is not that child.
std::optional<run_row> in_the_way(connection& c, start_child const& what);

/// Starts it, unless it is there. True: it was not.
bool start_child_of(connection& c, std::int64_t parent, start_child const& what);

/// A child has ended. True: somebody waited for it.
bool complete_end(connection& c, run_row const& child, detail::run_result const& result, time_point at);

/// Asks the children whose policy says so, all or some, to cancel. `ended`: the parent has. True: there were such.
bool ask_children(connection& c, run_row const& parent, std::span<run_id const> only, bool ended, time_point at);

/// Asks something of a run, whose row becomes what is stored.
request_fate ask_run(connection& c, run_row& row, request const& what);

/// What became of a request; nothing: there is none.
std::optional<request_fate> fate_of(connection& c, request_id id);

}  // namespace flow::sqlite_detail
