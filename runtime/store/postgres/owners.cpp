// Owners: made, pinged, renewed, retired, buried (protocol P46).
#include <chrono>

#include "runtime/store/postgres/postgres_store.hpp"
#include "runtime/store/postgres/rows.hpp"
#include "src/version_policy.hpp"

namespace flow::postgres_detail {

namespace {

std::string until(std::chrono::milliseconds lease)
{
    return server_clock + (" + " + std::to_string(std::chrono::microseconds(lease).count()));
}

}  // namespace

void postgres_store::must_stand(owner_id owner) const
{
    if (!leases_.stands(owner))
        throw refusal(errc::store_unavailable, "the lease of owner " + std::to_string(number(owner)) +
                                                   " has ended and could not be renewed: nothing is written in its name");
}

outcome<owner_id> postgres_store::add_owner(owner_info const& who)
{
    auto owner = owner_id::nobody;
    auto since = std::chrono::steady_clock::now();
    auto const sql = "insert into owners(name, pid, started_at, pings, lease_until) values ($1, $2, $3, 0, " + until(options_.lease) +
                     ") returning id";
    params const values = params{} << std::string_view(who.name) << who.pid << who.started_at;
    auto const done = db_.write("add_owner", db_.patience(), [&](transaction& t) {
        // Tried again after a COMMIT without an answer, the first row may be there: a dead owner without runs, soon buried.
        since = std::chrono::steady_clock::now();
        auto r = t.c.run(sql, values);
        r.step();
        owner = as<owner_id>(r.number(0));
        t.locked();
    });
    if (!done) return done.error();
    leases_.add({owner, who, {}}, since);
    return owner;
}

std::string postgres_store::renew(std::vector<leases::living> const& living)
try {
    if (!renewer_ || !renewer_->usable()) renewer_ = db_.open();
    batch b(5);
    for (auto const& [owner, info, workflows] : living)
        b << number(owner) << std::string_view(info.name) << info.pid << info.started_at << std::string_view(workflows);
    // A row that is gone was buried, and its runs are others' now, under later epochs. The same owner may go on with new ones.
    renewer_->run("insert into owners(id, name, pid, started_at, pings, workflows, lease_until) select id, name, pid, started_at, 0, workflows, " +
                      until(options_.lease) +
                      " from unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::text[]) o(id, name, pid, started_at, workflows)"
                      " order by id on conflict (id) do update set lease_until = excluded.lease_until",
                  b.arrays());
    return {};
} catch (std::exception const& e) {
    renewer_.reset();
    return db_.name() + ": leases could not be renewed, and what their owners hold is taken over when they end: " + e.what();
}

outcome<void> postgres_store::announce(owner_id owner, std::span<workflow_version const> all)
{
    auto const text = detail::announced_text(all);
    leases_.announced(owner, text);  // for a row that has to be made again
    return db_.write("announce", db_.patience(), [&](transaction& t) {
        t.quiet();
        t.c.run("update owners set workflows = $1 where id = $2", params{} << std::string_view(text) << number(owner));
    });
}

void postgres_store::retire_owner(owner_id owner) noexcept
try {
    news_.when_changed(owner, nullptr);
    if (!leases_.remove(owner)) return;
    auto const id = std::to_string(number(owner));
    // Locked before it is asked for its runs, in a statement behind: a claim of this owner holds the row (departures-modelled (b)).
    (void)db_.write("retire_owner", db_.patience(), [&](transaction& t) {
        t.c.simple("select 1 from owners where id = " + id + " for no key update");
        t.locked();
        t.c.simple("delete from owners where id = " + id + " and not exists (select 1 from runs where owner = " + id +
                   "); update owners set lease_until = 0 where id = " + id);
    });
} catch (...) {
    // Its lease is no longer renewed: it dies a little later.
}

void postgres_store::bury(std::vector<owner_id> const& dead)
{
    auto const ids = number_list(dead);
    // Left undone, the next claim does it.
    (void)db_.write("bury", db_.patience(), [&](transaction& t) {
        t.quiet();
        t.c.simple("select 1 from owners where id in (" + ids + ") order by id for no key update");
        t.c.simple("delete from owners o where id in (" + ids + ") and lease_until <= " + server_clock +
                   " and not exists (select 1 from runs r where r.owner = o.id)");
    });
}

outcome<void> postgres_store::ping(owner_id owner, time_limit limit)
{
    return db_.write("ping", limit, [&](transaction& t) {
        t.quiet();
        t.c.run("update owners set pings = pings + 1 where id = $1", params{} << number(owner));
    });
}

}  // namespace flow::postgres_detail
