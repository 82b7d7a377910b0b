// Branches, functions and frames against each other: what is shared replays, and no frame goes while something refers to it.
#include <catch2/catch.hpp>

#include <atomic>
#include <set>
#include <thread>

#include "flow/flow.hpp"
#include "support/eventually.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

std::uint64_t mixed(std::uint64_t seed)
{
    seed = (seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9ULL;
    seed = (seed ^ (seed >> 27)) * 0x94D049BB133111EBULL;
    return seed ^ (seed >> 31);
}

/// Both write a shared local after each sleep and choose their next step by it: another order is another step, which replay notices.
flow::workflow<std::string> races(std::uint64_t seed)
{
    std::string seen;
    auto const runner = [&](char who) -> flow::workflow<> {
        for (std::uint64_t i = 0; i < 4; ++i) {
            auto const wait = std::chrono::seconds{mixed(seed * 64 + i * 2 + (who == 'a')) % 12};
            co_await flow::sleep_for(wait);
            seen += who;
            auto const name = "saw " + seen;
            co_await flow::step(name, flow::idempotent, [] {});
            auto const quick = co_await flow::random<int>(0, 9);
            if (quick < 5) seen += '.';
        }
    };
    co_await flow::all([&]() -> flow::workflow<> { return runner('a'); }, [&]() -> flow::workflow<> { return runner('b'); });
    co_return seen;
}

std::atomic<bool> let_go{false};

flow::workflow<int> blocks_beside()
{
    auto const [paid, answer] = co_await flow::all(
        flow::step("pay", flow::non_replayable, [] {
            outside().note("pay");
            while (!let_go) std::this_thread::sleep_for(1ms);
            return 1;
        }),
        flow::wait_for_token<int>("answer"));
    co_return 10 * paid + answer;
}

flow::workflow<int> leaves_one_behind()
{
    auto fn = [&go = let_go] {
        while (!go) std::this_thread::sleep_for(1ms);
        outside().note("late");
        return 1;
    };
    auto const r = co_await flow::as_outcome(
        flow::step("slow", flow::idempotent, flow::detached(fn), {.timeout = 20ms, .retry = {.max_attempts = 1}}));
    auto const answer = co_await flow::wait_for_token<int>("answer");
    co_return r ? -1 : answer;
}

flow::workflow<int> never_awaits_one()
{
    auto unused = flow::step("unused", flow::idempotent, [] { outside().note("unused"); });
    auto const won = co_await flow::any(flow::sleep_for(1s), flow::wait_for_token<int>("never"));
    co_return static_cast<int>(won.index());
}

void add_all(flow::engine& e)
{
    e.add<races>("races");
    e.add<blocks_beside>("blocks_beside");
    e.add<leaves_one_behind>("leaves_one_behind");
    e.add<never_awaits_one>("never_awaits_one");
}

flow::engine_options eager()
{
    flow::engine_options o;
    o.threads = 2;
    o.evict_after = flow::duration::zero();
    return o;
}

}  // namespace

TEST_CASE("PR-02 branches that race through a shared local take the same turns on replay, in a thousand schedules", "[engine][group]")
{
    memory_stores place;
    world w(place.store, add_all);
    std::vector<flow::run_id> all;
    for (std::uint64_t i = 0; i < 1000; ++i) all.push_back(w.engine().start<races>(i).id());
    for (int life = 0; life < 6; ++life) {
        w.pass(std::chrono::seconds{3 + 2 * life});
        w.restart();
    }
    w.pass(10min);
    std::set<std::string> orders;
    for (auto const id : all) {
        REQUIRE(w.status(id) == flow::run_status::succeeded);
        orders.insert(*w.view(id).result);
    }
    CHECK(orders.size() > 100);  // they were different schedules
}

TEMPLATE_LIST_TEST_CASE("PR-06 a step that runs beside a wait keeps its frame, and its outcome counts", "[engine][group][evict]", every_store)
{
    TestType place;
    outside().clear();
    let_go = false;
    flow::engine engine(place.store, eager());
    add_all(engine);
    auto const run = engine.start<blocks_beside>();
    REQUIRE(eventually([&] { return outside().count("pay") == 1 && !run.view().open.empty(); }));
    CHECK(run.view().row.owner != flow::owner_id::nobody);
    CHECK(run.status().run == flow::run_status::running);
    let_go = true;
    REQUIRE(eventually([&] { return run.view().row.owner == flow::owner_id::nobody; }));  // now it only waits
    engine.complete_json(run.view().open.at(0).row.id, "2");
    CHECK(run.result() == 12);
    CHECK(outside().count("pay") == 1);
}

TEST_CASE("CO-09 a function that was left behind keeps its run's frame from leaving; its late result counts for nothing", "[engine][evict]")
{
    memory_stores place;
    outside().clear();
    let_go = false;
    flow::engine engine(place.store, eager());
    add_all(engine);
    auto const run = engine.start<leaves_one_behind>();
    REQUIRE(eventually([&] { return run.status().run == flow::run_status::waiting; }));
    CHECK(run.view().row.owner != flow::owner_id::nobody);
    let_go = true;
    REQUIRE(eventually([&] { return run.view().row.owner == flow::owner_id::nobody; }));
    CHECK(outside().count("late") == 1);
    engine.complete_json(run.view().open.at(0).row.id, "5");
    CHECK(run.result() == 5);
    CHECK(outside().count("late") == 1);
}

TEST_CASE("PC-08 a body that returns leaves no branch behind, and what it never awaited never runs", "[engine][group]")
{
    memory_stores place;
    world w(place.store, add_all);
    auto const run = w.engine().start<never_awaits_one>();
    w.pass(5s);
    CHECK(run.result() == 0);
    CHECK(outside().count("unused") == 0);
    CHECK(w.view(run.id()).open.empty());
    CHECK(w.engine().still_running().empty());
}
