// DW-12: the four ways in which a durable wait can go wrong.
#include <catch2/catch.hpp>

#include "engine/dying.hpp"
#include "flow/flow.hpp"
#include "support/invariants.hpp"
#include "support/stores.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

flow::workflow<std::string> waits_for_the_webhook()
{
    auto const token = co_await flow::make_token<std::string>("webhook");
    co_await flow::step("ask", flow::idempotent, [] { outside().note("ask"); });
    co_await flow::sleep_for(1h);
    auto const answer = co_await flow::wait_for_token(token);
    co_await flow::step("go on", flow::idempotent, [] { outside().note("go on"); });
    co_return answer;
}

flow::workflow<std::string> waits_for_an_hour()
{
    auto const answer = co_await flow::as_outcome(flow::wait_for_token<std::string>("webhook", {.timeout = 1h}));
    co_await flow::step("go on", flow::idempotent, [] { outside().note("go on"); });
    co_return answer ? *answer : std::string("nobody");
}

flow::workflow<int> sleeps_for_an_hour()
{
    co_await flow::sleep_for(1h);
    co_await flow::step("go on", flow::idempotent, [] { outside().note("go on"); });
    co_return 1;
}

void add_all(flow::engine& e)
{
    e.add<waits_for_the_webhook>("waits_for_the_webhook");
    e.add<waits_for_an_hour>("waits_for_an_hour");
    e.add<sleeps_for_an_hour>("sleeps_for_an_hour");
}

enum class kind { a_sleep, a_time_limit, an_answer };

/// How often the run was let go on.
int continued(world& w, flow::run_id id)
{
    int n = 0;
    for (auto const& e : w.journal(id)) n += e.kind == flow::entry_kind::snapshot && e.name == "unblock";
    return n;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("DW-12 restart while waiting: it waits on for the same, and goes on once", "[engine][wait]", every_store)
{
    bool const orderly = GENERATE(true, false);
    CAPTURE(orderly);
    dying_place<TestType> place;
    world w(place.open(), add_all);
    auto const id = w.engine().template start<waits_for_the_webhook>().id();
    w.pass(2h);
    auto const token = w.open_token("webhook");
    for (int i = 0; i < 3; ++i) {
        if (orderly) w.restart();
        else place.die(w);
        w.pass(1h);
        CHECK(w.status(id) == flow::run_status::waiting);
        CHECK(w.open_token("webhook") == token);
    }
    CHECK(outside().all() == std::vector<std::string>{"ask"});
    w.engine().complete_json(token, R"("paid")");
    w.settle();
    CHECK(w.view(id).result == R"("paid")");
    CHECK(outside().all() == std::vector<std::string>{"ask", "go on"});
    CHECK(w.entries(id, flow::entry_kind::wait) == 1);
    CHECK(w.entries(id, flow::entry_kind::waited) == 1);
    check_invariants(*place.look());
}

TEMPLATE_LIST_TEST_CASE("DW-12 event first: what was answered before anybody waited is not lost, not even by a crash", "[engine][wait]",
                        every_store)
{
    bool const dies = GENERATE(false, true);
    CAPTURE(dies);
    dying_place<TestType> place;
    world w(place.open(), add_all);
    auto const id = w.engine().template start<waits_for_the_webhook>().id();
    w.settle();  // it sleeps: the wait comes in an hour
    CHECK(w.entries(id, flow::entry_kind::wait) == 0);
    w.engine().complete_json(w.open_token("webhook"), R"("early")");
    if (dies) place.die(w);
    w.pass(2h);
    CHECK(w.view(id).result == R"("early")");
    CHECK(w.entries(id, flow::entry_kind::waited) == 1);
    CHECK(outside().all() == std::vector<std::string>{"ask", "go on"});
    check_invariants(*place.look());
}

TEMPLATE_LIST_TEST_CASE("DW-12 the same webhook three times is one transition", "[engine][wait]", every_store)
{
    bool const run_goes_on_between = GENERATE(true, false);
    CAPTURE(run_goes_on_between);
    dying_place<TestType> place;
    world w(place.open(), add_all);
    auto const id = w.engine().template start<waits_for_the_webhook>().id();
    w.pass(2h);
    auto const before = continued(w, id);
    auto const token = w.open_token("webhook");
    std::vector<bool> counted;
    for (int i = 0; i < 3; ++i) {
        counted.push_back(w.engine().complete_json(token, R"("paid")"));
        if (run_goes_on_between) w.settle();
    }
    w.settle();
    CHECK(counted == std::vector<bool>{true, false, false});
    CHECK(w.view(id).result == R"("paid")");
    CHECK(continued(w, id) == before + 1);
    CHECK(w.entries(id, flow::entry_kind::waited) == 1);
    CHECK(outside().count("go on") == 1);
    check_invariants(*place.look());
}

TEMPLATE_LIST_TEST_CASE("DW-12 due but crash before enqueue: the next engine wakes it, once", "[engine][wait]", every_store)
{
    auto const wait = GENERATE(kind::a_sleep, kind::a_time_limit, kind::an_answer);
    bool const in_the_act = GENERATE(true, false);
    CAPTURE(static_cast<int>(wait), in_the_act);
    dying_place<TestType> place;
    world w(place.open(), add_all);
    auto const id = wait == kind::a_sleep ? w.engine().template start<sleeps_for_an_hour>().id()
                                          : w.engine().template start<waits_for_an_hour>().id();
    w.settle();
    REQUIRE(w.status(id) == flow::run_status::waiting);
    auto const token = wait == kind::an_answer ? w.open_token("webhook") : flow::waitpoint_id{};
    auto const falls_due = [&] {
        if (wait == kind::an_answer) flow::client(place.look()).complete_json(token, R"("paid")");
        else w.clock().advance(1h);
    };
    if (in_the_act) {
        place.plan(1, fault::lose);
        falls_due();
        w.settle();
        REQUIRE(place.reached());
        place.kill(w);
    } else {
        place.kill(w);
        falls_due();
    }
    CHECK(outside().all().empty());
    w.restart(place.open());
    w.settle();
    CHECK(w.view(id).result ==
          (wait == kind::a_sleep ? "1" : wait == kind::an_answer ? R"("paid")" : R"("nobody")"));
    CHECK(continued(w, id) == 1);
    CHECK(outside().count("go on") == 1);
    check_invariants(*place.look());
}
