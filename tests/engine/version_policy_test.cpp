// P47: runs of a version that no living engine has.
#include <catch2/catch.hpp>

#include "flow/flow.hpp"
#include "flow/store_reader.hpp"
#include "support/invariants.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

flow::workflow<std::string> looks(int n)
{
    auto const a = co_await flow::step("look", flow::replayable, [&] { return outside().note("look 1"), n; });
    bool const patched = co_await flow::patched("p");
    co_await flow::sleep_for(3s);
    co_return "version 1 saw " + std::to_string(a) + (patched ? "" : " old");
}
flow::workflow<std::string> looks_2(int n)
{
    co_await flow::sleep_for(1s);
    bool const patched = co_await flow::patched("p");
    auto const b = co_await flow::step("look", flow::replayable, [&] { return outside().note("look 2"), n + 100; });
    co_return "version 2 saw " + std::to_string(b) + (patched ? "" : " old");
}
flow::workflow<std::string> pays(int n)
{
    auto const key = co_await flow::step("pay", flow::idempotent, [](flow::attempt& a) { return outside().note("pay"), std::string(a.key()); });
    co_await flow::sleep_for(3s);
    co_return key + std::to_string(n);
}
flow::workflow<int> pays_and_waits()
{
    co_await flow::step("pay", flow::non_replayable, [] { outside().note("pay"); });
    co_return co_await flow::wait_for_token<int>("answer");
}
flow::workflow<int> waits_2() { co_return 2; }
flow::workflow<std::string> pays_2(int) { co_return "paid by version 2"; }

flow::workflow<int> sleeps_long()
{
    co_await flow::sleep_for(1h);
    co_return 1;
}
flow::workflow<int> sleeps_long_2() { co_return co_await flow::wait_for_token<int>("answer"); }

void first(flow::engine& e)
{
    e.add<looks>("looks");
    e.add<pays>("pays");
}
void second(flow::engine& e)
{
    e.add<looks_2>("looks", flow::version{2});
    e.add<pays_2>("pays", flow::version{2});
}
void both(flow::engine& e)
{
    first(e);
    second(e);
}

/// Time passes as in an engine that looks around all the while.
void pass(world& w, std::chrono::seconds d)
{
    for (auto t = 0s; t < d; t += 1s) w.pass(1s);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("P47 nothing but replayable steps has begun: the run begins anew with the newest version", "[engine][version]", every_store)
{
    TestType place;
    world w(place.store, first);
    auto const id = w.engine().start<looks>(7).id();
    w.pass(1s);
    REQUIRE(outside().count("look 1") == 1);
    w.restart(place.again(), second);
    pass(w, 20s);
    CHECK(w.status(id) == flow::run_status::queued);  // perhaps its version comes back
    pass(w, 30s);
    REQUIRE(w.status(id) == flow::run_status::succeeded);
    CHECK(w.engine().find(id).end().result == "\"version 2 saw 107\"");
    CHECK(w.view(id).row.version == 2);
    CHECK(w.view(id).segment == 0);
    check_invariants(*w.store());
}

TEMPLATE_LIST_TEST_CASE("P47 a run that begins anew behind a sleep leaves memory where the new code waits", "[engine][version][evict]", every_store)
{
    TestType place;
    world w(place.store, [](flow::engine& e) { e.add<sleeps_long>("sleeps"); });
    auto const id = w.engine().start<sleeps_long>().id();
    w.pass(10s);
    w.engine().pause(id);
    w.settle();
    w.engine().resume(id);  // into the queue, where it is found that its version is gone
    w.restart(place.again(), [](flow::engine& e) { e.add<sleeps_long_2>("sleeps", flow::version{2}); });
    pass(w, 60s);
    w.engine().decide(w.engine().intervention_of(id), "restart");
    w.stop();
    bool const over = GENERATE(false, true);
    if (over) w.clock().advance(2h);
    w.restart(place.again());
    pass(w, 60s);
    REQUIRE(w.view(id).row.version == 2);
    CHECK(w.view(id).row.status == flow::status_pair{flow::execution_status::suspended, flow::run_status::waiting});
    w.engine().complete_json(w.open_token(), "3");
    w.settle();
    CHECK(w.engine().find(id).end().result == "3");
    check_invariants(*w.store());
}

TEMPLATE_LIST_TEST_CASE("P47 a run whose wait is over when its version is gone is asked about, and keeps what it was told", "[engine][version][wait]", every_store)
{
    TestType place;
    world w(place.store, [](flow::engine& e) { e.add<pays_and_waits>("waits"); });
    auto const id = w.engine().start<pays_and_waits>().id();
    bool const evicted = GENERATE(true, false);
    w.pass(evicted ? 1h : 1s);
    auto const token = w.open_token();
    w.stop();
    auto const told = [&] { flow::client(place.again()).complete_json(token, "5"); };
    bool const before = GENERATE(true, false);  // the question
    if (before) told();
    w.restart(place.again(), [](flow::engine& e) { e.add<waits_2>("waits", flow::version{2}); });
    pass(w, 60s);
    if (!evicted && !before) return;  // it waits, and needs no code: its owner's death is found when somebody has the version
    if (!before) {
        told();
        pass(w, 60s);
    }
    REQUIRE(w.status(id) == flow::run_status::held);
    REQUIRE(w.view(id).open.size() == 1);
    w.pass(1h);
    CHECK(w.status(id) == flow::run_status::held);  // nothing but the decision, or its version, calls it back
    SECTION("its version is back") {}
    SECTION("decided while no engine runs, and its version is back")
    {
        auto const question = w.engine().intervention_of(id);
        w.stop();
        flow::client(place.again()).decide(question, "wait");
    }
    w.restart(place.again(), [](flow::engine& e) { e.add<pays_and_waits>("waits"); });
    pass(w, 20s);
    REQUIRE(w.status(id) == flow::run_status::succeeded);
    CHECK(w.engine().find(id).end().result == "5");
    check_invariants(*w.store());
}

TEMPLATE_LIST_TEST_CASE("P47 a decision is about the version that was asked about, whoever carries it out", "[engine][version]", every_store)
{
    TestType place;
    world w(place.store, first);
    auto const id = w.engine().start<pays>(1).id();
    w.pass(1s);
    w.restart(place.again(), second);
    pass(w, 60s);
    auto const question = w.engine().intervention_of(id);
    w.stop();
    flow::client(place.again()).decide(question, "restart");
    w.restart(place.again(), first);  // the old code comes back first
    pass(w, 20s);
    CHECK(w.view(id).row.version == 2);
    CHECK(w.status(id) == flow::run_status::queued);
    w.restart(place.again(), second);
    pass(w, 20s);
    REQUIRE(w.status(id) == flow::run_status::succeeded);
    CHECK(w.engine().find(id).end().result == "\"paid by version 2\"");
    CHECK(outside().count("pay") == 1);
}

TEMPLATE_LIST_TEST_CASE("PR-01 P47 a run that never began begins with the newest version", "[engine][version]", every_store)
{
    TestType place;
    world w(place.store, second);
    flow::client client(place.again());
    auto const run = client.start("pays", flow::args(1));
    pass(w, 60s);
    REQUIRE(run.status().run == flow::run_status::succeeded);
    CHECK(run.end().result == "\"paid by version 2\"");
}

namespace {

/// A run of version 1 that has paid and waits, on an engine that has version 2 only: long enough that somebody is asked.
flow::run_id asks_about_its_version(world& w, flow::store_ptr const& again)
{
    auto const id = w.engine().start<pays>(1).id();
    w.pass(1s);
    REQUIRE(outside().count("pay") == 1);
    w.restart(again, second);
    pass(w, 60s);
    auto const view = w.view(id);
    REQUIRE(view.row.status.run == flow::run_status::held);
    REQUIRE(view.open.size() == 1);
    CHECK_THAT(view.open[0].question, Catch::Contains("version 1") && Catch::Contains("pays") && Catch::Contains("Version 2 is here"));
    CHECK(view.open[0].choices == std::vector<std::string>{"wait", "adopt", "restart", "fail", "cancel"});
    CHECK_THAT(view.unblocked_by, Catch::Contains("flow decide"));
    return id;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("P47 more than replayable steps has begun: somebody is asked, and it goes on when its version is back",
                        "[engine][version]", every_store)
{
    TestType place;
    world w(place.store, first);
    auto const id = asks_about_its_version(w, place.again());
    SECTION("nobody has decided") {}
    SECTION("decided: wait for it")
    {
        w.engine().decide(w.engine().intervention_of(id), "wait");
        pass(w, 60s);
        REQUIRE(w.status(id) == flow::run_status::held);
        CHECK(w.view(id).waits_for.id == "no_version");
    }
    SECTION("decided: wait, and thought better of it")
    {
        w.engine().decide(w.engine().intervention_of(id), "wait");
        pass(w, 10s);
        REQUIRE(w.status(id) == flow::run_status::held);
        w.engine().resume(id);
        pass(w, 60s);
        REQUIRE(w.status(id) == flow::run_status::held);
        CHECK(w.view(id).open.size() == 1);
    }
    w.restart(place.again(), both);
    pass(w, 20s);
    REQUIRE(w.status(id) == flow::run_status::succeeded);
    CHECK(w.engine().find(id).end().result.ends_with("1\""));
    CHECK(w.view(id).row.version == 1);
    CHECK(outside().count("pay") == 1);
    check_invariants(*w.store());
}

TEMPLATE_LIST_TEST_CASE("P47 what a person decides about a run whose version is gone", "[engine][version]", every_store)
{
    TestType place;
    world w(place.store, first);
    auto const id = asks_about_its_version(w, place.again());
    auto const decide = [&](std::string_view choice) {
        w.engine().decide(w.engine().intervention_of(id), choice, std::nullopt, "the old code is deleted", "alice");
        pass(w, 20s);
    };
    SECTION("adopt: the new code goes on, or is held where it does not fit")
    {
        decide("adopt");
        REQUIRE(w.status(id) == flow::run_status::held);
        CHECK(w.view(id).waits_for.id == "nondeterminism");
        CHECK(w.view(id).row.version == 2);
    }
    SECTION("restart: from the beginning, with the new code")
    {
        decide("restart");
        REQUIRE(w.status(id) == flow::run_status::succeeded);
        CHECK(w.engine().find(id).end().result == "\"paid by version 2\"");
    }
    SECTION("fail")
    {
        decide("fail");
        REQUIRE(w.status(id) == flow::run_status::failed);
        CHECK(w.engine().find(id).end().failure->code() == flow::errc::no_version);
        CHECK_THAT(std::string(w.engine().find(id).end().failure->what()), Catch::Contains("alice"));
    }
    SECTION("cancel")
    {
        decide("cancel");
        REQUIRE(w.status(id) == flow::run_status::cancelled);
    }
    SECTION("a cancel from outside needs no decision")
    {
        w.engine().cancel(id);
        pass(w, 60s);
        REQUIRE(w.status(id) == flow::run_status::cancelled);
    }
    CHECK(outside().count("pay") == 1);
    check_invariants(*w.store());
}

TEMPLATE_LIST_TEST_CASE("P47 after a restart by decision the run pays again under the same key", "[engine][version]", every_store)
{
    TestType place;
    world w(place.store, first);
    auto const id = w.engine().start<pays>(1).id();
    w.pass(1s);
    w.restart(place.again(), [](flow::engine& e) { e.add<pays>("pays", flow::version{2}); });
    pass(w, 60s);
    w.engine().decide(w.engine().intervention_of(id), "restart");
    pass(w, 20s);
    REQUIRE(w.status(id) == flow::run_status::succeeded);
    CHECK(outside().count("pay") == 2);
    
    std::vector<std::string> keys;
    for (auto const& e : w.engine().journal(id, flow::seq_no::none, 1000))
        if (e.kind == flow::entry_kind::step) keys.push_back(e.payload);
    REQUIRE(keys.size() == 2);
    CHECK(keys[0] == keys[1]);
    check_invariants(*w.store());
}

TEMPLATE_LIST_TEST_CASE("P47 while a living engine has the version nobody judges its runs", "[engine][version]", every_store)
{
    TestType place;
    world old(place.store, first);
    old.settle();
    world w(place.again(), second);
    flow::client client(place.again());
    auto const run = client.start("pays", flow::args(1));
    pass(w, 120s);
    CHECK(run.status().run == flow::run_status::queued);
    old.pass(10s);
    CHECK(run.status().run == flow::run_status::succeeded);
    CHECK(outside().count("pay") == 1);
}

TEMPLATE_LIST_TEST_CASE("P47 a run that was being cancelled ends, and says that its clean-up did not run", "[engine][version][cancel]", every_store)
{
    TestType place;
    world w(place.store, first);
    auto const id = w.engine().start<pays>(1).id();
    w.pass(1s);
    w.stop();
    flow::client(place.again()).cancel(id);
    w.restart(place.again(), second);
    pass(w, 60s);
    REQUIRE(w.status(id) == flow::run_status::cancelled);
    CHECK(w.engine().find(id).end().failure->code() == flow::errc::cancelled);
    check_invariants(*w.store());
}

TEMPLATE_LIST_TEST_CASE("P47 a run whose version is gone when its deadline passes has expired", "[engine][version][deadline]", every_store)
{
    TestType place;
    world w(place.store, first);
    auto const id = w.engine().start<pays>(1, {.deadline = 300s}).id();
    w.pass(1s);
    w.restart(place.again(), second);
    pass(w, 60s);
    REQUIRE(w.view(id).open.size() == 1);  // somebody was asked about the version
    pass(w, 300s);
    REQUIRE(w.status(id) == flow::run_status::expired);
    CHECK(w.view(id).row.terminal_reason == "deadline");
    CHECK(w.engine().find(id).end().failure->code() == flow::errc::run_expired);
    check_invariants(*w.store());
}

TEMPLATE_LIST_TEST_CASE("what engines have registered is announced, and gone with them", "[engine][version]", every_store)
{
    TestType place;
    world w(place.store, both);
    w.settle();
    auto const announced = [&] {
        std::size_t n = 0;
        for (auto const& o : place.store->reader().owners().value())
            if (o.alive) n += o.workflows.size();
        return n;
    };
    CHECK(announced() == 6);  // two are of the library's own: schedules, wait policies
    w.stop();
    CHECK(announced() == 0);
}
