#include "runtime/store/sqlite/changes.hpp"

#include "runtime/store/sqlite/children.hpp"
#include "runtime/store/sqlite/rows.hpp"
#include "src/children.hpp"

namespace flow::sqlite_detail {

namespace {

void for_run(connection& c, char const* sql, std::int64_t run) { (c.prepare(sql) << run).run(); }

static_assert(static_cast<int>(waitpoint_type::run) == 2);

/// `ends`: the run does, else it is to clean up, and may still wait for children.
bool withdraw_waits(connection& c, std::int64_t run, bool ends, time_point at)
{
    std::int64_t const kept = ends ? -1 : number(waitpoint_type::run);
    // Whoever else is blocked by them learns it.
    (c.prepare("insert into wakes(run, waitpoint) select e.run, e.waitpoint from waitpoints w join edges e on e.waitpoint = w.num"
               " where w.run = ?1 and w.status = 0 and w.type <> ?2 and e.run <> ?1")
     << run << kept)
        .run();
    bool const others = c.changes() > 0;
    (c.prepare("update waitpoints set status = ?, completed_at = ? where run = ? and status = 0 and type <> ?")
     << number(waitpoint_status::withdrawn) << at << run << kept)
        .run();
    // Another run's waitpoint goes on without this one.
    (c.prepare("delete from edges where run = ? and waitpoint in (select num from waitpoints where status = 0 and type <> ?)") << run << kept).run();
    return others;
}

}  // namespace

bool wake(connection& c, std::int64_t waitpoint, std::int64_t except)
{
    (c.prepare("insert into wakes(run, waitpoint) select run, waitpoint from edges where waitpoint = ? and run <> ?")
     << waitpoint << except)
        .run();
    return c.changes() > 0;
}

bool end_run(connection& c, run_row const& row, std::span<journal_entry const> last, time_point at)
{
    bool others = row.parent && complete_end(c, row, detail::result_of_run(last, row), at);
    auto const run = row.num;
    {
        auto r = c.prepare("select exists (select 1 from edges where run = ?1) or exists (select 1 from waitpoints where run = ?1 and status = 0)"
                           " or exists (select 1 from requests where run = ?1 and fate = 0) or exists (select 1 from wakes where run = ?1)"
                           " or exists (select 1 from children where parent = ?1)");
        r << run;
        r.step();
        if (r.number(0) == 0) return others;  // most runs leave nothing
    }
    others = withdraw_waits(c, run, true, at) || others;
    for_run(c, "delete from edges where run = ?", run);
    for_run(c, "delete from wakes where run = ?", run);
    (c.prepare("update requests set fate = ? where run = ? and fate = 0") << number(request_fate::ended_before) << run).run();
    return ask_children(c, row, {}, true, at) || others;
}

seq_no write_plan(connection& c, run_row& row, detail::plan plan, epoch_no epoch, owner_id owner, time_point at)
{
    auto const last = last_seq(c, row.num);
    detail::number(plan, row.id, last, epoch);
    for (auto const& e : plan.entries) insert_entry(c, row.num, e);
    detail::change_row(row, plan, epoch, owner, at);
    update_run(c, row);
    if (plan.withdraw_waits) withdraw_waits(c, row.num, false, at);
    // Who replays a queued run looks at its edges: that is what its wake rows asked for.
    if (row.status.execution == execution_status::queued) for_run(c, "delete from wakes where run = ?", row.num);
    if (is_terminal(row.status.execution)) end_run(c, row, plan.entries, at);
    else if (plan.withdraw_waits) ask_children(c, row, {}, false, at);  // it was cancelled, and so are they
    return next(last);
}

run_row queue_woken(connection& c, std::int64_t run, time_point due, time_point now)
{
    auto row = *find_run(c, run);
    write_plan(c, row, detail::plan_unblock(row, due, now), next(row.epoch), owner_id::nobody, now);
    return row;
}

}  // namespace flow::sqlite_detail
