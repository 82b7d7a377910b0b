#include "runtime/store/sqlite/children.hpp"

#include <algorithm>
#include <vector>

#include "runtime/store/sqlite/changes.hpp"
#include "runtime/store/sqlite/rows.hpp"
#include "src/plans.hpp"

namespace flow::sqlite_detail {

run_row insert_new_run(connection& c, new_run const& what)
{
    auto [row, plan] = detail::new_row(what);
    row.num = insert_run(c, row);
    write_plan(c, row, std::move(plan), row.epoch, owner_id::nobody, what.at);
    return row;
}

std::optional<run_row> find_key(connection& c, std::string_view tenant, std::string_view key)
{
    static auto const sql = select_runs("runs r where r.tenant = ? and r.key = ? and r.key <> ''");
    if (key.empty()) return std::nullopt;
    auto r = c.prepare(sql.c_str());
    r << tenant << key;
    return r.step() ? std::optional(read_run(r)) : std::nullopt;
}

std::optional<run_row> in_the_way(connection& c, start_child const& what)
{
    auto other = find_run(c, what.run.id);
    if (!other) other = find_key(c, what.run.tenant, what.run.key);
    return other && !detail::is_that_child(*other, what) ? other : std::nullopt;
}

bool start_child_of(connection& c, std::int64_t parent, start_child const& what)
{
    if (find_run(c, what.run.id)) return false;
    auto const row = insert_new_run(c, what.run);
    bool const awaited = what.on_close != close_policy::detached;
    auto const waitpoint = awaited ? insert_waitpoint_row(c, parent, detail::end_waitpoint(what)) : 0;
    (c.prepare("insert into children(parent, child, waitpoint, on_close) values (?,?,?,?)")
     << parent << row.num << waitpoint << number(what.on_close))
        .run();
    return true;
}

bool complete_end(connection& c, run_row const& child, detail::run_result const& result, time_point at)
{
    auto const w = find_waitpoint(c, end_of(child.id));
    if (!w || w->row.status != waitpoint_status::pending) return false;
    (c.prepare("update waitpoints set status = ?, completed_at = ?, output = ?, output_encoding = ?, output_is_error = ?, by = ?"
               " where num = ? and status = 0")
     << number(waitpoint_status::completed) << at << std::string_view(result.output) << number(result.how) << std::int64_t{result.is_error}
     << std::string_view("run " + to_string(child.id)) << w->num)
        .run();
    return wake(c, w->num);
}

bool ask_children(connection& c, run_row const& parent, std::span<run_id const> only, bool ended, time_point at)
{
    std::vector<std::int64_t> all;
    {
        auto r = c.prepare("select k.child, k.on_close from children k join runs r on r.num = k.child where k.parent = ? and r.execution <> 7");
        r << parent.num;
        while (r.step())
            if (detail::closes(as<close_policy>(r.number(1)), ended)) all.push_back(r.number(0));
    }
    bool others = false;
    for (auto const num : all) {
        auto row = *find_run(c, num);
        if (!only.empty() && std::find(only.begin(), only.end(), row.id) == only.end()) continue;
        auto const ask = detail::close_request(row.id, parent.id, ended, at);
        if (fate_of(c, ask.id)) continue;
        ask_run(c, row, ask);
        others = true;
    }
    return others;
}
static_assert(static_cast<int>(execution_status::finished) == 7);

std::optional<request_fate> fate_of(connection& c, request_id id)
{
    auto r = c.prepare("select fate from requests where id = ?");
    r << id.value;
    return r.step() ? std::optional(as<request_fate>(r.number(0))) : std::nullopt;
}

request_fate ask_run(connection& c, run_row& row, request const& what)
{
    auto plan = detail::plan_request(row, what);
    auto entry = seq_no::none;
    if (plan.plan) entry = write_plan(c, row, std::move(*plan.plan), detail::epoch_for_request(row), owner_id::nobody, what.at);
    if (plan.plan || plan.fate == request_fate::left_to_holder) insert_request(c, row.num, what, plan.fate, entry);
    return plan.fate;
}

}  // namespace flow::sqlite_detail
