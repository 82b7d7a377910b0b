#include "runtime/store/postgres/changes.hpp"

#include <algorithm>

#include "runtime/store/postgres/rows.hpp"

namespace flow::postgres_detail {

namespace {

/// The runs' pending waitpoints are withdrawn; whoever else is blocked by them learns it. Edges to what is decided stay.
void withdraw_waits(connection& c, std::string const& runs, time_point at)
{
    auto const nums = number_list(numbers(c.simple("select num from waitpoints where run in (" + runs +
                                                   ") and status = 0 order by num for no key update")));
    if (!nums.empty()) {
        c.simple("update waitpoints set status = " + std::to_string(number(waitpoint_status::withdrawn)) +
                 ", completed_at = " + std::to_string(at.time_since_epoch().count()) + " where num in (" + nums +
                 "); insert into wakes(run, waitpoint) select e.run, e.waitpoint from edges e join waitpoints w on w.num = e.waitpoint"
                 " where w.num in (" + nums + ") and e.run <> w.run");
    }
    // Another run's waitpoint goes on without these.
    c.simple("delete from edges e using waitpoints w where e.run in (" + runs + ") and w.num = e.waitpoint and w.status = 0");
}

}  // namespace

void wake(connection& c, std::span<std::int64_t const> waitpoints)
{
    if (!waitpoints.empty())
        c.simple("insert into wakes(run, waitpoint) select run, waitpoint from edges where waitpoint in (" + number_list(waitpoints) + ")");
}

void write_plans(connection& c, std::span<planned> all, time_point at)
{
    if (all.empty()) return;
    std::vector<run_entry> entries;
    std::vector<run_row> changed;
    std::vector<std::int64_t> withdrawn, queued, ended;
    for (auto& p : all) {
        detail::number(p.plan, p.row.id, p.last, p.epoch);
        for (auto const& e : p.plan.entries) entries.push_back({p.row.num, &e});
        p.row.status = p.plan.change.status;
        p.row.terminal_reason = p.plan.change.terminal_reason;
        p.row.reason = p.plan.change.reason;
        p.row.snapshot = p.plan.snapshot;
        p.row.changed_at = at;
        p.row.epoch = p.epoch;
        p.row.owner = p.owner;
        changed.push_back(p.row);
        if (is_terminal(p.row.status.execution)) ended.push_back(p.row.num);
        if (p.plan.withdraw_waits || is_terminal(p.row.status.execution)) withdrawn.push_back(p.row.num);
        if (p.row.status.execution == execution_status::queued) queued.push_back(p.row.num);
    }
    insert_entries(c, entries);
    update_runs(c, changed);
    if (!withdrawn.empty()) withdraw_waits(c, number_list(withdrawn), at);
    // Who replays a queued run looks at its edges: that is what its wake rows asked for.
    if (!queued.empty()) c.simple("delete from wakes where run in (" + number_list(queued) + ")");
    if (ended.empty()) return;
    auto const runs = number_list(ended);
    c.simple("delete from edges where run in (" + runs + "); delete from wakes where run in (" + runs + "); update requests set fate = " +
             std::to_string(number(request_fate::ended_before)) + " where run in (" + runs + ") and fate = 0");
}

}  // namespace flow::postgres_detail
