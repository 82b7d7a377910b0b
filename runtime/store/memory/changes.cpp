#include "runtime/store/memory/changes.hpp"

namespace flow::memory_detail {

namespace {

void remove_wakes(tables& t, std::int64_t run)
{
    for (auto const w : std::set(t.run(run).wakes)) t.remove_wake(run, w);
}

void withdraw_waits(tables& t, std::int64_t run, time_point at)
{
    for (auto const w : t.run(run).waitpoints)
        if (t.waitpoint(w).row.status == waitpoint_status::pending)
            decide(t, w, waitpoint_status::withdrawn, at, run);  // whoever else is blocked by it learns it
    // Another run's waitpoint goes on without this one.
    for (auto const& [w, edge] : std::map(t.run(run).edges))
        if (t.waitpoint(w).row.status == waitpoint_status::pending) t.remove_edge(run, w);
}

}  // namespace

void wake(tables& t, std::int64_t waitpoint, std::int64_t except)
{
    for (auto const run : t.waitpoint(waitpoint).waiters)
        if (run != except) t.add_wake(run, waitpoint);
}

void decide(tables& t, std::int64_t waitpoint, waitpoint_status fate, time_point at, std::int64_t except)
{
    auto row = t.waitpoint(waitpoint).row;
    row.status = fate;
    row.completed_at = at;
    t.set_waitpoint(waitpoint, std::move(row));
    wake(t, waitpoint, except);
}

void clear_up(tables& t, std::int64_t run, time_point at)
{
    withdraw_waits(t, run, at);
    for (auto const& [w, edge] : std::map(t.run(run).edges)) t.remove_edge(run, w);
    remove_wakes(t, run);
    for (auto const q : t.run(run).requests)
        if (t.request_at(q).fate == request_fate::left_to_holder) t.set_request(q, request_fate::ended_before, seq_no::none);
}

seq_no write_plan(tables& t, run_row& row, detail::plan plan, epoch_no epoch, owner_id owner, time_point at)
{
    auto const last = t.run(row.num).last();
    detail::number(plan, row.id, last, epoch);
    for (auto& e : plan.entries) t.append(row.num, std::move(e));
    row.status = plan.change.status;
    row.terminal_reason = plan.change.terminal_reason;
    row.reason = plan.change.reason;
    row.snapshot = plan.snapshot;
    row.changed_at = at;
    row.epoch = epoch;
    row.owner = owner;
    t.set_row(row);
    if (plan.withdraw_waits) withdraw_waits(t, row.num, at);
    // Who replays a queued run looks at its edges: that is what its wake rows asked for.
    if (row.status.execution == execution_status::queued) remove_wakes(t, row.num);
    if (is_terminal(row.status.execution)) clear_up(t, row.num, at);
    return next(last);
}

void take(tables& t, std::int64_t num, detail::plan plan, claim_request const& what, bool over, std::vector<claimed>& taken)
{
    auto row = t.run(num).row;
    write_plan(t, row, std::move(plan), next(row.epoch), what.owner, what.now);
    taken.push_back({std::move(row), over});
}

}  // namespace flow::memory_detail
