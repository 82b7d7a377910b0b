// Owners: made, pinged, retired, found dead (protocol P46).
#include <unistd.h>

#include "runtime/store/sqlite/rows.hpp"
#include "runtime/store/sqlite/sqlite_store.hpp"
#include "src/version_policy.hpp"

namespace flow::sqlite_detail {

outcome<owner_id> sqlite_store::add_owner(owner_info const& who)
{
    auto owner = owner_id::nobody;
    std::optional<file_lock> lock;
    auto const done = db_.write(
        "add_owner", db_.patience(),
        [&](connection& c) {
            auto r = c.prepare("insert into owners(name, pid, started_at, pings) values (?,?,?,0)");
            (r << std::string_view(who.name) << who.pid << who.started_at).run();
            owner = as<owner_id>(c.last_rowid());
            // Locked before the row can be seen: from its first moment the owner is alive.
            lock = file_lock::try_lock(locks_.name_of(owner));
            if (!lock) throw refusal(errc::store_unavailable, locks_.name_of(owner) + " is locked by somebody else");
        },
        [&](connection& c) { return (c.prepare("select 1 from owners where id = ?") << number(owner)).step(); });
    if (!done) {
        // Should the row have landed after all, it is a dead owner without runs, and the next claim buries it.
        if (lock) lock->remove();
        return done.error();
    }
    locks_.keep(owner, std::move(*lock));
    std::scoped_lock guard(made_mutex_);
    made_.push_back(owner);
    return owner;
}

outcome<void> sqlite_store::announce(owner_id owner, std::span<workflow_version const> all)
{
    auto const text = detail::announced_text(all);
    return db_.write(
        "announce", db_.patience(),
        [&](connection& c) {
            (c.prepare("update owners set workflows = ? where id = ?") << std::string_view(text) << number(owner)).run();
        },
        // Said again if it did not land.
        [](connection&) { return true; });
}

void sqlite_store::retire_owner(owner_id owner) noexcept
try {
    auto lock = locks_.let_go(owner);
    if (!lock) return;
    {
        std::scoped_lock guard(made_mutex_);
        std::erase(made_, owner);
    }
    bool buried = false;
    auto const done = db_.write(
        "retire_owner", db_.patience(),
        [&](connection& c) {
            (c.prepare("delete from owners where id = ?1 and not exists (select 1 from runs where owner = ?1)") << number(owner))
                .run();
            buried = c.changes() != 0;
        },
        {});
    if (done && buried) lock->remove();
    // Otherwise whoever takes its runs over removes row and file: the lock goes with `lock`.
} catch (...) {
    // Without its lock the owner is dead, which is all that was asked for.
}

outcome<void> sqlite_store::ping(owner_id owner, time_limit limit)
{
    return db_.write(
        "ping", limit,
        [&](connection& c) { (c.prepare("update owners set pings = pings + 1 where id = ?") << number(owner)).run(); },
        // Whether this one landed does not matter: the file can be written again.
        [](connection&) { return true; });
}

outcome<std::vector<sqlite_store::dead_owner>> sqlite_store::find_dead_owners()
{
    std::vector<owner_id> others;
    auto const asked = db_.read([&](connection& c) {
        auto r = c.prepare("select id from owners");
        while (r.step())
            if (auto const owner = as<owner_id>(r.number(0)); !locks_.holds(owner)) others.push_back(owner);
    });
    if (!asked) return asked.error();
    std::vector<dead_owner> dead;
    try {
        for (auto const owner : others)
            if (auto lock = file_lock::try_lock(locks_.name_of(owner))) dead.push_back({owner, std::move(*lock)});
    } catch (refusal const& r) {
        return error(r.code, r.what());
    }
    return dead;
}

}  // namespace flow::sqlite_detail
