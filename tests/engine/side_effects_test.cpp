// The three side-effect classes: what runs again, what does not, and when a person is asked.
#include <catch2/catch.hpp>

#include "flow/flow.hpp"
#include "support/invariants.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

struct receipt {
    std::string id;
    int cents = 0;
    friend bool operator==(receipt const&, receipt const&) = default;
};

flow::workflow<receipt> three_classes(int cents)
{
    auto const doubled = co_await flow::step("double", flow::replayable, [&] {
        outside().note("double");
        return cents * 2;
    });
    auto const reserved = co_await flow::step("reserve", flow::idempotent, [&](flow::attempt& a) {
        outside().note("reserve " + std::string(a.key()));
        return doubled + 1;
    });
    auto const paid = co_await flow::step("pay", flow::non_replayable, [&](flow::attempt& a) {
        outside().note("pay");
        a.commit_ref("bank-7");
        return receipt{"r-1", reserved};
    });
    co_return paid;
}

int failures_left = 0;

flow::workflow<int> fails_first(int retries)
{
    co_return co_await flow::step("flaky", flow::idempotent,
                                  [&](flow::attempt& a) {
                                      outside().note("flaky " + std::to_string(a.number()));
                                      if (failures_left-- > 0) throw std::runtime_error("not yet");
                                      return a.number();
                                  },
                                  {.retry = {.max_attempts = static_cast<std::uint16_t>(retries), .first_delay = 1s}});
}

flow::workflow<std::string> pays_and_fails()
{
    auto const r = co_await flow::step("pay", [&]() -> std::string {
        outside().note("pay");
        throw std::runtime_error("connection lost");
    });
    co_return r;
}

bool happened = false;

flow::workflow<std::string> pays_and_asks()
{
    co_return co_await flow::step("pay", [&]() -> std::string {
        outside().note("pay");
        throw std::runtime_error("connection lost");
    }).reconcile([](flow::attempt& a) {
        outside().note(a.key() == a.step_key() ? "same key" : "ask");
        return happened ? flow::reconciled<std::string>::done("found") : flow::reconciled<std::string>::unknown();
    });
}

flow::workflow<int> gives_up_early()
{
    auto const r = co_await flow::as_outcome(flow::step("try", flow::idempotent, [&]() -> int {
        outside().note("try");
        throw flow::permanent_error("no such account");
    }));
    co_return r ? 0 : r.error().attempts();
}

flow::workflow<std::string> goes_on_when_skipped()
{
    auto const paid = co_await flow::as_outcome(flow::step("pay", []() -> int { throw std::runtime_error("connection lost"); }));
    auto const mailed = co_await flow::as_outcome(flow::step("mail", [] { throw std::runtime_error("connection lost"); }));
    co_await flow::wait_for_token<int>("go");
    co_return std::string(paid ? "paid" : flow::row_of(paid.error().code()).name) + (mailed ? ", void" : ", not mailed");
}

void add_all(flow::engine& e)
{
    e.add<goes_on_when_skipped>("goes_on_when_skipped");
    e.add<three_classes>("three_classes");
    e.add<fails_first>("fails_first");
    e.add<pays_and_fails>("pays_and_fails");
    e.add<pays_and_asks>("pays_and_asks");
    e.add<gives_up_early>("gives_up_early");
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("each class runs its function once and journals its output", "[engine][step]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto run = w.engine().start<three_classes>(21);
    w.settle();

    CHECK(run.result() == receipt{"r-1", 43});
    CHECK(outside().count("double") == 1);
    CHECK(outside().count("pay") == 1);
    CHECK(w.entries(run.id(), flow::entry_kind::step) == 3);
    CHECK(w.entries(run.id(), flow::entry_kind::intent) == 1);
    auto const v = w.view(run.id());
    REQUIRE(v.steps.size() == 3);
    CHECK(v.steps[2].commit_ref == "bank-7");
    CHECK(v.steps[2].status == flow::step_status::completed);
}

TEMPLATE_LIST_TEST_CASE("RS-01 a finished run is not executed again by the next engine", "[engine][replay]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto run = w.engine().start<three_classes>(21);
    w.settle();
    w.restart();
    w.settle();
    CHECK(w.engine().find(run.id()).status().run == flow::run_status::succeeded);
    CHECK(outside().count("pay") == 1);
}

TEST_CASE("a failed attempt is made again after the policy's delay, with the same key", "[engine][step]")
{
    memory_stores place;
    world w(place.store, add_all);
    failures_left = 2;
    auto run = w.engine().start<fails_first>(3);
    w.settle();
    CHECK(outside().count("flaky 1") == 1);
    CHECK(outside().count("flaky 2") == 0);
    w.pass(999ms);
    CHECK(outside().count("flaky 2") == 0);
    w.pass(1ms);
    CHECK(outside().count("flaky 2") == 1);
    w.pass(2s);
    CHECK(run.result() == 3);
    CHECK(w.entries(run.id(), flow::entry_kind::attempt_failed) == 2);
}

TEST_CASE("a step fails for good when its attempts are used up", "[engine][step]")
{
    memory_stores place;
    world w(place.store, add_all);
    failures_left = 100;
    auto run = w.engine().start<fails_first>(3);
    w.pass(1min);
    auto const r = run.try_result();
    REQUIRE(!r);
    CHECK(r.error().code() == flow::errc::step_failed);
    CHECK(r.error().message() == "not yet");
    CHECK(r.error().attempts() == 3);
    CHECK(r.error().place() == "flaky#0");
}

TEST_CASE("flow::permanent_error is not tried again", "[engine][step]")
{
    memory_stores place;
    world w(place.store, add_all);
    auto run = w.engine().start<gives_up_early>();
    w.pass(1min);
    CHECK(run.result() == 1);
    CHECK(outside().count("try") == 1);
}

TEMPLATE_LIST_TEST_CASE("a non_replayable step that threw is in doubt: a person decides", "[engine][step][intervention]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto run = w.engine().start<pays_and_fails>();
    w.pass(1h);
    REQUIRE(w.status(run.id()) == flow::run_status::waiting);
    CHECK(outside().count("pay") == 1);
    auto const v = w.view(run.id());
    CHECK(v.waits_for.type == flow::wait_reason::kind::intervention);
    REQUIRE(v.open.size() == 1);
    CHECK(v.open.front().choices == std::vector<std::string>{"retry", "complete", "skip", "fail", "cancel"});
    CHECK(v.open.front().output_shape == "str");

    auto const which = w.engine().intervention_of(run.id());
    SECTION("complete with an output")
    {
        w.engine().decide(which, "complete", R"("r-9")", "the bank says so", "alice");
        w.settle();
        CHECK(run.result() == "r-9");
        CHECK(outside().count("pay") == 1);
    }
    SECTION("retry runs it again, by that decision only")
    {
        w.engine().decide(which, "retry");
        w.pass(1h);
        CHECK(outside().count("pay") == 2);
        CHECK(w.status(run.id()) == flow::run_status::waiting);
    }
    SECTION("fail")
    {
        w.engine().decide(which, "fail", std::nullopt, "refunded by hand", "bob");
        w.settle();
        CHECK(run.try_result().error().code() == flow::errc::effect_unknown);
        CHECK(outside().count("pay") == 1);
    }
    SECTION("skip: the await throws")
    {
        w.engine().decide(which, "skip");
        w.settle();
        CHECK(run.try_result().error().code() == flow::errc::step_skipped);
    }
    SECTION("cancel")
    {
        w.engine().decide(which, "cancel");
        w.settle();
        CHECK(w.status(run.id()) == flow::run_status::cancelled);
    }
    SECTION("a choice that is not offered is refused and changes nothing")
    {
        CHECK_THROWS_WITH(w.engine().decide(which, "explode"), Catch::Contains("choose one of: retry, complete, skip, fail, cancel"));
        CHECK_THROWS_WITH(w.engine().decide(which, "complete", "42"), Catch::Contains("wrong_shape"));
        w.settle();
        CHECK(w.status(run.id()) == flow::run_status::waiting);
    }
    SECTION("the engine restarts first")
    {
        w.restart();
        w.settle();
        CHECK(w.engine().intervention_of(run.id()) == which);
        w.engine().decide(which, "complete", R"("later")");
        w.settle();
        CHECK(w.engine().find(run.id()).end().result == R"("later")");
        CHECK(outside().count("pay") == 1);
    }
}

TEMPLATE_LIST_TEST_CASE("a step that was skipped is skipped again on replay", "[engine][step][intervention][replay]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const id = w.engine().start<goes_on_when_skipped>().id();
    for (auto const* of : {"a payment", "a mail"}) {
        CAPTURE(of);
        w.settle();
        w.engine().decide(w.engine().intervention_of(id), "skip");
    }
    w.settle();
    bool const replayed = GENERATE(false, true);
    if (replayed) w.restart();
    w.pass(1min);
    CHECK(w.entries(id, flow::entry_kind::step_skipped) == 2);
    CHECK(w.entries(id, flow::entry_kind::step_failed) == 0);
    w.engine().complete_json(w.open_token(), "1");
    w.settle();
    CHECK(w.engine().find(id).end().result == R"("step_skipped, void")");
    check_invariants(*w.store());
}

TEST_CASE("reconcile settles a doubt without asking a person", "[engine][step]")
{
    memory_stores place;
    world w(place.store, add_all);
    happened = true;
    auto run = w.engine().start<pays_and_asks>();
    w.settle();
    CHECK(run.result() == "found");
    CHECK(outside().count("pay") == 1);
    CHECK(outside().count("ask") == 1);
    CHECK(outside().count("same key") == 0);
}

TEST_CASE("reconcile that does not know leaves it to a person", "[engine][step]")
{
    memory_stores place;
    world w(place.store, add_all);
    happened = false;
    auto run = w.engine().start<pays_and_asks>();
    w.settle();
    CHECK(w.view(run.id()).waits_for.type == flow::wait_reason::kind::intervention);
    w.restart();
    w.settle();
    CHECK(outside().count("ask") == 1);  // its answer was recorded
}
