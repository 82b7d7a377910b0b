#include "runtime/store/memory/children.hpp"

#include <algorithm>
#include <map>

#include "runtime/store/memory/changes.hpp"
#include "src/plans.hpp"

namespace flow::memory_detail {

std::int64_t insert_new_run(tables& t, new_run const& what)
{
    auto [row, plan] = detail::new_row(what);
    row.num = t.add_run(row);
    write_plan(t, row, std::move(plan), row.epoch, owner_id::nobody, what.at);
    return row.num;
}

std::optional<run_row> in_the_way(tables const& t, start_child const& what)
{
    auto num = t.find(what.run.id);
    if (num == 0) num = t.find_key(what.run.tenant, what.run.key);
    if (num == 0 || detail::is_that_child(t.run(num).row, what)) return std::nullopt;
    return t.run(num).row;
}

bool start_child_of(tables& t, std::int64_t parent, start_child const& what)
{
    if (t.find(what.run.id) != 0) return false;
    auto const child = insert_new_run(t, what.run);
    if (what.on_close != close_policy::detached) t.add_waitpoint(parent, detail::end_waitpoint(what));
    t.add_child(parent, child, what.on_close);
    return true;
}

bool complete_end(tables& t, run_id child, detail::run_result result, time_point at)
{
    auto const num = t.find(end_of(child));
    if (num == 0 || t.waitpoint(num).row.status != waitpoint_status::pending) return false;
    auto row = t.waitpoint(num).row;
    row.status = waitpoint_status::completed;
    row.completed_at = at;
    row.output = std::move(result.output);
    row.output_encoding = result.how;
    row.output_is_error = result.is_error;
    row.by = "run " + to_string(child);
    t.set_waitpoint(num, std::move(row));
    return wake(t, num);
}

bool ask_children(tables& t, std::int64_t parent, std::span<run_id const> only, bool ended, time_point at)
{
    bool others = false;
    for (auto const& [num, policy] : std::map(t.run(parent).children)) {
        auto const& row = t.run(num).row;
        if (!detail::closes(policy, ended) || is_terminal(row.status.run)) continue;
        if (!only.empty() && std::find(only.begin(), only.end(), row.id) == only.end()) continue;
        auto const ask = detail::close_request(row.id, t.run(parent).row.id, ended, at);
        if (t.find(ask.id) != 0) continue;
        ask_run(t, num, ask);
        others = true;
    }
    return others;
}

request_fate ask_run(tables& t, std::int64_t run, request const& what)
{
    auto row = t.run(run).row;
    auto plan = detail::plan_request(row, what);
    auto entry = seq_no::none;
    if (plan.plan) entry = write_plan(t, row, std::move(*plan.plan), detail::epoch_for_request(row), owner_id::nobody, what.at);
    if (plan.plan || plan.fate == request_fate::left_to_holder) t.add_request(run, what, plan.fate, entry);
    return plan.fate;
}

}  // namespace flow::memory_detail
