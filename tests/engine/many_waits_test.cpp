// Many waits of one run, and waiting runs beside those that execute.
#include <catch2/catch.hpp>

#include <atomic>
#include <thread>

#include "flow/flow.hpp"
#include "support/eventually.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

flow::workflow<std::string> asks_many(int count)
{
    std::vector<int> numbers(static_cast<std::size_t>(count));
    auto const answers = co_await flow::for_each(numbers, [](int) { return flow::wait_for_token<int>("answer"); }, {.concurrency = 1000});
    std::string text;
    for (auto const a : answers) text += std::to_string(a) + ' ';
    co_return text;
}
flow::workflow<int> asks() { co_return co_await flow::wait_for_token<int>("answer"); }
std::atomic<bool> let_go{false};
flow::workflow<int> works()
{
    co_return co_await flow::step("work", flow::idempotent, [] {
        outside().note("work");
        while (!let_go) std::this_thread::sleep_for(1ms);
        return 1;
    });
}

void add_all(flow::engine& e)
{
    e.add<asks_many>("asks_many");
    e.add<asks>("asks");
    e.add<works>("works");
}

std::vector<flow::waitpoint_row> open_tokens(flow::client& c, flow::run_id run)
{
    flow::waitpoint_filter f;
    f.run = run;
    f.status = flow::waitpoint_status::pending;
    f.limit = 1000;
    auto all = c.waitpoints(f);
    std::sort(all.begin(), all.end(), [](auto const& a, auto const& b) { return a.place.size() != b.place.size() ? a.place.size() < b.place.size() : a.place < b.place; });
    return all;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("TD-13 a run that waits for five goes on after the fifth, and has the answers in order", "[engine][wait][groups]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const run = w.engine().start<asks_many>(5);
    w.settle();
    auto const open = open_tokens(w.engine(), run.id());
    REQUIRE(open.size() == 5);
    for (auto const i : {3u, 0u, 4u, 1u}) w.engine().complete_json(open[i].id, std::to_string(i));
    w.pass(1min);
    CHECK(w.status(run.id()) == flow::run_status::waiting);
    w.engine().complete_json(open[2].id, "2");
    w.settle();
    CHECK(run.result() == "0 1 2 3 4 ");
}

TEMPLATE_LIST_TEST_CASE("TD-11 a hundred waits of a parked run that end together call it back once", "[engine][wait][evict]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const run = w.engine().start<asks_many>(100);
    w.pass(1min);
    REQUIRE(w.view(run.id()).row.status.execution == flow::execution_status::suspended);
    auto const claims = [&] {
        int n = 0;
        for (auto const& e : w.journal(run.id())) n += e.kind == flow::entry_kind::snapshot && e.name == "claim";
        return n;
    };
    REQUIRE(claims() == 1);
    for (auto const& t : open_tokens(w.engine(), run.id())) w.engine().complete_json(t.id, "7");
    w.settle();
    CHECK(w.engine().find(run.id()).status().run == flow::run_status::succeeded);
    CHECK(claims() == 2);
}

TEST_CASE("TD-19 runs that wait take no place from those that execute: in memory and out of it", "[engine][evict]")
{
    for (auto const leave_after : {0ms, 100'000ms}) {
        flow::engine engine(flow::memory(), {.threads = 2, .evict_after = leave_after, .most_running = 3, .log = nullptr});
        add_all(engine);
        std::vector<flow::any_run_handle> waiting;
        for (int i = 0; i < 20; ++i) waiting.push_back(engine.start<asks>());
        for (auto const& r : waiting) CHECK(eventually([&] { return r.status().run == flow::run_status::waiting; }));
        for (auto const& r : waiting) engine.complete_json(open_tokens(engine, r.id()).at(0).id, "1");
        CHECK(engine.wait_for_all(waiting, 20s));
    }
}

TEST_CASE("at most so many runs execute at once; the others stay in the queue, and none is forgotten", "[engine][start]")
{
    let_go = false;
    outside().clear();
    flow::engine engine(flow::memory(), {.threads = 2, .most_running = 3, .log = nullptr});
    add_all(engine);
    std::vector<flow::any_run_handle> all;
    for (int i = 0; i < 10; ++i) all.push_back(engine.start<works>());
    CHECK(eventually([] { return outside().count("work") == 3; }));
    std::this_thread::sleep_for(50ms);
    CHECK(outside().count("work") == 3);
    let_go = true;
    CHECK(engine.wait_for_all(all, 20s));
    CHECK(outside().count("work") == 10);
}
