// What robots and games need of waits: a race is decided while a slow branch is still busy, a cancel is drawn out over many frames.
#include <catch2/catch.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "flow/asio.hpp"
#include "flow/flow.hpp"
#include "support/eventually.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace std::chrono_literals;
using namespace flow::test;
namespace asio = boost::asio;

namespace {

/// Nobody waits for it: an hour is longer than any test.
asio::awaitable<int> drives()
{
    outside().note("drives");
    asio::steady_timer t(co_await asio::this_coro::executor, 1h);
    try {
        co_await t.async_wait(asio::use_awaitable);
    } catch (...) {
        outside().note("stopped");
        throw;
    }
    co_return 1;
}

int drives_in_place(flow::attempt& a)
{
    outside().note("drives");
    while (!a.stop_requested()) std::this_thread::sleep_for(1ms);
    outside().note("stopped");
    return 1;
}

flow::workflow<int> races(bool coroutine)
{
    auto halt = flow::wait_for_token<int>("halt");
    std::size_t won = 9;
    if (coroutine) {
        auto const first = co_await flow::any(std::move(halt), flow::step("drive", flow::idempotent, []() -> asio::awaitable<int> { return drives(); }));
        won = first.index();
    } else {
        auto const first = co_await flow::any(std::move(halt), flow::step("drive", flow::idempotent, &drives_in_place));
        won = first.index();
    }
    outside().note("goes on");
    co_return static_cast<int>(won);
}

flow::workflow<void> retracts()
{
    for (int tick = 0; tick < 50; ++tick) {
        co_await flow::step("retract", flow::replayable, [] { outside().note("retract"); });
        co_await flow::sleep_for(10ms);
    }
}
flow::workflow<void> arm()
{
    bool cancelled = false;
    try {
        co_await flow::wait_for_token<int>("never");
    } catch (flow::cancelled const&) {
        cancelled = true;
    }
    if (cancelled) co_await flow::shield(retracts());
}

void add_all(flow::engine& e)
{
    e.add<races>("races");
    e.add<arm>("arm");
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("WT-21 a token decides a race while the other branch is at work; the body goes on when that has let go",
                        "[engine][group][asio][case]", every_store)
{
    bool const coroutine = GENERATE(true, false);
    CAPTURE(coroutine);
    TestType place;
    outside().clear();
    flow::engine_options o;
    o.threads = 2;
    flow::engine engine(place.store, o);
    add_all(engine);
    auto const run = engine.start<races>(coroutine);
    REQUIRE(eventually([&] { return outside().count("drives") == 1; }));
    std::vector<flow::waitpoint_row> open;
    flow::waitpoint_filter tokens;
    tokens.purpose = flow::waitpoint_purpose::token;
    REQUIRE(eventually([&] { return open = engine.waitpoints(tokens), open.size() == 1; }));
    engine.complete_json(open[0].id, "1");
    CHECK(run.result() == 0);
    CHECK(outside().all() == std::vector<std::string>{"drives", "stopped", "goes on"});
}

TEMPLATE_LIST_TEST_CASE("RG-02 a cancel whose clean-up needs fifty ticks takes fifty ticks, and is called cancelling until then", "[engine][cancel][poll][case]",
                        every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const run = w.engine().template start<arm>();
    w.settle();
    w.engine().cancel(run.id());
    int ticks = 0;
    while (w.status(run.id()) != flow::run_status::cancelled && ticks < 500) {
        auto const before = outside().count("retract");
        while (w.engine().poll(2ms).work_left) {
        }
        CHECK(outside().count("retract") <= before + 1);  // the rest is for later ticks
        auto const status = w.status(run.id());
        if (outside().count("retract") > 0 && status != flow::run_status::cancelled) CHECK(status == flow::run_status::cancelling);
        w.clock().advance(10ms);
        ++ticks;
    }
    CHECK(w.status(run.id()) == flow::run_status::cancelled);
    CHECK(outside().count("retract") == 50);
    CHECK(ticks >= 50);
}
