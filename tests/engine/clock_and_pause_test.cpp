// Time that jumps, time that passed while nobody ran, and runs that are paused meanwhile.
#include <catch2/catch.hpp>

#include "flow/flow.hpp"
#include "support/invariants.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

flow::workflow<int> sleeps(int seconds)
{
    co_await flow::sleep_for(std::chrono::seconds{seconds});
    co_await flow::step("woke", flow::idempotent, [&] { outside().note("woke " + std::to_string(seconds)); });
    co_return seconds;
}

flow::workflow<int> has_a_limit()
{
    auto const got = co_await flow::as_outcome(flow::wait_for_token<int>("never", {.timeout = 10s}));
    co_return got ? *got : -1;
}

flow::workflow<int> races_a_timer()
{
    auto const first = co_await flow::any(flow::sleep_for(1h), flow::wait_for_token<int>("answer"));
    co_return static_cast<int>(first.index());
}

flow::workflow<int> works_sleeps_waits()
{
    co_await flow::step("work", flow::idempotent, [] { outside().note("work"); });
    co_await flow::step("more", flow::idempotent, [] { outside().note("more"); });
    co_await flow::sleep_for(1h);
    co_await flow::step("slept", flow::idempotent, [] { outside().note("slept"); });
    auto const e = co_await flow::wait_for_event<int>("go");
    co_await flow::step("got", flow::idempotent, [] { outside().note("got"); });
    co_return e;
}

void add_all(flow::engine& e)
{
    e.add<sleeps>("sleeps");
    e.add<has_a_limit>("has_a_limit");
    e.add<races_a_timer>("races_a_timer");
    e.add<works_sleeps_waits>("works_sleeps_waits");
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("TI-01: the wall clock is set back two hours, and nothing is late", "[engine][timer]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    bool const evicted = GENERATE(false, true);
    auto const sleeper = w.engine().start<sleeps>(10).id(), limited = w.engine().start<has_a_limit>().id();
    w.pass(evicted ? 7s : 2s);
    w.clock().jump(-2h);
    auto const begun_after = w.engine().start<sleeps>(3).id();
    w.pass(evicted ? 3s : 8s);
    w.pass(50ms);  // one poll
    CHECK(w.status(sleeper) == flow::run_status::succeeded);
    CHECK(w.status(limited) == flow::run_status::succeeded);
    CHECK(w.engine().find(limited).end().result == "-1");
    CHECK(w.status(begun_after) == flow::run_status::succeeded);
}

TEMPLATE_LIST_TEST_CASE("the wall clock is set forward: what is due by then is due", "[engine][timer]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const sleeper = w.engine().start<sleeps>(7200).id();
    w.pass(2s);
    w.clock().jump(3h);
    w.pass(1s);
    CHECK(w.status(sleeper) == flow::run_status::succeeded);
}

TEMPLATE_LIST_TEST_CASE("TI-04: what fell due while nobody ran fires once each, in due order, a bounded number at a time", "[engine][timer]", every_store)
{
    TestType place;
    flow::engine_options few;
    few.most_running = 10;  // bounded: not a thousand frames at once
    world w(place.store, add_all, few);
    constexpr int count = 1000;
    auto const due = [](int i) { return 60 + (i * 7) % count; };  // in an order other than that of their ages
    for (int i = 0; i < count; ++i) w.engine().start<sleeps>(due(i));
    w.settle();
    w.pass(10s);
    w.stop();
    w.clock().advance(24h);
    w.restart();
    w.settle();
    std::vector<std::string> in_due_order;
    for (int i = 0; i < count; ++i) in_due_order.push_back("woke " + std::to_string(60 + i));
    CHECK(outside().all() == in_due_order);
    check_invariants(*place.store);
}

TEMPLATE_LIST_TEST_CASE("TI-10: a timer is fired or withdrawn, once, whenever its run is cancelled and however often", "[engine][timer][cancel]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const id = w.engine().start<races_a_timer>().id();
    enum class when { before_it_began, while_armed, after_it_fired, after_it_lost };
    auto const at = GENERATE(when::before_it_began, when::while_armed, when::after_it_fired, when::after_it_lost);
    CAPTURE(static_cast<int>(at));
    if (at != when::before_it_began) w.settle();
    if (at == when::after_it_fired) w.pass(2h);
    if (at == when::after_it_lost) {
        w.engine().complete_json(w.open_token(), "1");
        w.settle();
    }
    bool const over = at == when::after_it_fired || at == when::after_it_lost;
    for (int i = 0; i < 2; ++i) {
        auto const fate = w.engine().cancel(id, "again");
        CHECK((fate == flow::request_fate::ended_before) == (over || i == 1));
        w.settle();
    }
    CHECK(w.status(id) == (over ? flow::run_status::succeeded : flow::run_status::cancelled));
    CHECK(w.entries(id, flow::entry_kind::woken) <= 1);
    flow::waitpoint_filter open;
    open.status = flow::waitpoint_status::pending;
    CHECK(w.engine().waitpoints(open).empty());
    w.pass(5h);
    check_invariants(*place.store);
}

TEMPLATE_LIST_TEST_CASE("UX-09: paused in a sleep and in a wait, over restarts: what is due or told meanwhile is acted on at resume", "[engine][pause]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto& p = w;
    auto const id = w.engine().start<works_sleeps_waits>().id();
    auto const pause = [&] {
        p.engine().pause(id, "lunch", "ann");
        p.settle();
    };
    auto const restart_and_resume = [&] {
        CHECK(p.status(id) == flow::run_status::paused);
        p.restart();
        p.pass(10s);
        CHECK(p.status(id) == flow::run_status::paused);
        p.engine().resume(id);
        p.settle();
    };
    w.settle();  // (In a step: eviction_test, on threads of the engine's own.)
    // In a sleep that falls due meanwhile.
    pause();
    w.pass(2h);
    CHECK(outside().count("slept") == 0);
    restart_and_resume();
    CHECK(outside().count("slept") == 1);
    // In a wait that ends meanwhile.
    pause();
    w.engine().send(id, "go", 5);
    w.pass(10s);
    CHECK(outside().count("got") == 0);
    restart_and_resume();
    CHECK(w.engine().find(id).end().result == "5");
    CHECK(outside().all() == std::vector<std::string>{"work", "more", "slept", "got"});
}

TEST_CASE("a run that is paused while nobody holds it still says what it waits for", "[engine][pause]")
{
    memory_stores place;
    flow::engine_options o;
    o.evict_after = 0s;
    world w(place.store, add_all, o);
    auto const id = w.engine().start<works_sleeps_waits>().id();
    w.pass(1s);
    REQUIRE(w.view(id).row.status.execution == flow::execution_status::suspended);
    w.engine().pause(id, "lunch");
    auto const v = w.view(id);
    CHECK(v.row.status.run == flow::run_status::paused);
    CHECK(v.waits_for.type == flow::wait_reason::kind::timer);
    CHECK_FALSE(v.waits_for.name.empty());
}
