// Runs that only wait leave memory and come back by replay; runs that are paused stand still.
#include <catch2/catch.hpp>

#include <atomic>
#include <thread>

#include "flow/flow.hpp"
#include "flow/store_reader.hpp"
#include "support/eventually.hpp"
#include "support/invariants.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

int alive = 0;
struct counted {
    counted() { ++alive; }
    counted(counted const&) = delete;
    ~counted() { --alive; }
};

flow::workflow<int> waits(int n)
{
    counted const c;
    auto const first = co_await flow::step("first", flow::idempotent, [&] { return outside().note("first"), n; });
    auto const answer = co_await flow::wait_for_token<int>("answer");
    co_return first + answer;
}

flow::workflow<int> tidies_up()
{
    counted const c;
    auto const got = co_await flow::as_outcome(flow::wait_for_token<int>("answer"));
    if (!got) co_await flow::shield(flow::step("tidy", flow::idempotent, [] { outside().note("tidy"); }));
    co_return got.value();
}

flow::workflow<int> has_its_own_limit()
{
    counted const c;
    auto const token = co_await flow::make_token<int>("answer");
    auto const got = co_await flow::as_outcome(flow::wait_for_token(token, {.timeout = 2h}));
    co_return got ? *got : -1;
}

flow::workflow<int> in_doubt()
{
    counted const c;
    co_return co_await flow::step("pay", []() -> int { throw std::runtime_error("lost"); });
}

std::atomic<bool> let_go{false};
flow::workflow<int> works_on()
{
    auto const a = co_await flow::step("long", flow::idempotent, [] {
        outside().note("long");
        while (!let_go) std::this_thread::sleep_for(1ms);
        return 1;
    });
    co_return a + co_await flow::step("next", flow::idempotent, [] { return outside().note("next"), 2; });
}

void add_all(flow::engine& e)
{
    e.add<waits>("waits");
    e.add<tidies_up>("tidies_up");
    e.add<has_its_own_limit>("has_its_own_limit");
    e.add<in_doubt>("in_doubt");
    e.add<works_on>("works_on");
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a run that only waits leaves memory, is nobody's, and comes back when its wait is over", "[engine][wait][evict]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    alive = 0;
    auto const id = w.engine().start<waits>(30).id();
    w.settle();
    CHECK(alive == 1);
    w.pass(4s);
    CHECK(alive == 1);
    w.pass(2s);
    CHECK(alive == 0);
    auto const row = w.view(id).row;
    CHECK(row.status == flow::status_pair{flow::execution_status::suspended, flow::run_status::waiting});
    CHECK(row.owner == flow::owner_id::nobody);
    check_invariants(*place.store);
    CHECK(w.view(id).doing == "It waits for somebody to complete answer#0.");

    SECTION("completed here") { w.engine().complete_json(w.open_token(), "12"); }
    SECTION("completed by another process") { flow::client(place.again()).complete_json(w.open_token(), "12"); }
    SECTION("completed while no engine runs")
    {
        auto const token = w.open_token();
        w.stop();
        flow::client(place.again()).complete_json(token, "12");
        w.restart();
    }
    w.settle();
    CHECK(w.engine().find(id).end().result == "42");
    CHECK(outside().count("first") == 1);
    CHECK(alive == 0);
}

TEST_CASE("more waiting runs than may stay leave in the order they began to wait", "[engine][wait][evict]")
{
    memory_stores place;
    flow::engine_options o;
    o.evict_after = 1h;
    o.most_waiting = 5;
    world w(place.store, add_all, o);
    alive = 0;
    std::vector<flow::run_id> all;
    for (int i = 0; i < 20; ++i) all.push_back(w.engine().start<waits>(i).id());
    w.pass(1s);
    CHECK(alive == 5);
    for (auto const id : all) {
        w.engine().complete_json(w.view(id).open.at(0).row.id, "1");
        w.settle();
    }
    for (std::size_t i = 0; i < all.size(); ++i) CHECK(w.engine().find(all[i]).end().result == std::to_string(i + 1));
}

TEMPLATE_LIST_TEST_CASE("a run that is cancelled while it is not in memory cleans up", "[engine][evict][cancel]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    alive = 0;
    auto const id = w.engine().start<tidies_up>().id();
    w.pass(10s);
    CHECK(alive == 0);
    CHECK(w.engine().cancel(id, "enough") == flow::request_fate::taken);
    w.pass(10s);
    CHECK(w.status(id) == flow::run_status::cancelled);
    CHECK(outside().count("tidy") == 1);
    CHECK(w.view(id).open.empty());
    check_invariants(*place.store);
}

TEMPLATE_LIST_TEST_CASE("a decision waits without a frame", "[engine][evict]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    alive = 0;
    auto const doubtful = w.engine().start<in_doubt>();
    w.pass(1h);
    CHECK(alive == 0);
    w.engine().decide(w.engine().intervention_of(doubtful.id()), "complete", "9");
    w.settle();
    CHECK(doubtful.result() == 9);
}

TEMPLATE_LIST_TEST_CASE("a wait with a time limit of its own leaves memory, and ends at that limit or with the answer", "[engine][evict][wait]",
                        every_store)
{
    TestType place;
    world w(place.store, add_all);
    alive = 0;
    auto const limited = w.engine().start<has_its_own_limit>();
    w.pass(1h);
    CHECK(alive == 0);
    CHECK(w.status(limited.id()) == flow::run_status::waiting);
    auto const id = w.open_token();
    int ends_with = -1;
    SECTION("nobody answers") {}
    SECTION("nobody answers, and no engine runs when the time is over")
    {
        w.stop();
        w.clock().advance(10h);
        w.restart();
    }
    SECTION("it is answered out of memory")
    {
        w.engine().complete_json(id, "5");
        ends_with = 5;
    }
    SECTION("it is answered while the run is in memory")
    {
        w.restart();
        auto const again = w.engine().start<has_its_own_limit>();
        w.pass(1s);
        CHECK(alive == 1);
        for (auto const& t : w.view(again.id()).open) w.engine().complete_json(t.row.id, "6");
        w.pass(1s);
        CHECK(w.engine().find(again.id()).end().result == "6");
    }
    SECTION("it is cancelled")
    {
        w.engine().cancel(limited.id());
        w.settle();
        REQUIRE(w.status(limited.id()) == flow::run_status::cancelled);
        check_invariants(*w.store());
        return;
    }
    w.pass(2h);
    CHECK(w.engine().find(limited.id()).end().result == std::to_string(ends_with));
    CHECK(w.store()->next_due().value() == flow::never);  // no timer is left behind
    check_invariants(*w.store());
}

TEMPLATE_LIST_TEST_CASE("pausing lets what runs return, begins nothing, and gives the run up until it is resumed", "[engine][evict][pause]", every_store)
{
    TestType place;
    outside().clear();
    let_go = false;
    flow::engine_options o;
    o.threads = 2;
    o.log = nullptr;
    flow::engine engine(place.store, o);
    add_all(engine);
    auto const run = engine.start<works_on>();
    REQUIRE(eventually([&] { return outside().count("long") == 1; }));
    CHECK(engine.pause(run.id(), "lunch") == flow::request_fate::left_to_holder);
    REQUIRE(eventually([&] {
        auto const entries = engine.journal(run.id());
        return std::any_of(entries.begin(), entries.end(), [](auto const& e) { return e.kind == flow::entry_kind::request; });
    }));
    let_go = true;
    REQUIRE(eventually([&] { return run.status().run == flow::run_status::paused; }));
    CHECK(outside().count("next") == 0);
    CHECK(run.view().row.owner == flow::owner_id::nobody);
    CHECK(engine.resume(run.id()) == flow::request_fate::taken);
    CHECK(run.end().result == "3");
    CHECK(outside().all() == std::vector<std::string>{"long", "next"});
}

TEMPLATE_LIST_TEST_CASE("a run that is paused while it waits keeps what comes meanwhile", "[engine][evict][pause]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    bool const evicted = GENERATE(false, true);
    auto const id = w.engine().start<waits>(1).id();
    w.pass(evicted ? 10s : 1s);
    w.engine().pause(id);
    w.pass(10s);
    CHECK(w.status(id) == flow::run_status::paused);
    w.engine().complete_json(w.open_token(), "2");
    w.pass(10s);
    CHECK(w.status(id) == flow::run_status::paused);
    w.engine().resume(id);
    w.settle();
    CHECK(w.engine().find(id).end().result == "3");
}

TEST_CASE("a run that is being cancelled is not paused: its clean-up runs", "[engine][evict][pause][cancel]")
{
    memory_stores place;
    world w(place.store, add_all);
    auto const id = w.engine().start<tidies_up>().id();
    w.settle();
    w.engine().pause(id);
    w.engine().cancel(id);
    w.engine().pause(id);
    w.pass(10s);
    CHECK(w.status(id) == flow::run_status::cancelled);
    CHECK(outside().count("tidy") == 1);
}
