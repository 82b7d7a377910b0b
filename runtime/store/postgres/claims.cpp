// claim(): queued runs, and those of owners that are dead.
//
// Locks: the dead owners' runs by number; then queued ones, of which those that others hold are skipped, so that nobody waits from
// here on; then the owners, FOR SHARE (departures-modelled (b)). What was found before the locks is asked again behind them.
#include <algorithm>
#include <set>

#include "runtime/store/postgres/changes.hpp"
#include "runtime/store/postgres/postgres_store.hpp"
#include "runtime/store/postgres/rows.hpp"
#include "src/plans.hpp"

namespace flow::postgres_detail {

namespace {

static_assert(static_cast<int>(execution_status::queued) == 2);

// More than are wanted: another claimer may be taking the first of them just now.
constexpr std::size_t spare = 100;

struct candidates {
    std::vector<owner_id> dead;
    std::vector<std::int64_t> orphans, queued;

    bool none() const noexcept { return dead.empty() && queued.empty(); }
};

params pairs_of(claim_request const& what)
{
    batch b(2);
    for (auto const& w : std::set(what.workflows.begin(), what.workflows.end())) b << std::string_view(w.workflow) << std::int64_t{w.version};
    return b.arrays();
}

candidates look_around(connection& c, claim_request const& what, std::size_t limit)
{
    candidates found;
    found.dead = all<owner_id>(c.run(std::string("select id from owners where id <> $1 and lease_until <= ") + server_clock + " order by id",
                                     params{} << number(what.owner)),
                               [](rows& r) { return as<owner_id>(r.number(0)); });
    auto const at_most = std::to_string(limit + spare);
    if (!found.dead.empty())
        found.orphans = numbers(c.run("select r.num from runs r join unnest($1::text[], $2::bigint[]) w(workflow, version) using (workflow, version)"
                                      " where r.owner in (select id from owners where lease_until <= " + std::string(server_clock) +
                                      ") and r.owner <> " + std::to_string(number(what.owner)) + " order by r.num limit " + at_most,
                                      pairs_of(what)));
    found.queued = numbers(c.run("select f.num from unnest($1::text[], $2::bigint[]) w(workflow, version) cross join lateral (select r.num,"
                                 " r.priority, r.due_at from runs r where r.execution = 2 and r.owner = 0 and r.workflow = w.workflow and"
                                 " r.version = w.version order by r.priority desc, r.due_at, r.num limit " + at_most + ") f"
                                 " order by f.priority desc, f.due_at, f.num limit " + at_most,
                                 pairs_of(what)));
    return found;
}

struct locked_run {
    run_row row;
    seq_no last;
};

std::vector<locked_run> read_locked(connection& c, std::set<std::int64_t> const& nums)
{
    if (nums.empty()) return {};
    auto const which = "runs r where r.num in (" + number_list(nums) + ") order by r.priority desc, r.due_at, r.num";
    return all<locked_run>(c.simple(select_runs_and_last(which)),
                           [](rows& r) { return locked_run{read_run(r), as<seq_no>(r.number(last_seq_column))}; });
}

/// Those of these owners that live, by the server's clock; their rows are locked from here on.
std::set<owner_id> living(connection& c, std::set<owner_id> const& asked)
{
    auto const ids = number_list(asked);
    auto found = all<owner_id>(c.simple("select 1 from owners where id in (" + ids + ") order by id for share; select id from owners where id in (" +
                                        ids + ") and lease_until > " + server_clock),
                               [](rows& r) { return as<owner_id>(r.number(0)); });
    return {found.begin(), found.end()};
}

bool is_still(std::vector<locked_run> const& now, claimed const& c)
{
    return std::any_of(now.begin(), now.end(), [&](locked_run const& r) {
        return r.row.num == c.row.num && r.row.epoch == c.row.epoch && r.row.owner == c.row.owner;
    });
}

/// Locks the runs of a claim in doubt: its first try may still be open.
std::vector<locked_run> lock_taken(connection& c, std::vector<claimed> const& taken)
{
    std::set<std::int64_t> nums;
    for (auto const& t : taken) nums.insert(t.row.num);
    c.simple("select 1 from runs where num in (" + number_list(nums) + ") order by num for no key update");
    return read_locked(c, nums);
}

}  // namespace

outcome<std::vector<claimed>> postgres_store::claim(claim_request const& what)
{
    std::vector<claimed> doubt;
    {
        std::scoped_lock guard(doubt_mutex_);
        if (auto it = in_doubt_.find(what.owner); it != in_doubt_.end()) doubt = it->second;
    }
    auto const limit = std::min<std::size_t>(what.limit, 1'000'000);
    candidates found;
    // Asked before anything is locked, so that an idle engine disturbs nobody.
    auto const asked = db_.read([&](connection& c) { found = look_around(c, what, limit); });
    if (!asked) return asked.error();
    if (found.none() && doubt.empty()) return std::vector<claimed>{};

    std::vector<claimed> taken;
    auto const body = [&](transaction& t) {
        taken.clear();
        std::set<std::int64_t> first(found.orphans.begin(), found.orphans.end()), nums;
        for (auto const& d : doubt) first.insert(d.row.num);
        if (!first.empty()) t.c.simple("select 1 from runs where num in (" + number_list(first) + ") order by num for no key update");
        nums = first;
        if (!found.queued.empty() && first.size() < limit)
            for (auto const num : numbers(t.c.simple("select num from runs where num in (" + number_list(found.queued) +
                                                     ") and execution = 2 and owner = 0 order by priority desc, due_at, num limit " +
                                                     std::to_string(limit - first.size()) + " for no key update skip locked")))
                nums.insert(num);
        if (nums.empty()) {
            t.quiet();
            return t.locked();
        }
        std::set<owner_id> owners(found.dead.begin(), found.dead.end());
        owners.insert(what.owner);
        auto const alive = living(t.c, owners);
        if (!alive.contains(what.owner))
            throw refusal(errc::store_unavailable, "the lease of owner " + std::to_string(number(what.owner)) + " has ended: it takes no runs");
        auto const now = read_locked(t.c, nums);
        t.locked();

        std::vector<planned> plans;
        std::vector<bool> over;
        for (auto const& d : doubt)
            if (is_still(now, d)) taken.push_back(d);
        auto const from_doubt = taken.size();
        for (bool orphans : {true, false})
            for (auto const& [row, last] : now) {
                if (from_doubt + plans.size() >= limit) break;
                bool const orphan = row.owner != owner_id::nobody && owners.contains(row.owner) && !alive.contains(row.owner);
                bool const is_queued = row.owner == owner_id::nobody && row.status.execution == execution_status::queued;
                if (orphans ? !orphan : !is_queued) continue;
                auto plan = orphan ? detail::plan_take_over(row, row.owner, what.owner, what.now) : detail::plan_claim(row, what.owner, what.now);
                plans.push_back({row, last, std::move(plan), next(row.epoch), what.owner});
                over.push_back(orphan);
            }
        write_plans(t.c, plans, what.now);
        for (std::size_t i = 0; i < plans.size(); ++i) taken.push_back({plans[i].row, over[i]});
        if (plans.empty()) t.quiet();
        t.before_commit = [&] { must_stand(what.owner); };
    };
    auto const done = db_.write("claim", db_.patience(), body, [&](connection& c) {
        return taken.empty() || is_still(lock_taken(c, taken), taken.back());
    });
    {
        std::scoped_lock guard(doubt_mutex_);
        if (!done) {
            if (done.error().code() == errc::commit_unknown) in_doubt_[what.owner] = taken;
            return done.error();
        }
        in_doubt_.erase(what.owner);
    }
    if (!found.dead.empty()) bury(found.dead);
    return taken;
}

}  // namespace flow::postgres_detail
