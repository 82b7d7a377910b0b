#include "runtime/store/postgres/changes.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "runtime/store/postgres/rows.hpp"
#include "src/children.hpp"

namespace flow::postgres_detail {

namespace {

struct end_of_run {
    waitpoint_id waitpoint;
    detail::run_result result;
    std::string by;
};

static_assert(static_cast<int>(waitpoint_type::run) == 2 && static_cast<int>(execution_status::finished) == 7);

/// The waitpoints of children's ends, and those of runs that end or are cancelled: locked in one pass, decided, told. Who is cancelled may
/// still wait for children.
void decide_waits(connection& c, std::vector<end_of_run> const& ends, std::vector<std::int64_t> const& ended,
                  std::vector<std::int64_t> const& cancelled, time_point at)
{
    std::string which;
    auto const also = [&](std::string const& part) { which += (which.empty() ? "" : " or ") + part; };
    std::string ids;
    for (auto const& e : ends) ids += (ids.empty() ? "'" : ",'") + to_string(e.waitpoint) + "'";
    if (!ids.empty()) also("id in (" + ids + ")");
    if (!ended.empty()) also("run in (" + number_list(ended) + ")");
    if (!cancelled.empty()) also("(run in (" + number_list(cancelled) + ") and type <> 2)");
    if (which.empty()) return;
    std::set<std::int64_t> nums;
    std::map<waitpoint_id, std::int64_t> found;
    for (auto r = c.simple("select num, id from waitpoints where (" + which + ") and status = 0 order by num for no key update"); r.step();) {
        nums.insert(r.number(0));
        found.emplace(waitpoint_id{r.id(1)}, r.number(0));
    }
    std::vector<std::int64_t> completed;
    for (auto const& e : ends) {
        auto const at_num = found.find(e.waitpoint);
        if (at_num == found.end()) continue;
        c.run("update waitpoints set status = $1, completed_at = $2, output = $3, output_encoding = $4, output_is_error = $5, by = $6 where num = $7",
              params{} << number(waitpoint_status::completed) << at << bytes{e.result.output} << number(e.result.how)
                       << std::int64_t{e.result.is_error} << std::string_view(e.by) << at_num->second);
        completed.push_back(at_num->second);
        nums.erase(at_num->second);
    }
    wake(c, completed);
    if (!nums.empty()) {
        auto const all = number_list(nums);
        c.simple("update waitpoints set status = " + std::to_string(number(waitpoint_status::withdrawn)) +
                 ", completed_at = " + std::to_string(at.time_since_epoch().count()) + " where num in (" + all +
                 "); insert into wakes(run, waitpoint) select e.run, e.waitpoint from edges e join waitpoints w on w.num = e.waitpoint"
                 " where w.num in (" + all + ") and e.run <> w.run");
    }
    // Another run's waitpoint goes on without these.
    auto const leave = [&](std::vector<std::int64_t> const& runs, char const* what) {
        if (!runs.empty())
            c.simple("delete from edges e using waitpoints w where e.run in (" + number_list(runs) + ") and w.num = e.waitpoint and w.status = 0" + what);
    };
    leave(ended, "");
    leave(cancelled, " and w.type <> 2");
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
    std::vector<std::int64_t> cancelled, queued, ended;
    std::vector<end_of_run> ends;
    for (auto& p : all) {
        detail::number(p.plan, p.row.id, p.last, p.epoch);
        for (auto const& e : p.plan.entries) entries.push_back({p.row.num, &e});
        detail::change_row(p.row, p.plan, p.epoch, p.owner, at);
        changed.push_back(p.row);
        if (is_terminal(p.row.status.execution)) {
            ended.push_back(p.row.num);
            if (p.row.parent) ends.push_back({end_of(p.row.id), detail::result_of_run(p.plan.entries, p.row), "run " + to_string(p.row.id)});
        } else if (p.plan.withdraw_waits) {
            cancelled.push_back(p.row.num);
        }
        if (p.row.status.execution == execution_status::queued) queued.push_back(p.row.num);
    }
    insert_entries(c, entries);
    update_runs(c, changed);
    decide_waits(c, ends, ended, cancelled, at);
    // Who replays a queued run looks at its edges: that is what its wake rows asked for.
    if (!queued.empty()) c.simple("delete from wakes where run in (" + number_list(queued) + ")");
    if (ended.empty()) return;
    auto const runs = number_list(ended);
    c.simple("delete from edges where run in (" + runs + "); delete from wakes where run in (" + runs + "); update requests set fate = " +
             std::to_string(number(request_fate::ended_before)) + " where run in (" + runs + ") and fate = 0");
}

closing plan_closing(connection& c, std::span<closed_run const> parents, time_point at)
{
    closing out;
    if (parents.empty()) return out;
    std::vector<std::int64_t> nums;
    for (auto const& p : parents) nums.push_back(p.num);
    // Those that were asked before are not asked again.
    auto r = c.simple("select q.*, k.on_close, k.parent, p.id from (" + select_runs_and_last("runs r where r.execution <> 7") +
                      ") q join children k on k.child = q.num join runs p on p.num = k.parent where k.parent in (" + number_list(nums) + ") order by q.num");
    while (r.step()) {
        auto const row = read_run(r);
        auto const last = as<seq_no>(r.number(last_seq_column));
        auto const policy = as<close_policy>(r.number(last_seq_column + 1));
        auto const num = r.number(last_seq_column + 2);
        run_id const parent{r.id(last_seq_column + 3)};
        auto const by = std::find_if(parents.begin(), parents.end(), [&](auto const& p) { return p.num == num; });
        if (!detail::closes(policy, by->ends)) continue;
        if (!by->only.empty() && std::find(by->only.begin(), by->only.end(), row.id) == by->only.end()) continue;
        auto ask = detail::close_request(row.id, parent, by->ends, at);
        if (c.run("select 1 from requests where id = $1", params{} << ask.id.value).step()) continue;
        auto plan = detail::plan_request(row, ask);
        if (plan.plan) out.plans.push_back({row, last, std::move(*plan.plan), detail::epoch_for_request(row), owner_id::nobody});
        if (plan.plan || plan.fate == request_fate::left_to_holder)
            out.requests.push_back({std::move(ask), row.num, plan.fate, plan.plan ? next(last) : seq_no::none});
    }
    return out;
}

void write_asked(connection& c, std::span<asked_child const> all)
{
    for (auto const& a : all) insert_request(c, a.run, a.what, a.fate, a.entry);
}

std::vector<asked_child> add_children(connection& c, std::vector<planned>& plans, time_point at)
{
    std::vector<closed_run> parents;
    for (auto const& p : plans) {
        bool const ends = is_terminal(p.plan.change.status.run);
        if (ends || p.plan.withdraw_waits) parents.push_back({p.row.num, ends});
    }
    auto all = plan_closing(c, parents, at);
    for (auto& p : all.plans) {
        // A child that was to be queued or to expire by itself: what its parent's end means for it comes first.
        std::erase_if(plans, [&](planned const& own) { return own.row.num == p.row.num; });
        plans.push_back(std::move(p));
    }
    return std::move(all.requests);
}

}  // namespace flow::postgres_detail
