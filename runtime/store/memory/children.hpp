// Children and their parents, inside a write.
#pragma once

#include <optional>
#include <span>

#include "runtime/store/memory/tables.hpp"
#include "src/children.hpp"

namespace flow::memory_detail {

/// A new run: its row, its first entries. Nobody has its id or its key.
std::int64_t insert_new_run(tables& t, new_run const& what);

/// The run that has the child's id or key and is not that child.
std::optional<run_row> in_the_way(tables const& t, start_child const& what);

/// Starts it, unless it is there. True: it was not.
bool start_child_of(tables& t, std::int64_t parent, start_child const& what);

/// A child has ended. True: somebody waited for it.
bool complete_end(tables& t, run_id child, detail::run_result result, time_point at);

/// Asks the children whose policy says so, all or some, to cancel. `ended`: the parent has. True: there were such.
bool ask_children(tables& t, std::int64_t parent, std::span<run_id const> only, bool ended, time_point at);

/// Asks something of a run.
request_fate ask_run(tables& t, std::int64_t run, request const& what);

}  // namespace flow::memory_detail
