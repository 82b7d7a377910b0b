// What a change of a run's status or of a waitpoint's fate does to the rows around it. Inside a transaction.
#pragma once

#include <span>
#include <vector>

#include "runtime/store/memory/tables.hpp"
#include "src/plans.hpp"

namespace flow::memory_detail {

/// Writes a plan for a run that nobody holds: its entries, its row with this epoch and owner, what follows from both.
/// `row` becomes what is stored. Returns the seq of the plan's first entry.
seq_no write_plan(tables& t, run_row& row, detail::plan plan, epoch_no epoch, owner_id owner, time_point at);

/// Decides a waitpoint and wakes each run that an edge ties to it, but for `except`.
bool decide(tables& t, std::int64_t waitpoint, waitpoint_status fate, time_point at, std::int64_t except = 0);

/// One wake row for each run that an edge ties to this waitpoint, but for `except`.
bool wake(tables& t, std::int64_t waitpoint, std::int64_t except = 0);

/// A pending waitpoint becomes `done`, and who is blocked by it is woken.
void end_wait(tables& t, std::int64_t num, waitpoint_row done);

/// A pending waitpoint becomes `done`: who is blocked by it is woken, and those that stand still for it and nobody holds are queued.
/// Their rows then.
std::vector<run_row> complete_waitpoint(tables& t, std::int64_t num, waitpoint_row done);

/// The run is the owner's from now on.
void take(tables& t, std::int64_t num, detail::plan plan, claim_request const& what, bool over, std::vector<claimed>& taken);

/// What the end of a run means for others, and what it leaves of its waits and its mailbox (run_change). `last`: the entries that end it.
/// True: other runs were woken or asked.
bool end_run(tables& t, std::int64_t run, std::span<journal_entry const> last, time_point at);

}  // namespace flow::memory_detail
