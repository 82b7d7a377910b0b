// flow approve, flow reject, and what show and tokens say of questions.
#include <catch2/catch.hpp>

#include "calls.hpp"
#include "flow/flow.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace flow::test;
using namespace std::chrono_literals;
using Catch::Contains;

namespace {

flow::workflow<bool> asks()
{
    int const cents = 12000;
    auto const v = co_await flow::ask("refund", flow::question("Refund\x1b[31m?").about(cents).to("ann", "bob", "cy").quorum(2));
    co_return v.approved;
}
flow::workflow<int> how_many()
{
    auto const v = co_await flow::ask<int>("number", flow::question("How many?"));
    co_return v.approved ? *v.value : -1;
}
flow::workflow<bool> asks_soon()
{
    auto const v = co_await flow::ask("soon", flow::question("Now?").sla(1h));
    co_return v.approved;
}

}  // namespace

TEST_CASE("AT-53, AT-54 a question past its time names whom that concerns, a run in the queue its place", "[cli][people]")
{
    memory_stores place;
    world w(place.store, [](flow::engine& e) { e.add<asks_soon>("asks_soon"); });
    auto& on = w.engine();
    auto const run = to_string(on.start<asks_soon>().id());
    w.pass(59min);
    CHECK_THAT(call(on, {"show", run}, {.clock = &w.clock()}).out, !Contains("late by"));
    w.pass(2h);
    CHECK_THAT(call(on, {"show", run}, {.clock = &w.clock()}).out, Contains("late by 1 h 59 min") && Contains("for the process's owner"));

    flow::client other(w.store());
    auto const nothing = flow::args();
    other.start("elsewhere", nothing);
    w.clock().advance(1s);
    auto const second = to_string(other.start("elsewhere", nothing).id());
    w.clock().advance(1s);
    auto const third = to_string(other.start("elsewhere", nothing, {.priority = 7}).id());
    CHECK_THAT(call(on, {"show", second}).out, Contains("2 runs ahead") && Contains("an engine that has registered \"elsewhere\""));
    CHECK_THAT(call(on, {"show", third}).out, Contains("0 runs ahead"));
}

TEMPLATE_LIST_TEST_CASE("questions are shown with what was answered, and answered by approve and reject", "[cli][people]", every_store)
{
    TestType place;
    world w(place.store, [](flow::engine& e) {
        e.add<asks>("asks");
        e.add<how_many>("how_many");
    });
    auto& on = w.engine();
    auto const run = on.start<asks>().id(), number = on.start<how_many>().id();
    w.settle();
    auto const id = to_string(run);
    CHECK_THAT(call(on, {"tokens"}).out, Contains("QUESTION") && Contains("2 of ann, bob, cy") && Contains("How many?") && !Contains("\x1b"));
    auto const listed = call(on, {"tokens", "--json"}).json().as_object().at("questions").as_array();
    REQUIRE(listed.size() == 2);
    CHECK(listed[1].at("asks").at("needed") == 2);

    CHECK_THAT(call(on, {"approve", id, "--by", "ann", "--why", "fine"}).out, Contains("1 more are needed"));
    CHECK_THAT(call(on, {"approve", id, "--by", "ann", "--why", "fine"}).out, Contains("nothing was changed"));
    CHECK(call(on, {"reject", id, "--by", "ann"}).code == 3);
    CHECK(call(on, {"approve", id, "--by", "eve"}).code == 3);
    CHECK(call(on, {"approve", id, "--by", "bob", "--about", std::string(64, '0')}).code == 2);
    auto const shown = call(on, {"show", id});
    CHECK_THAT(shown.out, Contains("question of refund#0") && Contains("ann approved") && Contains("fine") && Contains("12000") &&
                              Contains("decided by 2 of ann, bob, cy") && Contains("approve ") && !Contains("\x1b"));
    auto const answered = call(on, {"approve", id, "--by", "bob", "--json"}).json().as_object();
    CHECK(answered.at("decided") == true);
    w.settle();
    CHECK(on.find(run).end().result == "true");
    // Who answered before it was decided is part of what happened.
    CHECK_THAT(call(on, {"show", id}).out, Contains("refund#0 was approved by ann") && Contains("bob"));
    CHECK(call(on, {"approve", id, "--by", "cy"}).code == 1);  // the run asks nothing any more

    CHECK(call(on, {"approve", to_string(number), "--value", "\"x\""}).code == 3);
    CHECK(call(on, {"approve", to_string(number), "--value", "{"}).code == 2);
    CHECK_THAT(call(on, {"reject", to_string(number)}).out, Contains("is rejected"));
    w.settle();
    CHECK(on.find(number).end().result == "-1");
    CHECK(call(on, {"approve", "ffffffff"}).code == 1);
}
