#include "runtime/store/memory/changes.hpp"

#include "runtime/store/memory/children.hpp"

namespace flow::memory_detail {

namespace {

void remove_wakes(tables& t, std::int64_t run)
{
    for (auto const w : std::set(t.run(run).wakes)) t.remove_wake(run, w);
}

/// `ends`: the run does, else it is to clean up, and may still wait for children.
bool withdraw_waits(tables& t, std::int64_t run, bool ends, time_point at)
{
    auto const goes = [&](std::int64_t w) {
        auto const& row = t.waitpoint(w).row;
        return row.status == waitpoint_status::pending && (ends || row.type != waitpoint_type::run);
    };
    bool others = false;
    for (auto const w : t.run(run).waitpoints)
        if (goes(w)) others = decide(t, w, waitpoint_status::withdrawn, at, run) || others;  // whoever else is blocked by it learns it
    // Another run's waitpoint goes on without this one.
    for (auto const& [w, edge] : std::map(t.run(run).edges))
        if (goes(w)) t.remove_edge(run, w);
    return others;
}

}  // namespace

bool wake(tables& t, std::int64_t waitpoint, std::int64_t except)
{
    bool any = false;
    for (auto const run : t.waitpoint(waitpoint).waiters) {
        if (run == except) continue;
        t.add_wake(run, waitpoint);
        any = true;
    }
    return any;
}

bool decide(tables& t, std::int64_t waitpoint, waitpoint_status fate, time_point at, std::int64_t except)
{
    auto row = t.waitpoint(waitpoint).row;
    row.status = fate;
    row.completed_at = at;
    t.set_waitpoint(waitpoint, std::move(row));
    return wake(t, waitpoint, except);
}

bool end_run(tables& t, std::int64_t run, std::span<journal_entry const> last, time_point at)
{
    auto const& row = t.run(run).row;
    bool others = row.parent && complete_end(t, row.id, detail::result_of_run(last, row), at);
    others = withdraw_waits(t, run, true, at) || others;
    for (auto const& [w, edge] : std::map(t.run(run).edges)) t.remove_edge(run, w);
    remove_wakes(t, run);
    for (auto const q : t.run(run).requests)
        if (t.request_at(q).fate == request_fate::left_to_holder) t.set_request(q, request_fate::ended_before, seq_no::none);
    return ask_children(t, run, {}, true, at) || others;
}

seq_no write_plan(tables& t, run_row& row, detail::plan plan, epoch_no epoch, owner_id owner, time_point at)
{
    auto const last = t.run(row.num).last();
    detail::number(plan, row.id, last, epoch);
    for (auto const& e : plan.entries) t.append(row.num, e);
    detail::change_row(row, plan, epoch, owner, at);
    t.set_row(row);
    if (plan.withdraw_waits) withdraw_waits(t, row.num, false, at);
    // Who replays a queued run looks at its edges: that is what its wake rows asked for.
    if (row.status.execution == execution_status::queued) remove_wakes(t, row.num);
    if (is_terminal(row.status.execution)) end_run(t, row.num, plan.entries, at);
    else if (plan.withdraw_waits) ask_children(t, row.num, {}, false, at);  // it was cancelled, and so are they
    return next(last);
}

void take(tables& t, std::int64_t num, detail::plan plan, claim_request const& what, bool over, std::vector<claimed>& taken)
{
    auto row = t.run(num).row;
    write_plan(t, row, std::move(plan), next(row.epoch), what.owner, what.now);
    taken.push_back({std::move(row), over});
}

}  // namespace flow::memory_detail
