// Deadlines of runs (P42, P43): held, parked, queued, never begun; and finding runs by tag and age, waiting for many.
#include <catch2/catch.hpp>

#include "flow/flow.hpp"
#include "flow/store_reader.hpp"
#include "support/invariants.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

flow::workflow<int> waits_and_tidies()
{
    auto const got = co_await flow::as_outcome(flow::wait_for_token<int>("answer"));
    if (!got) co_await flow::shield(flow::step("tidy", flow::idempotent, [] { outside().note("tidy"); }));
    co_return got.value();
}
flow::workflow<int> retries()
{
    co_return co_await flow::step(
        "flaky", flow::idempotent, []() -> int { throw std::runtime_error("not today"); }, {.retry = {.max_attempts = 200, .first_delay = 1min, .factor = 1}});
}
flow::workflow<int> quick() { co_return co_await flow::step("quick", flow::replayable, [] { return outside().note("quick"), 1; }); }

void add_all(flow::engine& e)
{
    e.add<waits_and_tidies>("waits");
    e.add<retries>("retries");
    e.add<quick>("quick");
}

flow::run_row row_of(world& w, flow::run_id id) { return w.view(id).row; }

}  // namespace

TEMPLATE_LIST_TEST_CASE("a deadline ends a run that waits, in memory or parked, after its clean-up", "[engine][deadline]", every_store)
{
    TestType place;
    flow::engine_options o;
    o.evict_after = GENERATE(0h, 100h);
    world w(place.store, add_all, o);
    auto const run = w.engine().start<waits_and_tidies>({.deadline = 2h});
    w.pass(1h);
    CHECK(w.status(run.id()) == flow::run_status::waiting);
    w.pass(61min);
    CHECK(w.status(run.id()) == flow::run_status::expired);
    CHECK(row_of(w, run.id()).terminal_reason == "deadline");
    CHECK(outside().count("tidy") == 1);
    auto const result = run.try_result();
    REQUIRE_FALSE(result);
    CHECK(result.error().code() == flow::errc::run_expired);
    check_invariants(*w.store());
}

TEMPLATE_LIST_TEST_CASE("a deadline ends a run between attempts, and one whose engine is down at that time", "[engine][deadline]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const busy = w.engine().start<retries>({.deadline = 10min});
    auto const alone = w.engine().start<waits_and_tidies>({.deadline = 30min});
    w.pass(11min);
    CHECK(w.status(busy.id()) == flow::run_status::expired);
    w.stop();
    w.clock().advance(1h);
    w.restart(place.again());
    w.settle();
    CHECK(w.status(alone.id()) == flow::run_status::expired);
    CHECK(outside().count("tidy") == 1);
    check_invariants(*w.store());
}

TEMPLATE_LIST_TEST_CASE("a run that has not begun by its deadline never begins; one that ended before it is left alone", "[engine][deadline]",
                        every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const late = w.engine().start<quick>({.delay = 2h, .deadline = 1h});
    auto const in_time = w.engine().start<quick>({.deadline = 1h});
    w.pass(3h);
    CHECK(w.status(late.id()) == flow::run_status::expired);
    CHECK(late.try_result().error().code() == flow::errc::run_expired);
    CHECK(in_time.result() == 1);
    CHECK(outside().count("quick") == 1);
    CHECK_THROWS_WITH(w.engine().start<quick>({.deadline = -1h}), Catch::Contains("bad_argument"));
    CHECK_THROWS_WITH(w.engine().start<quick>({.deadline = flow::duration::max()}), Catch::Contains("calendar"));
    check_invariants(*w.store());
}

TEMPLATE_LIST_TEST_CASE("a cancel before the deadline stays a cancel", "[engine][deadline]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const run = w.engine().start<waits_and_tidies>({.deadline = 1h});
    w.pass(30min);
    w.engine().cancel(run.id());
    w.pass(1h);
    CHECK(w.status(run.id()) == flow::run_status::cancelled);
    CHECK(row_of(w, run.id()).terminal_reason == "cancelled");
}

TEMPLATE_LIST_TEST_CASE("runs are found by tag and by age", "[engine][start]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const red = w.engine().start<quick>({.tags = "red,urgent"}).id();
    w.pass(1h);
    auto const both = w.engine().start<quick>({.tags = "urgent blue"}).id();
    w.settle();
    auto const found = [&](flow::run_filter f) {
        std::vector<flow::run_id> ids;
        for (auto const& row : w.engine().runs(f)) ids.push_back(row.id);
        return ids;
    };
    CHECK(found({.tag = "urgent"}) == std::vector{both, red});
    CHECK(found({.tag = "red"}) == std::vector{red});
    CHECK(found({.tag = "re"}).empty());
    CHECK(found({.until = w.clock().now() - 30min}) == std::vector{red});
    CHECK(found({.tag = "urgent", .since = w.clock().now() - 30min}) == std::vector{both});
}

TEST_CASE("waiting for many runs at once", "[engine][client]")
{
    flow::engine engine(flow::memory(), {.threads = 2, .log = nullptr});
    add_all(engine);
    std::vector<flow::any_run_handle> all{engine.start<waits_and_tidies>(), engine.start<quick>(), engine.start<quick>()};
    REQUIRE(engine.wait_for_any(all, 10s));
    CHECK(*engine.wait_for_any(all, 10s) != 0);
    CHECK_FALSE(engine.wait_for_all(all, 20ms));
    CHECK(engine.wait_for_all({all[1], all[2]}, 10s));
    CHECK_FALSE(engine.wait_for_any({all[0]}, 20ms));
    CHECK_FALSE(engine.wait_for_any({}, 10s));
    CHECK(engine.wait_for_all({}, 0ms));
    all[0].cancel();
    CHECK(engine.wait_for_all(all, 10s));
}
