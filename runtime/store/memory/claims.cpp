// claim(): queued runs, and those of owners that are dead.
#include <algorithm>

#include "runtime/store/memory/changes.hpp"
#include "runtime/store/memory/memory_store.hpp"

namespace flow::memory_detail {

namespace {

void take_over(tables& t, owner_id gone, claim_request const& what, std::vector<claimed>& taken)
{
    bool leaves_some = false;
    for (auto const num : std::set(t.runs_of(gone))) {
        auto const& row = t.run(num).row;
        workflow_version const w{row.workflow, row.version};
        if (taken.size() >= what.limit || std::find(what.workflows.begin(), what.workflows.end(), w) == what.workflows.end())
            leaves_some = true;
        else
            take(t, num, detail::plan_take_over(row, gone, what.owner, what.now), what, true, taken);
    }
    if (!leaves_some) t.set_owner(gone, std::nullopt);
}

/// The queued runs to take, highest priority first, then those that have been due the longest.
std::vector<std::int64_t> queued(tables const& t, claim_request const& what, std::size_t limit)
{
    tables::queue found;
    for (auto const& w : what.workflows) {
        auto const& of_one = t.queued(w);
        auto it = of_one.begin();
        for (std::size_t n = 0; n < limit && it != of_one.end(); ++n, ++it) found.insert(*it);
    }
    std::vector<std::int64_t> out;
    for (auto const& [priority, due, num] : found)
        if (out.size() < limit) out.push_back(num);
    return out;
}

}  // namespace

outcome<std::vector<claimed>> memory_store::claim(claim_request const& what)
{
    std::vector<claimed> taken;
    auto const done = write("claim", [&](tables& t) {
        taken.clear();
        std::vector<owner_id> dead;
        for (auto const& [owner, record] : t.owners())
            if (!record.alive) dead.push_back(owner);
        for (auto const owner : dead) take_over(t, owner, what, taken);
        for (auto const num : queued(t, what, what.limit - taken.size()))
            take(t, num, detail::plan_claim(t.run(num).row, what.owner, what.now), what, false, taken);
    });
    if (!done) return done.error();
    return taken;
}

}  // namespace flow::memory_detail
