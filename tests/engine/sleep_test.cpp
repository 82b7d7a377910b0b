// Sleeps: the recorded instant counts, whatever happens meanwhile.
#include <catch2/catch.hpp>

#include <limits>

#include "flow/flow.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

flow::duration length{};

flow::workflow<int> sleeps()
{
    co_await flow::sleep_for(length);
    co_return 1;
}

flow::workflow<int> sleeps_until_recorded(int seconds)
{
    auto const start = co_await flow::now();
    co_await flow::sleep_until(start + std::chrono::seconds{seconds});
    co_return seconds;
}

void add_all(flow::engine& e)
{
    e.add<sleeps>("sleeps");
    e.add<sleeps_until_recorded>("sleeps_until_recorded");
}

int timers_in(world& w)
{
    flow::waitpoint_filter which;
    which.purpose = flow::waitpoint_purpose::timer;
    return static_cast<int>(w.engine().waitpoints(which).size());
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("TI-09 a sleep ends at the recorded instant however often the process restarts", "[engine][sleep]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    length = 10min;
    auto run = w.engine().start<sleeps>();
    w.pass(4min);
    w.stop();
    w.clock().advance(3min);
    length = 99min;  // what the code now asks for does not count
    w.restart();
    w.pass(3min - 1ms);
    CHECK(w.status(run.id()) == flow::run_status::waiting);
    w.pass(1ms);
    CHECK(w.status(run.id()) == flow::run_status::succeeded);
}

TEST_CASE("TD-17 five seconds make no waitpoint, a millisecond more makes one", "[engine][sleep]")
{
    memory_stores place;
    world w(place.store, add_all);
    length = 5000ms;
    w.engine().start<sleeps>();
    w.settle();
    CHECK(timers_in(w) == 0);
    length = 5001ms;
    w.engine().start<sleeps>();
    w.settle();
    CHECK(timers_in(w) == 1);
}

TEST_CASE("TI-07 lengths below a second are never early and round up to a millisecond", "[engine][sleep]")
{
    for (flow::duration const d : {flow::duration{1}, flow::duration{1ms}, flow::duration{250ms}, flow::duration{999ms}, flow::duration{1001ms}}) {
        memory_stores place;
        world w(place.store, add_all);
        length = d;
        auto run = w.engine().start<sleeps>();
        w.settle();
        auto const rounded = std::chrono::ceil<std::chrono::milliseconds>(d);
        w.pass(rounded - 1us);
        CHECK(w.status(run.id()) == flow::run_status::running);
        w.pass(1us);
        CHECK(w.status(run.id()) == flow::run_status::succeeded);
    }
}

TEST_CASE("TI-05 waits of years are not due a moment before and due once after", "[engine][sleep]")
{
    for (auto const days : {25, 50, 3650, 290 * 365}) {
        memory_stores place;
        world w(place.store, add_all);
        length = std::chrono::hours{24} * days;
        auto run = w.engine().start<sleeps>();
        w.pass(length - 1ms);
        CHECK(w.status(run.id()) == flow::run_status::waiting);
        w.pass(1ms);
        CHECK(w.status(run.id()) == flow::run_status::succeeded);
        CHECK(w.entries(run.id(), flow::entry_kind::woken) == 1);
    }
}

TEST_CASE("a length that is not finite or leaves the calendar is refused at the call", "[sleep]")
{
    using seconds = std::chrono::duration<double>;
    CHECK_THROWS_WITH(flow::sleep_for(seconds{std::numeric_limits<double>::quiet_NaN()}), Catch::Contains("bad_argument"));
    CHECK_THROWS_WITH(flow::sleep_for(seconds{std::numeric_limits<double>::infinity()}), Catch::Contains("bad_argument"));
    CHECK_THROWS_WITH(flow::sleep_for(std::chrono::hours::max()), Catch::Contains("bad_argument"));
}

TEMPLATE_LIST_TEST_CASE("RD-13 zero and negative lengths leave the same entries as positive ones", "[engine][sleep]", every_store)
{
    std::vector<std::vector<flow::entry_kind>> histories;
    for (int const seconds : {2, 0, -1}) {
        TestType place;
        world w(place.store, add_all);
        auto run = w.engine().start<sleeps_until_recorded>(seconds);
        w.pass(2s);
        CHECK(run.result() == seconds);
        std::vector<flow::entry_kind> kinds;
        for (auto const& e : w.journal(run.id()))
            if (e.kind != flow::entry_kind::snapshot) kinds.push_back(e.kind);
        histories.push_back(kinds);
    }
    CHECK(histories[0] == histories[1]);
    CHECK(histories[0] == histories[2]);
}

TEMPLATE_LIST_TEST_CASE("DW-04 a sleep that ended while nothing ran fires once at the next start", "[engine][sleep]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    length = 1h;
    auto run = w.engine().start<sleeps>();
    w.settle();
    w.stop();
    w.clock().advance(24h);
    w.restart();
    w.settle();
    CHECK(w.status(run.id()) == flow::run_status::succeeded);
    CHECK(w.entries(run.id(), flow::entry_kind::woken) == 1);
}
