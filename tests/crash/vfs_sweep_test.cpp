// Beneath SQLite: the n-th write or sync of the file fails, or the power goes and what was not synced is lost; for every n.
#include <catch2/catch.hpp>

#include "crash/everything.hpp"
#include "flow/store_reader.hpp"
#include "support/fault_vfs.hpp"
#include "support/invariants.hpp"
#include "support/temp_dir.hpp"

using namespace flow::test;

namespace {

/// Waiting runs stay in memory: what leaving it writes is swept by the store's own writes (store_sweep_test).
flow::engine_options in_memory()
{
    flow::engine_options o;
    o.evict_after = std::chrono::hours{24 * 365};
    return o;
}

flow::store_ptr open(temp_dir const& dir, fault_vfs const& vfs)
{
    flow::sqlite_options o;
    o.vfs = vfs.name();
    return flow::sqlite(dir.file("flow.db"), o);
}

void sweep(fault_vfs::what fault)
{
    int n = 1;
    for (bool more = true; more; ++n) {
        CAPTURE(n, static_cast<int>(fault));
        temp_dir dir;
        fault_vfs vfs;
        std::vector<std::string> ledger;
        {
            auto const store = open(dir, vfs);
            world w(store, add_everything, in_memory());
            vfs.plan(n, fault);
            bool const ended = run_everything(w);
            more = vfs.operations() >= n;
            if (!vfs.reached()) REQUIRE(ended);
            ledger = outside().all();
        }
        if (fault == fault_vfs::what::power_cut) vfs.lose_unsynced(static_cast<std::size_t>(n) % 5000);
        vfs.heal();
        auto const again = open(dir, vfs);
        auto const settled = settled_effects(*again);
        world next(again, add_everything, in_memory());
        for (auto const& line : ledger) outside().note(line);
        std::map<std::string, int> before;
        for (auto const& [name, _] : settled) before[name] = outside().count(name);
        REQUIRE(run_everything(next));
        for (auto const& [name, count] : before) {
            CAPTURE(name);
            CHECK(outside().count(name) == count);
        }
        CHECK(outside().count("mail") == 1);
        CHECK(outside().count("pay") <= 1);
        check_invariants(*again);
    }
    CHECK(n > 80);
}

}  // namespace

TEST_CASE("the power goes at any write or sync of the file: what was told stays, the rest is lost whole", "[crash][slow]")
{
    sweep(fault_vfs::what::power_cut);
}
TEST_CASE("any write or sync of the file fails once with an I/O error", "[crash][slow]") { sweep(fault_vfs::what::io_error); }
TEST_CASE("the disk is full at any write of the file", "[crash][slow]") { sweep(fault_vfs::what::full); }
