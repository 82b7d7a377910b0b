// What a change of a run's status or of a waitpoint's fate does to the rows around it. Inside a write transaction.
#pragma once

#include <span>
#include <vector>

#include "flow/store.hpp"
#include "runtime/store/sqlite/connection.hpp"
#include "src/plans.hpp"

namespace flow::sqlite_detail {

/// Writes a plan for a run that nobody holds: its entries, its row with this epoch and owner, what follows from both.
/// `row` becomes what is stored. Returns the seq of the plan's first entry.
seq_no write_plan(connection& c, run_row& row, detail::plan plan, epoch_no epoch, owner_id owner, time_point at);

/// A run whose wait is over since `due`, and that nobody holds, is queued. Its row then.
run_row queue_woken(connection& c, std::int64_t run, time_point due, time_point now);

/// One wake row for each run that an edge ties to this waitpoint, but for `except`. True: there is one.
bool wake(connection& c, std::int64_t waitpoint, std::int64_t except = 0);

/// A pending waitpoint becomes `done`, and who is blocked by it is woken.
void end_wait(connection& c, std::int64_t num, waitpoint_row const& done);

/// A pending waitpoint becomes `done`: who is blocked by it is woken, and those that stand still for it and nobody holds are queued.
/// Their rows then; the rest of very many is left to scans.
std::vector<run_row> complete_waitpoint(connection& c, std::int64_t num, waitpoint_row const& done);

/// What the end of a run means for others, and what it leaves of its waits and its mailbox (run_change). `row`: as it is from now on; `last`:
/// the entries that end it. True: other runs were woken or asked.
bool end_run(connection& c, run_row const& row, std::span<journal_entry const> last, time_point at);

}  // namespace flow::sqlite_detail
