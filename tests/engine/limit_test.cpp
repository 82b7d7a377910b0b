// flow::limit: at most so many functions of a kind at once, over all runs; the rest wait in line without a thread.
#include <catch2/catch.hpp>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <atomic>

#include "engine/process_facts.hpp"
#include "flow/asio.hpp"
#include "flow/flow.hpp"
#include "support/eventually.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

namespace asio = boost::asio;
using namespace std::chrono_literals;
using namespace flow::test;

namespace {

constexpr flow::limit three{"three", 3};
constexpr flow::limit one{"one", 1};

std::atomic<bool> let_go{false};
std::atomic<int> running{0}, most{0};

/// Whatever a test finds out, its functions return at the end.
struct let_go_at_end {
    let_go_at_end() { let_go = false, running = most = 0; }
    ~let_go_at_end() { let_go = true; }
};

/// Runs until it is let go or asked to stop.
asio::awaitable<int> hold(int who, flow::attempt& a)
{
    outside().note(std::to_string(who));
    asio::steady_timer timer{co_await asio::this_coro::executor};
    while (!let_go && !a.stop_requested()) {
        timer.expires_after(1ms);
        co_await timer.async_wait(asio::use_awaitable);
    }
    co_return who;
}

flow::workflow<int> crowds()
{
    co_return co_await flow::step("work", flow::idempotent,
                                  [](flow::attempt& a) {
                                      int const now = ++running;
                                      for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
                                      }
                                      while (!let_go && !a.stop_requested()) std::this_thread::sleep_for(1ms);
                                      --running;
                                      return 1;
                                  },
                                  {.limit = three});
}

flow::workflow<int> holds(int who)
{
    co_return co_await flow::step("hold", flow::idempotent,
                                  [&](flow::attempt& a) -> asio::awaitable<int> { return hold(who, a); }, {.limit = one});
}

flow::workflow<int> acts(int who)
{
    co_return co_await flow::step("act", flow::non_replayable, [&] { return outside().note("act " + std::to_string(who)), who; },
                                  {.timeout = 20ms, .limit = one});
}

flow::workflow<int> in_place(int who)
{
    co_return co_await flow::step("in place", flow::replayable, [&] { return outside().note("in place"), who; },
                                  {.inline_ = true, .limit = one});
}

flow::workflow<int> gives_up()
{
    auto const first = co_await flow::any(flow::step("act", flow::non_replayable, [] { return outside().note("act"), 1; }, {.limit = one}),
                                          flow::sleep_for(1h));
    co_return static_cast<int>(first.index());
}

flow::workflow<int> then_waits()
{
    auto const n = co_await flow::step("act", flow::idempotent, [] { return outside().note("act"), 1; }, {.limit = one});
    co_return n + co_await flow::wait_for_token<int>("answer");
}

flow::workflow<int> fails_once(int who)
{
    co_return co_await flow::step("flaky", flow::idempotent,
                                  [&](flow::attempt& a) {
                                      outside().note("flaky " + std::to_string(who) + "." + std::to_string(a.number()));
                                      if (a.number() == 1) throw std::runtime_error("once");
                                      return who;
                                  },
                                  {.retry = {.first_delay = 1s}, .limit = one});
}

flow::workflow<int> many(int who)
{
    co_return co_await flow::step("many", flow::idempotent,
                                  [&](flow::attempt& a) -> asio::awaitable<int> { return hold(who, a); }, {.limit = flow::limit{"one", 5}});
}

flow::workflow<int> leaves_behind()
{
    auto fn = [&go = let_go] {
        outside().note("behind");
        while (!go) std::this_thread::sleep_for(1ms);
        return 1;
    };
    auto const r = co_await flow::as_outcome(
        flow::step("behind", flow::idempotent, flow::detached(fn), {.timeout = 20ms, .retry = {.max_attempts = 1}, .limit = one}));
    co_return r ? 1 : 0;
}

void add_all(flow::engine& e)
{
    e.add<crowds>("crowds");
    e.add<holds>("holds");
    e.add<acts>("acts");
    e.add<in_place>("in_place");
    e.add<gives_up>("gives_up");
    e.add<then_waits>("then_waits");
    e.add<fails_once>("fails_once");
    e.add<many>("many");
    e.add<leaves_behind>("leaves_behind");
}

flow::engine_options with_threads()
{
    flow::engine_options o;
    o.threads = 2;
    o.log = nullptr;
    return o;
}

/// Polls until it is so.
template <class Condition>
bool settles(world& w, Condition const& c)
{
    return eventually([&] { return w.settle(), c(); });
}

/// A run whose step holds the only place.
flow::run_id holder(world& w, int who = 0)
{
    auto const id = w.engine().start<holds>(who).id();
    REQUIRE(settles(w, [&] { return outside().count(std::to_string(who)) == 1; }));
    return id;
}

}  // namespace

TEST_CASE("at most so many functions run at once over all runs, and those in line hold no thread", "[engine][limit]")
{
    memory_stores place;
    auto const before = threads_now();
    flow::engine engine(place.store, with_threads());
    let_go_at_end const at_end;
    add_all(engine);
    std::vector<flow::run_handle<int>> runs;
    for (int i = 0; i < 40; ++i) runs.push_back(engine.start<crowds>());
    REQUIRE(eventually([] { return running == 3; }));
    REQUIRE(eventually([&] { return engine.still_running().size() == 3; }));
    CHECK(new_threads_since(before) <= 2 + 3 + 2);  // two free, three that block, the service and the writer
    let_go = true;
    for (auto const& run : runs) CHECK(run.result() == 1);
    CHECK(most == 3);
}

TEST_CASE("steps get their places in the order in which they came", "[engine][limit]")
{
    memory_stores place;
    world w(place.store, add_all);
    let_go_at_end const at_end;
    holder(w, 0);
    std::vector<flow::run_handle<int>> runs;
    for (int i = 1; i <= 5; ++i) {
        runs.push_back(w.engine().start<holds>(i));
        w.settle();
    }
    CHECK(outside().all() == std::vector<std::string>{"0"});
    CHECK(w.engine().still_running().size() == 1);
    let_go = true;
    REQUIRE(settles(w, [&] { return w.status(runs.back().id()) == flow::run_status::succeeded; }));
    CHECK(outside().all() == std::vector<std::string>{"0", "1", "2", "3", "4", "5"});
}

TEMPLATE_LIST_TEST_CASE("a cancel takes a step out of the line at once; nothing of it is in doubt", "[engine][limit][cancel]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    let_go_at_end const at_end;
    holder(w);
    auto const cancelled = w.engine().template start<acts>(1).id();
    w.settle();
    auto const next = w.engine().template start<acts>(2).id();
    w.settle();
    w.engine().cancel(cancelled);
    REQUIRE(settles(w, [&] { return w.status(cancelled) == flow::run_status::cancelled; }));
    CHECK(w.entries(cancelled, flow::entry_kind::intent) == 0);
    CHECK(w.entries(cancelled, flow::entry_kind::abandoned) == 0);
    CHECK(outside().all() == std::vector<std::string>{"0"});
    let_go = true;
    REQUIRE(settles(w, [&] { return w.status(next) == flow::run_status::succeeded; }));
    CHECK(outside().all() == std::vector<std::string>{"0", "act 2"});
}

TEST_CASE("a step that lost its group leaves the line", "[engine][limit][groups]")
{
    memory_stores place;
    world w(place.store, add_all);
    let_go_at_end const at_end;
    auto const first = holder(w);
    auto const run = w.engine().start<gives_up>();
    w.settle();
    w.pass(2h);
    CHECK(w.view(run.id()).result == "1");
    w.engine().cancel(first);  // the only place is free again
    REQUIRE(settles(w, [&] { return w.status(first) == flow::run_status::cancelled; }));
    CHECK(outside().count("act") == 0);
    auto const after = w.engine().start<acts>(3).id();
    CHECK(settles(w, [&] { return w.status(after) == flow::run_status::succeeded; }));
}

TEMPLATE_LIST_TEST_CASE("an engine that stops leaves nothing in doubt of a step in line, and the next one calls it", "[engine][limit]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    let_go_at_end const at_end;
    auto const first = holder(w);
    auto const run = w.engine().template start<acts>(1).id();
    w.settle();
    w.restart();
    CHECK(w.entries(run, flow::entry_kind::intent) == 0);
    REQUIRE(settles(w, [&] { return outside().count("act 1") == 1 || outside().count("0") == 2; }));
    let_go = true;
    REQUIRE(settles(w, [&] { return w.status(run) == flow::run_status::succeeded && w.status(first) == flow::run_status::succeeded; }));
    CHECK(outside().count("act 1") == 1);
    CHECK(w.entries(run, flow::entry_kind::recovered) == 0);
}

TEST_CASE("waiting in line is not part of an attempt: its time limit does not count yet", "[engine][limit]")
{
    memory_stores place;
    world w(place.store, add_all);
    let_go_at_end const at_end;
    holder(w);
    auto const run = w.engine().start<acts>(1).id();
    w.settle();
    w.pass(1h);
    CHECK(w.status(run) == flow::run_status::running);
    let_go = true;
    REQUIRE(settles(w, [&] { return w.status(run) == flow::run_status::succeeded; }));
    CHECK(w.view(run).steps.at(0).attempts == 1);
}

TEST_CASE("a retry comes in at the end of the line", "[engine][limit]")
{
    memory_stores place;
    world w(place.store, add_all);
    std::vector<flow::run_id> runs;
    for (int i = 1; i <= 3; ++i) {
        runs.push_back(w.engine().start<fails_once>(i).id());
        w.settle();
    }
    w.pass(10s);
    for (auto id : runs) CHECK(w.status(id) == flow::run_status::succeeded);
    CHECK(outside().all() == std::vector<std::string>{"flaky 1.1", "flaky 2.1", "flaky 3.1", "flaky 1.2", "flaky 2.2", "flaky 3.2"});
}

TEMPLATE_LIST_TEST_CASE("a step that is replayed takes no place", "[engine][limit][replay]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    let_go_at_end const at_end;
    auto const run = w.engine().template start<then_waits>().id();
    REQUIRE(settles(w, [&] { return w.status(run) == flow::run_status::waiting; }));
    w.restart();
    holder(w);
    w.engine().complete_json(w.open_token("answer"), "10");
    REQUIRE(settles(w, [&] { return w.status(run) == flow::run_status::succeeded; }));
    CHECK(outside().count("act") == 1);
}

TEST_CASE("where steps give different numbers, the smallest of those that run or would run counts", "[engine][limit]")
{
    memory_stores place;
    world w(place.store, add_all);
    let_go_at_end const at_end;
    SECTION("one that allows few runs: nobody comes beside it")
    {
        holder(w, 0);
        w.engine().start<many>(1);
        w.settle();
        CHECK(outside().all() == std::vector<std::string>{"0"});
    }
    SECTION("those that allow many run: one that allows few waits for them, and those behind it for it")
    {
        w.engine().start<many>(1);
        w.engine().start<many>(2);
        REQUIRE(settles(w, [] { return outside().all().size() == 2; }));
        w.engine().start<holds>(3);
        w.settle();
        w.engine().start<many>(4);
        w.settle();
        CHECK(outside().all().size() == 2);
        let_go = true;
        REQUIRE(settles(w, [] { return outside().all().size() == 4; }));
        CHECK(outside().all().at(2) == "3");
    }
}

TEST_CASE("a step with a limit is not called in place", "[engine][limit]")
{
    memory_stores place;
    world w(place.store, add_all);
    let_go_at_end const at_end;
    holder(w);
    auto const run = w.engine().start<in_place>(7).id();
    w.settle();
    CHECK(outside().count("in place") == 0);
    let_go = true;
    REQUIRE(settles(w, [&] { return w.status(run) == flow::run_status::succeeded; }));
}

TEST_CASE("engines of one process share its limits, and one that ends gives its places back", "[engine][limit]")
{
    memory_stores place, other_place;
    world w(place.store, add_all);
    let_go_at_end const at_end;
    holder(w);
    flow::engine other(other_place.store, with_threads());
    add_all(other);
    auto const run = other.start<acts>(1);
    REQUIRE(eventually([&] { return other.inspect(run.id()).row.status.run == flow::run_status::running; }));
    CHECK_FALSE(run.wait(50ms));
    w.stop();
    CHECK(run.result() == 1);
}

TEST_CASE("a detached function that is left behind keeps its place until it has returned", "[engine][limit]")
{
    memory_stores place;
    outside().clear();
    flow::engine engine(place.store, with_threads());
    let_go_at_end const at_end;
    add_all(engine);
    CHECK(engine.start<leaves_behind>().result() == 0);
    auto const next = engine.start<acts>(1);
    CHECK_FALSE(next.wait(50ms));
    CHECK(outside().all() == std::vector<std::string>{"behind"});
    let_go = true;
    CHECK(next.result() == 1);
}

TEST_CASE("a limit has a name and lets at least one run", "[engine][limit]")
{
    CHECK_THROWS_AS((flow::limit{"", 1}), flow::error);
    CHECK_THROWS_AS((flow::limit{nullptr, 1}), flow::error);
    CHECK_THROWS_AS((flow::limit{"model", 0}), flow::error);
    CHECK_FALSE(flow::limit{});
    CHECK(flow::limit{"model", 4}.most() == 4);
}
