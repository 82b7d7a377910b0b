// What a change of a run's status or of a waitpoint's fate does to the rows around it. Inside a write transaction.
#pragma once

#include <span>
#include <vector>

#include "flow/store.hpp"
#include "runtime/store/postgres/connection.hpp"
#include "src/plans.hpp"

namespace flow::postgres_detail {

/// A change of a run that nobody holds. Its row is locked and was read behind the lock.
struct planned {
    run_row row;   ///< becomes what is stored
    seq_no last;   ///< of its journal, before
    detail::plan plan;
    epoch_no epoch;
    owner_id owner = owner_id::nobody;
};

/// Writes them: entries first, rows, and what follows from both.
void write_plans(connection& c, std::span<planned> all, time_point at);

/// A pending waitpoint, locked, becomes `done`: who is blocked by it is woken.
void complete_waitpoint(connection& c, std::int64_t num, waitpoint_row const& done);

/// One wake row for each run that an edge ties to these waitpoints, in a statement behind the one that decided them (P36).
void wake(connection& c, std::span<std::int64_t const> waitpoints);

}  // namespace flow::postgres_detail
