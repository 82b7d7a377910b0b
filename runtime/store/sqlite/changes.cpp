#include "runtime/store/sqlite/changes.hpp"

#include "runtime/store/sqlite/rows.hpp"

namespace flow::sqlite_detail {

namespace {

void for_run(connection& c, char const* sql, std::int64_t run) { (c.prepare(sql) << run).run(); }

void withdraw_waits(connection& c, std::int64_t run, time_point at)
{
    // Whoever else is blocked by them learns it.
    (c.prepare("insert into wakes(run, waitpoint) select e.run, e.waitpoint from waitpoints w join edges e on e.waitpoint = w.num"
               " where w.run = ?1 and w.status = 0 and e.run <> ?1")
     << run)
        .run();
    (c.prepare("update waitpoints set status = ?, completed_at = ? where run = ? and status = 0")
     << number(waitpoint_status::withdrawn) << at << run)
        .run();
    // Another run's waitpoint goes on without this one.
    for_run(c, "delete from edges where run = ? and waitpoint in (select num from waitpoints where status = 0)", run);
}

}  // namespace

void wake(connection& c, std::int64_t waitpoint, std::int64_t except)
{
    (c.prepare("insert into wakes(run, waitpoint) select run, waitpoint from edges where waitpoint = ? and run <> ?")
     << waitpoint << except)
        .run();
}

void clear_up(connection& c, std::int64_t run, time_point at)
{
    {
        auto r = c.prepare("select exists (select 1 from edges where run = ?1) or exists (select 1 from waitpoints where run = ?1 and status = 0)"
                           " or exists (select 1 from requests where run = ?1 and fate = 0) or exists (select 1 from wakes where run = ?1)");
        r << run;
        r.step();
        if (r.number(0) == 0) return;  // most runs leave nothing
    }
    withdraw_waits(c, run, at);
    for_run(c, "delete from edges where run = ?", run);
    for_run(c, "delete from wakes where run = ?", run);
    (c.prepare("update requests set fate = ? where run = ? and fate = 0") << number(request_fate::ended_before) << run).run();
}

seq_no write_plan(connection& c, run_row& row, detail::plan plan, epoch_no epoch, owner_id owner, time_point at)
{
    auto const last = last_seq(c, row.num);
    detail::number(plan, row.id, last, epoch);
    for (auto const& e : plan.entries) insert_entry(c, row.num, e);
    row.status = plan.change.status;
    row.terminal_reason = plan.change.terminal_reason;
    row.reason = plan.change.reason;
    row.snapshot = plan.snapshot;
    row.changed_at = at;
    row.epoch = epoch;
    row.owner = owner;
    update_run(c, row);
    if (plan.withdraw_waits) withdraw_waits(c, row.num, at);
    // Who replays a queued run looks at its edges: that is what its wake rows asked for.
    if (row.status.execution == execution_status::queued) for_run(c, "delete from wakes where run = ?", row.num);
    if (is_terminal(row.status.execution)) clear_up(c, row.num, at);
    return next(last);
}

run_row queue_woken(connection& c, std::int64_t run, time_point now)
{
    auto row = *find_run(c, run);
    write_plan(c, row, detail::plan_unblock(row, now), next(row.epoch), owner_id::nobody, now);
    return row;
}

}  // namespace flow::sqlite_detail
