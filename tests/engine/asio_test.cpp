// Steps that are Asio coroutines: on the engine's executor, asked to stop the Asio way, the same journal as any other step.
#include <catch2/catch.hpp>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <filesystem>

#include "flow/asio.hpp"
#include "flow/flow.hpp"
#include "support/eventually.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

namespace asio = boost::asio;
using namespace std::chrono_literals;
using namespace flow::test;

namespace {

asio::awaitable<void> pause(std::chrono::milliseconds d)
{
    asio::steady_timer timer{co_await asio::this_coro::executor, d};
    co_await timer.async_wait(asio::use_awaitable);
}

/// Until somebody cancels it.
asio::awaitable<void> hang(char const* what)
{
    outside().note(std::string(what) + " begins");
    try {
        co_await pause(1h);
    } catch (boost::system::system_error const& e) {
        outside().note(std::string(what) + (e.code() == asio::error::operation_aborted ? " cancelled" : " failed"));
        throw;
    }
}

flow::workflow<std::string> fetches(int ms)
{
    std::string const host = "example.org";
    auto const page = co_await flow::step("fetch", flow::idempotent, [&](flow::attempt& a) -> asio::awaitable<std::string> {
        co_await pause(std::chrono::milliseconds{ms});
        outside().note(a.key().size() == 64 ? "fetch" : "no key");
        co_return host + "/index";
    });
    co_await flow::step("log", flow::replayable, [&]() -> asio::awaitable<void> {
        outside().note("log");
        co_return;
    });
    co_return page;
}

flow::workflow<int> fails_twice()
{
    co_return co_await flow::step("flaky", flow::idempotent,
                                  [&](flow::attempt& a) -> asio::awaitable<int> {
                                      co_await pause(0ms);
                                      if (a.number() < 3) throw std::runtime_error("not yet");
                                      co_return a.number();
                                  },
                                  {.retry = {.first_delay = 1s}});
}

flow::workflow<int> pays()
{
    co_return co_await flow::step("pay", [&]() -> asio::awaitable<int> {
        co_await pause(0ms);
        outside().note("pay");
        throw std::runtime_error("connection lost");
    }).reconcile([&]() -> flow::reconciled<int> { return flow::reconciled<int>::done(9); });
}

flow::workflow<std::string> times_out()
{
    auto const r = co_await flow::as_outcome(
        flow::step("slow", flow::idempotent, [&]() -> asio::awaitable<void> { return hang("slow"); }, {.timeout = 20ms, .retry = {.max_attempts = 1}}));
    co_return r ? "value" : std::string(flow::row_of(r.error().code()).name);
}

flow::workflow<void> hangs()
{
    co_await flow::step("hang", flow::idempotent, [&]() -> asio::awaitable<void> { return hang("hang"); }, {.retry = {.max_attempts = 1}});
}

void add_all(flow::engine& e)
{
    e.add<fetches>("fetches");
    e.add<fails_twice>("fails_twice");
    e.add<pays>("pays");
    e.add<times_out>("times_out");
    e.add<hangs>("hangs");
}

flow::engine_options two_threads()
{
    flow::engine_options o;
    o.threads = 2;
    return o;
}

std::ptrdiff_t threads_here()
{
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator{});
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("an Asio coroutine is a step like any other: journaled, and skipped after a restart", "[engine][asio]", every_store)
{
    TestType place;
    outside().clear();
    flow::run_id id;
    {
        flow::engine engine(place.store, two_threads());
        add_all(engine);
        auto run = engine.start<fetches>(1);
        id = run.id();
        CHECK(run.result() == "example.org/index");
        auto const v = engine.inspect(id);
        REQUIRE(v.steps.size() == 2);
        CHECK(v.steps[0].output == R"("example.org/index")");
        CHECK(engine.start<fails_twice>().result() == 3);
        CHECK(engine.start<pays>().result() == 9);
    }
    flow::engine again(place.store, two_threads());
    add_all(again);
    CHECK(again.find(id).status().run == flow::run_status::succeeded);
    CHECK(outside().all() == std::vector<std::string>{"fetch", "log", "pay"});
}

TEST_CASE("RG-01 Asio steps run inside poll: no thread is made", "[engine][asio]")
{
    memory_stores place;
    auto const before = threads_here();
    world w(place.store, add_all);
    auto run = w.engine().start<fetches>(5);
    auto flaky = w.engine().start<fails_twice>();
    CHECK(eventually([&] {
        w.settle();
        return run.status().run == flow::run_status::succeeded;
    }));
    CHECK(eventually([&] {
        w.pass(1s);
        return flaky.status().run == flow::run_status::succeeded;
    }));
    CHECK(threads_here() == before);
}

TEST_CASE("many Asio steps wait on one thread", "[engine][asio]")
{
    memory_stores place;
    outside().clear();
    flow::engine engine(place.store, two_threads());
    add_all(engine);
    CHECK(engine.start<fetches>(0).result() == "example.org/index");  // the executor's thread is there now
    auto const before = threads_here();
    std::vector<flow::run_handle<void>> all;
    for (int i = 0; i < 100; ++i) all.push_back(engine.start<hangs>());
    REQUIRE(eventually([&] { return outside().count("hang begins") == 100; }));
    CHECK(threads_here() == before);
    for (auto const& run : all) run.cancel();
    for (auto const& run : all) CHECK(run.end().row.status.run == flow::run_status::cancelled);
    CHECK(outside().count("hang cancelled") == 100);
}

TEST_CASE("an attempt's time-out cancels the coroutine", "[engine][asio]")
{
    memory_stores place;
    outside().clear();
    flow::engine engine(place.store, two_threads());
    add_all(engine);
    CHECK(engine.start<times_out>().result() == "step_timeout");
    CHECK(outside().all() == std::vector<std::string>{"slow begins", "slow cancelled"});
}

TEST_CASE("an orderly stop cancels the coroutine; the next engine begins its attempt again", "[engine][asio]")
{
    memory_stores place;
    outside().clear();
    flow::run_id id;
    {
        flow::engine engine(place.store, two_threads());
        add_all(engine);
        id = engine.start<hangs>().id();
        REQUIRE(eventually([&] { return outside().count("hang begins") == 1; }));
        CHECK(engine.stop(10s));
    }
    CHECK(outside().count("hang cancelled") == 1);
    flow::engine again(place.store, two_threads());
    add_all(again);
    REQUIRE(eventually([&] { return outside().count("hang begins") == 2; }));
    again.cancel(id);
    CHECK(again.find(id).end().row.status.run == flow::run_status::cancelled);
}

TEST_CASE("a polled engine that goes away cancels its coroutines", "[engine][asio]")
{
    memory_stores place;
    world w(place.store, add_all);
    auto run = w.engine().start<hangs>();
    w.settle();
    CHECK(outside().count("hang begins") == 1);
    w.stop();
    CHECK(outside().count("hang cancelled") == 1);
    w.restart();
    w.settle();
    CHECK(outside().count("hang begins") == 2);
}
