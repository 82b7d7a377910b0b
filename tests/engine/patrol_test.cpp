// RG-06: a robot on patrol loses its power half-way. What is done is not driven again, and nothing drives off by itself.
#include <catch2/catch.hpp>

#include <functional>
#include <utility>

#include "engine/dying.hpp"
#include "flow/flow.hpp"
#include "support/stores.hpp"

using namespace std::chrono_literals;
using namespace flow::test;
using Catch::Contains;

namespace {

std::function<void()> power_fails;  // while driving to point 5
int stands_at = 0;                  // where somebody who looks finds it

void drive(int point)
{
    outside().note("drive to " + std::to_string(point));
    if (point == 5)
        if (auto const fails = std::exchange(power_fails, nullptr)) return fails();
    stands_at = point;
}

flow::workflow<int> patrols(bool can_look)
{
    int point = 0;
    while (point < 8) {
        ++point;
        if (can_look) {
            co_await flow::step("drive", flow::non_replayable, [&] { drive(point); }).reconcile([&] {
                outside().note("where am I");
                return stands_at == point ? flow::reconciled<void>::done() : flow::reconciled<void>::not_done();
            });
        } else {
            co_await flow::step("drive", flow::non_replayable, [&] { drive(point); });
        }
    }
    co_return point;
}

void add_all(flow::engine& e) { e.add<patrols>("patrols"); }

void check_each_once(int from, int to)
{
    for (int point = from; point <= to; ++point) CHECK(outside().count("drive to " + std::to_string(point)) == 1);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("RG-06 a patrol of eight points, the power fails on the way to the fifth", "[engine][robot]", every_store)
{
    dying_place<TestType> place;
    world w(place.open(), add_all);
    stands_at = 0;
    bool const can_look = GENERATE(true, false);
    bool const arrived = GENERATE(true, false);
    power_fails = [&] {
        if (arrived) stands_at = 5;
        place.cut_off();
    };
    auto const id = w.engine().template start<patrols>(can_look).id();
    w.settle();
    REQUIRE(outside().count("drive to 5") == 1);
    place.die(w);
    w.pass(24h);

    check_each_once(1, 4);
    if (can_look) {
        CHECK(outside().count("where am I") == 1);
        CHECK(outside().count("drive to 5") == (arrived ? 1 : 2));
    } else {
        CHECK(outside().count("drive to 6") == 0);
        CHECK(outside().count("drive to 5") == 1);  // it stands, and asks
        CHECK(w.view(id).waits_for.type == flow::wait_reason::kind::intervention);
        CHECK_THAT(w.view(id).waits_for.detail, Contains("not known whether drive#4 happened"));
        w.engine().decide(w.engine().intervention_of(id), arrived ? "complete" : "retry", arrived ? std::optional("null") : std::nullopt, "I looked", "operator");
        w.pass(1h);
        CHECK(outside().count("drive to 5") == (arrived ? 1 : 2));
    }
    check_each_once(6, 8);
    CHECK(flow::run_handle<int>(w.engine().find(id)).result() == 8);
}
