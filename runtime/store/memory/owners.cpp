// Owners: made, pinged, retired. All live in this process, so one is dead once it has said good-bye.
#include "runtime/store/memory/memory_store.hpp"

namespace flow::memory_detail {

outcome<owner_id> memory_store::add_owner(owner_info const& who)
{
    auto owner = owner_id::nobody;
    auto const done = write("add_owner", [&](tables& t) { owner = t.add_owner(who); });
    if (!done) return done.error();
    return owner;
}

outcome<void> memory_store::announce(owner_id owner, std::span<workflow_version const> all)
{
    return write("announce", [&](tables& t) {
        auto const it = t.owners().find(owner);
        if (it == t.owners().end()) return;
        auto record = it->second;
        record.workflows.assign(all.begin(), all.end());
        t.set_owner(owner, std::move(record));
    });
}

void memory_store::retire_owner(owner_id owner) noexcept
try {
    ignore(write("retire_owner",
                 [&](tables& t) {
                     auto const it = t.owners().find(owner);
                     if (it == t.owners().end()) return;
                     auto record = it->second;
                     record.alive = false;
                     // With runs it stays, dead, until they are taken over.
                     t.set_owner(owner, t.runs_of(owner).empty() ? std::nullopt : std::optional(record));
                 }),
           "nothing is left to do for an owner that is gone");
} catch (...) {
    // Out of memory: the owner stays, and so do its runs.
}

outcome<void> memory_store::ping(owner_id, time_limit) { return write("ping", [](tables&) {}); }

}  // namespace flow::memory_detail
