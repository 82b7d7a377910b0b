// claim(): queued runs, and those of owners that are dead.
#include "runtime/store/sqlite/claims.hpp"

#include <algorithm>
#include <set>

#include "runtime/store/sqlite/changes.hpp"
#include "runtime/store/sqlite/rows.hpp"
#include "runtime/store/sqlite/sqlite_store.hpp"
#include "src/plans.hpp"

namespace flow::sqlite_detail {

namespace {

constexpr auto queued_of_one = "select num, priority, due_at from runs where execution = 2 and workflow = ? and version = ?"
                               " and owner = 0 order by priority desc, due_at, num limit ?";
static_assert(static_cast<int>(execution_status::queued) == 2);

/// In the order in which they are taken (P62).
struct candidate {
    std::int64_t after;  ///< minus the priority
    time_point due_at;
    std::int64_t num;
    auto operator<=>(candidate const&) const = default;
};

/// The queued runs to take, highest priority first, then those that have been due the longest.
std::vector<std::int64_t> queued(connection& c, claim_request const& what, std::size_t limit)
{
    std::vector<candidate> found;
    for (auto const& w : what.workflows) {
        auto r = c.prepare(queued_of_one);
        r << std::string_view(w.workflow) << std::int64_t{w.version} << static_cast<std::int64_t>(limit);
        while (r.step()) found.push_back({-r.number(1), r.time(2), r.number(0)});
    }
    std::sort(found.begin(), found.end());
    std::vector<std::int64_t> out;
    for (auto const& f : found)
        if (out.size() < limit && (out.empty() || out.back() != f.num)) out.push_back(f.num);  // a pair may be named twice
    return out;
}

std::vector<run_row> runs_of(connection& c, owner_id owner)
{
    static auto const sql = select_runs("runs r where r.owner = ? and r.owner <> 0 order by r.num");
    auto r = c.prepare(sql.c_str());
    r << number(owner);
    std::vector<run_row> out;
    while (r.step()) out.push_back(read_run(r));
    return out;
}

/// What an earlier claim wrote before its COMMIT failed, if it landed after all and is still this owner's.
std::vector<claimed> still_ours(connection& c, std::vector<claimed> const& in_doubt)
{
    std::vector<claimed> out;
    for (auto const& d : in_doubt)
        if (auto const row = find_run(c, d.row.num); row && row->epoch == d.row.epoch && row->owner == d.row.owner)
            out.push_back(d);
    return out;
}

}  // namespace

bool stands(connection& c, std::vector<claimed> const& taken)
{
    if (taken.empty()) return true;
    auto const row = find_run(c, taken.back().row.num);
    return row && row->epoch == taken.back().row.epoch && row->owner == taken.back().row.owner;
}

bool wants(claim_request const& what, run_row const& row)
{
    workflow_version const w{row.workflow, row.version};
    return std::find(what.workflows.begin(), what.workflows.end(), w) != what.workflows.end();
}

claimed take(connection& c, run_row row, claim_request const& what)
{
    write_plan(c, row, detail::plan_claim(row, what.owner, what.now), next(row.epoch), what.owner, what.now);
    return {std::move(row), false};
}

outcome<std::vector<claimed>> sqlite_store::claim(claim_request const& what)
{
    auto dead = find_dead_owners();
    if (!dead) return dead.error();
    std::vector<claimed> doubt;
    {
        std::scoped_lock guard(doubt_mutex_);
        if (auto it = in_doubt_.find(what.owner); it != in_doubt_.end()) doubt = it->second;
    }
    auto const limit = std::min<std::size_t>(what.limit, 1'000'000);
    if (dead->empty() && doubt.empty()) {
        // Asked before the write lock is taken, so that an idle engine disturbs nobody.
        bool any = false;
        auto const asked = db_.read([&](connection& c) { any = !queued(c, what, 1).empty(); });
        if (!asked) return asked.error();
        if (!any) return std::vector<claimed>{};
    }

    std::vector<claimed> taken;
    std::vector<std::size_t> buried;
    auto const done = db_.write(
        "claim", db_.patience(),
        [&](connection& c) {
            taken = still_ours(c, doubt);
            buried.clear();
            for (std::size_t i = 0; i < dead->size(); ++i) {
                auto const gone = (*dead)[i].owner;
                bool leaves_some = false;
                for (auto& row : runs_of(c, gone)) {
                    if (!wants(what, row) || taken.size() >= limit) {
                        leaves_some = true;
                        continue;
                    }
                    write_plan(c, row, detail::plan_take_over(row, gone, what.owner, what.now), next(row.epoch), what.owner,
                               what.now);
                    taken.push_back({row, true});
                }
                if (leaves_some) continue;
                (c.prepare("delete from owners where id = ?") << number(gone)).run();
                buried.push_back(i);
            }
            if (taken.size() >= limit) return;
            for (auto const num : queued(c, what, limit - taken.size())) taken.push_back(take(c, *find_run(c, num), what));
        },
        [&](connection& c) { return stands(c, taken); });

    std::scoped_lock guard(doubt_mutex_);
    if (!done) {
        if (done.error().code() == errc::commit_unknown) in_doubt_[what.owner] = taken;
        return done.error();
    }
    in_doubt_.erase(what.owner);
    // Their locks were held up to here; the files go with the rows.
    for (auto const i : buried) (*dead)[i].lock.remove();
    return taken;
}

}  // namespace flow::sqlite_detail
