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

/// Writes them: entries first, rows, and what follows from both, but for their children.
void write_plans(connection& c, std::span<planned> all, time_point at);

/// A pending waitpoint, locked, becomes `done`: who is blocked by it is woken.
void complete_waitpoint(connection& c, std::int64_t num, waitpoint_row const& done);

/// Of the statement that locks these runs, after `num =`: they, and the children of some of them, who may be asked to cancel with them. An
/// array made first: `or num in (select …)` would read the whole table.
template <class Range>
std::string any_with_children(Range const& runs, std::string const& parents)
{
    return "any('{" + number_list(runs) + "}'::bigint[] || array(select child from children where parent in (" + parents + ")))";
}

/// The children of these runs that are to be asked to cancel, because the runs are to end, or a cancel of theirs is taken: what becomes of
/// each. `only`: of these alone.
struct asked_child {
    request what;
    std::int64_t run = 0;
    request_fate fate{};
    seq_no entry = seq_no::none;
};
struct closing {
    std::vector<planned> plans;  ///< of children that nobody holds: for write_plans
    std::vector<asked_child> requests;
};
struct closed_run {
    std::int64_t num = 0;
    bool ends = false;
    std::vector<run_id> only{};
};
closing plan_closing(connection& c, std::span<closed_run const> parents, time_point at);
/// Writes the requests, after the plans.
void write_asked(connection& c, std::span<asked_child const> all);

/// The same for runs that nobody holds: adds the plans of their children, and returns what is to be asked.
std::vector<asked_child> add_children(connection& c, std::vector<planned>& plans, time_point at);

/// One wake row for each run that an edge ties to these waitpoints, in a statement behind the one that decided them (P36).
void wake(connection& c, std::span<std::int64_t const> waitpoints);

}  // namespace flow::postgres_detail
