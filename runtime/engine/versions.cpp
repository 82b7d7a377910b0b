// Runs whose version no living engine has (P47): seen, waited for, judged.
#include <algorithm>

#include "flow/store_reader.hpp"
#include "runtime/engine/core.hpp"
#include "src/version_policy.hpp"

namespace flow::detail {

namespace {
constexpr std::chrono::seconds judge_every{5};
}  // namespace

void engine_core::announce()
{
    {
        std::lock_guard const lock(guard_);
        if (!std::exchange(to_announce_, false)) return;
    }
    if (auto const told = store->announce(owner_, *my_workflows()); !told) {
        trouble("announcing workflows", told.error());
        std::lock_guard const lock(guard_);
        to_announce_ = true;
    }
}

std::map<std::string, std::uint32_t> engine_core::newest_versions() const
{
    std::lock_guard const lock(guard_);
    std::map<std::string, std::uint32_t> all;
    for (auto const& [w, _] : workflows_) all[w.workflow] = w.version;  // in order: the last is the newest
    return all;
}

void engine_core::judge_versions()
{
    auto const now = clock().steady();
    if (now < next_judgement_) return;
    next_judgement_ = now + judge_every;
    auto const queued = store->reader().versions_to_claim();
    if (!queued) return trouble("looking for versions", queued.error());
    if (queued->empty() && missing_since_.empty()) return;
    auto const newest = newest_versions();
    std::set<workflow_version> nowhere(queued->begin(), queued->end());
    // A run that was judged comes back with a decision: not to wait all that time again.
    for (auto const& [w, _] : missing_since_) nowhere.insert(w);
    std::erase_if(nowhere, [&](auto const& w) { return newest.count(w.workflow) == 0 || has(w); });
    if (!nowhere.empty()) {
        auto const owners = store->reader().owners();
        if (!owners) return trouble("looking for other engines", owners.error());
        for (auto const& o : *owners)
            for (auto const& w : o.workflows)
                if (o.alive) nowhere.erase(w);
    }
    std::erase_if(missing_since_, [&](auto const& m) { return nowhere.count(m.first) == 0; });
    for (auto const& w : *queued) {
        if (nowhere.count(w) == 0) continue;
        auto const since = missing_since_.try_emplace(w, now).first->second;
        if (now - since >= options_.version_patience) judge(w, newest.at(w.workflow));
    }
}

bool engine_core::has(workflow_version const& w) const
{
    std::lock_guard const lock(guard_);
    return workflows_.count(w) > 0;
}

void engine_core::judge(workflow_version const& missing, std::uint32_t newest)
{
    auto const runs = claim({&missing, 1}, claim_chunk);
    if (!runs) return;
    for (auto const& c : *runs) judge_run(c.row.id, newest);
}

void engine_core::judge_run(run_id id, std::uint32_t newest)
{
    auto const loaded = store->load(id);
    if (!loaded || !*loaded) {
        strays_ = true;
        return;
    }
    judge_run(**loaded, newest);
}

void engine_core::judge_run(loaded_run const& run, std::uint32_t newest)
{
    version_facts const facts{newest, has({run.row.workflow, run.row.version}), shared_->new_uuid4(), shared_->by, clock().now()};
    auto [p, effects] = judge_version(run, facts);
    auto const text = p.entries.back().why;
    if (write_for_run(run, std::move(p), std::move(effects))) log(log_level::warning, "run " + to_string(run.row.id) + ": " + text);
    else strays_ = true;  // there is mail, or the store could not be asked: it is looked at again
    look_soon();
}

bool engine_core::write_for_run(loaded_run const& run, plan p, std::vector<row_effect> effects)
{
    auto const last = run.entries.back().seq;
    number(p, run.row.id, last, run.row.epoch);
    group const g{run.row.id, run.row.num, run.row.epoch, last, std::move(p.entries), std::move(effects), std::move(p.change)};
    auto const answers = store->apply({&g, 1}, time_limit{5000});
    return answers && answers->front().kind == answer_kind::applied;
}

}  // namespace flow::detail
