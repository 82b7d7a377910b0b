// Cancel: delivered once, at the operation where the run stands; clean-up under a shield; an answer that came first counts.
#include <catch2/catch.hpp>

#include "flow/flow.hpp"
#include "support/odd_stores.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

struct guard {
    std::string what;
    ~guard() { outside().note("~" + what); }
};

flow::workflow<int> waits_and_cleans_up()
{
    guard const g{"local"};
    auto const got = co_await flow::as_outcome(flow::wait_for_token<int>("answer"));
    if (!got && got.error().code() == flow::errc::cancelled) {
        co_await flow::shield(flow::step("undo", flow::idempotent, [] { outside().note("undo"); }));
        co_await flow::shield(flow::sleep_for(1s));
        co_await flow::shield(flow::step("undo more", flow::idempotent, [] { outside().note("undo more"); }));
    }
    outside().note("next");
    co_await flow::step("not any more", flow::replayable, [] { outside().note("not any more"); });
    co_return got ? *got : -1;
}

flow::workflow<int> just_waits(int how)
{
    guard const g{"local"};
    if (how == 0) co_await flow::sleep_for(1s);
    if (how == 1) co_await flow::sleep_for(1h);
    if (how == 2) co_return co_await flow::wait_for_token<int>("answer");
    if (how == 3)
        co_await flow::step("fails", flow::replayable, [] { throw std::runtime_error("again"); }, {.retry = {.first_delay = 1min}});
    if (how == 4) co_await flow::step("doubt", [] { throw std::runtime_error("unknown"); });
    co_return 1;
}

flow::workflow<int> inner()
{
    guard const g{"inner"};
    co_return co_await flow::wait_for_token<int>("answer");
}
flow::workflow<int> waits_inside()
{
    guard const g{"outer"};
    co_return co_await inner();
}

void add_all(flow::engine& e)
{
    e.add<waits_and_cleans_up>("waits_and_cleans_up");
    e.add<just_waits>("just_waits");
    e.add<waits_inside>("waits_inside");
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a cancelled wait throws at its await, clean-up runs under a shield, then the run has ended", "[engine][cancel]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto run = w.engine().start<waits_and_cleans_up>();
    w.settle();
    auto const token = w.open_token();
    CHECK(w.engine().cancel(run.id(), "not needed", "alice") == flow::request_fate::left_to_holder);
    w.settle();
    CHECK(w.status(run.id()) == flow::run_status::cancelling);
    CHECK(outside().count("undo") == 1);
    w.pass(2s);
    CHECK(w.status(run.id()) == flow::run_status::cancelled);
    CHECK(outside().count("undo more") == 1);
    CHECK(outside().count("next") == 1);
    CHECK(outside().count("not any more") == 0);
    CHECK(outside().count("~local") == 1);
    CHECK(w.entries(run.id(), flow::entry_kind::cancel_delivered) == 1);
    CHECK_THROWS_WITH(w.engine().complete_json(token, "1"), Catch::Contains("withdrawn"));
    CHECK(w.engine().cancel(run.id()) == flow::request_fate::ended_before);
    CHECK(run.try_result().error().code() == flow::errc::cancelled);
}

TEMPLATE_LIST_TEST_CASE("a cancel in the middle of clean-up's restart is delivered again at the same place", "[engine][cancel]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto run = w.engine().start<waits_and_cleans_up>();
    w.settle();
    w.engine().cancel(run.id());
    w.settle();
    w.restart();
    w.settle();
    CHECK(outside().count("undo") == 1);
    w.pass(2s);
    CHECK(w.status(run.id()) == flow::run_status::cancelled);
    CHECK(w.entries(run.id(), flow::entry_kind::cancel_delivered) == 1);
    CHECK(outside().count("undo more") == 1);
}

TEMPLATE_LIST_TEST_CASE("CO-10 a run cancelled on any kind of await ends, and its frame is gone", "[engine][cancel]", every_store)
{
    for (int how = 0; how < 5; ++how) {
        CAPTURE(how);
        TestType place;
        world w(place.store, add_all);
        auto run = w.engine().start<just_waits>(how);
        w.settle();
        w.engine().cancel(run.id());
        w.settle();
        CHECK(w.status(run.id()) == flow::run_status::cancelled);
        CHECK(outside().count("~local") == 1);
        flow::waitpoint_filter open;
        open.status = flow::waitpoint_status::pending;
        CHECK(w.engine().waitpoints(open).empty());
    }
}

TEST_CASE("a cancelled step in doubt is recorded as given up", "[engine][cancel]")
{
    memory_stores place;
    world w(place.store, add_all);
    auto run = w.engine().start<just_waits>(4);
    w.settle();
    w.engine().cancel(run.id());
    w.settle();
    CHECK(w.entries(run.id(), flow::entry_kind::abandoned) == 1);
    auto const v = w.view(run.id());
    REQUIRE(!v.unfinished.empty());
    CHECK(v.unfinished.front().find("doubt#0") != std::string::npos);
}

TEMPLATE_LIST_TEST_CASE("a wait that was answered before the cancel was taken returns its value", "[engine][cancel]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto run = w.engine().start<waits_and_cleans_up>();
    w.settle();
    w.engine().complete_json(w.open_token(), "7");
    w.engine().cancel(run.id());
    w.settle();
    CHECK(w.status(run.id()) == flow::run_status::cancelled);
    CHECK(outside().count("undo") == 0);
    CHECK(outside().count("next") == 1);
    CHECK(w.entries(run.id(), flow::entry_kind::waited) == 1);
}

TEST_CASE("a cancel unwinds through a sub-workflow", "[engine][cancel]")
{
    memory_stores place;
    world w(place.store, add_all);
    auto run = w.engine().start<waits_inside>();
    w.settle();
    run.cancel("enough");
    w.settle();
    CHECK(w.status(run.id()) == flow::run_status::cancelled);
    CHECK(outside().all() == std::vector<std::string>{"~inner", "~outer"});
}

TEMPLATE_LIST_TEST_CASE("a run that no engine has begun ends at once", "[engine][cancel]", every_store)
{
    TestType place;
    world w(place.store, [](flow::engine&) {});
    auto run = w.engine().client::start("somewhere else", flow::args(1));
    CHECK(w.engine().cancel(run.id()) == flow::request_fate::taken);
    CHECK(run.status().run == flow::run_status::cancelled);
    CHECK(run.end().failure->code() == flow::errc::cancelled);
}

TEMPLATE_LIST_TEST_CASE("a request or a wake that is read twice before it is acted on counts once", "[engine][cancel]", every_store)
{
    TestType place;
    world w(std::make_shared<stuttering_store>(place.store), add_all);
    auto const cancelled = w.engine().start<waits_and_cleans_up>().id();
    auto const waited = w.engine().start<just_waits>(2);
    w.settle();
    // By somebody else, so that they come by the mailbox and as wakes.
    flow::client other(place.again(), "eve");
    other.cancel(cancelled);
    other.complete_json(w.view(waited.id()).open.at(0).row.id, "7");
    w.pass(1min);
    CHECK(w.status(cancelled) == flow::run_status::cancelled);
    CHECK(w.entries(cancelled, flow::entry_kind::request) == 1);
    CHECK(waited.result() == 7);
    CHECK(w.entries(waited.id(), flow::entry_kind::waited) == 1);
    CHECK(w.log.empty());
}
