// An engine on an executor of the caller's: what runs where, how it is stopped, and what becomes of what was on its way (P59, RG-01).
#include <catch2/catch.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <atomic>
#include <optional>
#include <thread>

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

std::atomic<bool> let_go{false};
std::atomic<int> alive{0};

struct counted {
    counted() { ++alive; }
    counted(counted const&) { ++alive; }
    ~counted() { --alive; }
};

struct let_go_at_end {
    let_go_at_end() { let_go = false; }
    ~let_go_at_end() { let_go = true; }
};

/// Says on which thread it was.
void note_thread(std::string what)
{
    static std::mutex guard;
    static std::map<std::thread::id, int> numbers;
    std::lock_guard const lock(guard);
    auto const number = numbers.try_emplace(std::this_thread::get_id(), static_cast<int>(numbers.size())).first->second;
    outside().note(what + " on " + std::to_string(number));
}
/// "plain on 3" -> "3"; of the first line that begins so.
std::string thread_of(std::string const& what)
{
    for (auto const& line : outside().all())
        if (line.rfind(what + " on ", 0) == 0) return line.substr(what.size() + 4);
    return "?";
}

asio::awaitable<void> pause(std::chrono::milliseconds d)
{
    asio::steady_timer timer{co_await asio::this_coro::executor, d};
    co_await timer.async_wait(asio::use_awaitable);
}

flow::workflow<int> a_bit_of_everything()
{
    note_thread("body");
    auto n = co_await flow::step("in place", flow::replayable, [] { return note_thread("in place"), 1; }, {.inline_ = true});
    n += co_await flow::step("plain", flow::non_replayable, [] { return note_thread("plain"), 10; });
    n += co_await flow::step("coroutine", flow::idempotent, []() -> asio::awaitable<int> {
        co_await pause(1ms);
        note_thread("coroutine");
        co_return 100;
    });
    n += co_await flow::step("again", flow::idempotent,
                             [](flow::attempt& a) {
                                 if (a.number() == 1) throw std::runtime_error("once");
                                 return 1'000;
                             },
                             {.timeout = 1h, .retry = {.first_delay = 5ms}});
    co_await flow::sleep_for(15ms);
    note_thread("body later");
    n += co_await flow::wait_for_token<int>("answer");
    co_return n;
}

flow::workflow<int> branches(int n)
{
    counted const c;
    auto const [a, b] = co_await flow::all(flow::step("coroutine", flow::idempotent,
                                                      [&]() -> asio::awaitable<int> {
                                                          co_await pause(1ms);
                                                          co_return n;
                                                      }),
                                           flow::step("plain", flow::idempotent, [&] { return n; }));
    co_await flow::sleep_for(1ms);
    co_return a + b;
}

/// Its coroutine refers to the frame until it is cancelled.
flow::workflow<void> hangs()
{
    counted const c;
    std::string const local(1000, 'x');
    co_await flow::step("hang", flow::idempotent,
                        [&]() -> asio::awaitable<void> {
                            outside().note("begins");
                            try {
                                co_await pause(1h);
                            } catch (boost::system::system_error const&) {
                                outside().note("cancelled with " + std::to_string(local.size()));
                                throw;
                            }
                        },
                        {.retry = {.max_attempts = 1}});
    outside().note("body goes on");
}

flow::workflow<void> in_doubt()
{
    co_await flow::step("act", flow::non_replayable, [&]() -> asio::awaitable<void> {
        outside().note("begins");
        co_await pause(1h);
    });
}

flow::workflow<int> heeds_stop()
{
    counted const c;
    auto const n = co_await flow::step("loop", flow::non_replayable, [](flow::attempt& a) {
        outside().note("begins");
        while (!a.stop_requested()) std::this_thread::sleep_for(1ms);
        return 1;
    });
    outside().note("body goes on");
    co_return n;
}

flow::workflow<int> stubborn()
{
    co_return co_await flow::step("stubborn", flow::idempotent, [] {
        outside().note("begins");
        while (!let_go) std::this_thread::sleep_for(1ms);
        return 1;
    });
}

flow::workflow<int> waits()
{
    counted const c;
    co_return co_await flow::wait_for_token<int>("answer");
}

void add_all(flow::engine& e)
{
    e.add<a_bit_of_everything>("a_bit_of_everything");
    e.add<branches>("branches");
    e.add<hangs>("hangs");
    e.add<in_doubt>("in_doubt");
    e.add<heeds_stop>("heeds_stop");
    e.add<stubborn>("stubborn");
    e.add<waits>("waits");
}

flow::engine_options on(asio::any_io_executor ex, int threads = -1)
{
    flow::engine_options o;
    o.executor = flow::asio_executor(std::move(ex));
    o.threads = threads;
    o.log = nullptr;
    return o;
}

/// Runs the context here until it is so.
template <class Condition>
bool run_until(asio::io_context& io, Condition const& c)
{
    return eventually([&] {
        io.restart();
        io.poll();
        return c();
    });
}

flow::waitpoint_id open_token(flow::engine& e)
{
    flow::waitpoint_filter which;
    which.status = flow::waitpoint_status::pending;
    auto const all = e.waitpoints(which);
    REQUIRE(all.size() == 1);
    return all.front().id;
}

flow::run_status status(flow::client& c, flow::run_id id) { return c.inspect(id).row.status.run; }

}  // namespace

TEMPLATE_LIST_TEST_CASE("RG-01 an engine on an io_context of one's own runs everything there, and makes no thread if it is not to",
                        "[engine][executor]", every_store)
{
    TestType place;
    outside().clear();
    auto const before = threads_now();
    asio::io_context io;
    flow::engine engine(place.store, on(io.get_executor(), 0));
    add_all(engine);
    auto const run = engine.start<a_bit_of_everything>();
    int most = 0;
    auto const watched = [&](flow::run_status until) {
        return run_until(io, [&] {
            most = std::max(most, new_threads_since(before));
            return status(engine, run.id()) == until;
        });
    };
    REQUIRE(watched(flow::run_status::waiting));
    engine.complete_json(open_token(engine), "10000");
    REQUIRE(watched(flow::run_status::succeeded));
    CHECK(run.result() == 11'111);
    CHECK(most == TestType::threads);
    for (auto const* what : {"in place", "plain", "coroutine", "body later"}) CHECK(thread_of(what) == thread_of("body"));
}

TEMPLATE_LIST_TEST_CASE("on an executor bodies, timers and Asio steps run there, plain functions and commits elsewhere",
                        "[engine][executor]", every_store)
{
    TestType place;
    outside().clear();
    auto const before = threads_now();
    asio::io_context io;
    {
        flow::engine engine(place.store, on(io.get_executor()));
        CHECK(new_threads_since(before) == TestType::threads + 1);
        add_all(engine);
        auto const run = engine.start<a_bit_of_everything>();
        REQUIRE(run_until(io, [&] { return status(engine, run.id()) == flow::run_status::waiting; }));
        engine.complete_json(open_token(engine), "10000");
        REQUIRE(run_until(io, [&] { return status(engine, run.id()) == flow::run_status::succeeded; }));
        for (auto const* what : {"in place", "coroutine", "body later"}) CHECK(thread_of(what) == thread_of("body"));
        CHECK(thread_of("plain") != thread_of("body"));
    }
    CHECK(new_threads_since(before) <= TestType::threads);
}

TEMPLATE_LIST_TEST_CASE("an io_context may be run by several threads", "[engine][executor]", every_store)
{
    TestType place;
    asio::thread_pool several(4);
    {
        auto const threads = GENERATE(-1, 0);
        flow::engine engine(place.store, on(several.get_executor(), threads));
        add_all(engine);
        std::vector<flow::run_handle<int>> runs;
        for (int i = 0; i < 60; ++i) runs.push_back(engine.template start<branches>(i));
        for (int i = 0; i < 60; ++i) CHECK(runs[static_cast<std::size_t>(i)].result() == 2 * i);
        CHECK(asio::co_spawn(several, [&]() -> asio::awaitable<bool> { co_return co_await flow::async_stop(engine, asio::use_awaitable); },
                             asio::use_future).get());
    }
    CHECK(alive == 0);
}

TEMPLATE_LIST_TEST_CASE("async_stop cancels Asio steps and gives their runs back; then nothing keeps the io_context running",
                        "[engine][executor][stop]", every_store)
{
    TestType place;
    outside().clear();
    asio::io_context io;
    flow::engine engine(place.store, on(io.get_executor()));
    add_all(engine);
    auto const id = engine.template start<hangs>().id();
    REQUIRE(run_until(io, [] { return outside().count("begins") == 1; }));
    std::optional<bool> stopped;
    flow::async_stop(engine, [&](bool all) { stopped = all; });
    io.restart();
    io.run();  // returns
    CHECK(stopped == true);
    CHECK(outside().all() == std::vector<std::string>{"begins", "cancelled with 1000"});
    CHECK(alive == 0);
    CHECK(engine.inspect(id).row.status.execution == flow::execution_status::queued);
    CHECK_FALSE(engine.health().healthy());
    flow::async_stop(engine, [&](bool) { stopped = std::nullopt; });  // again: at once
    io.restart();
    io.run();
    CHECK_FALSE(stopped);
}

TEST_CASE("async_stop says when its limit ended first, names what runs, and may be called again", "[engine][executor][stop]")
{
    memory_stores place;
    outside().clear();
    asio::io_context io;
    flow::engine engine(place.store, on(io.get_executor()));
    let_go_at_end const at_end;
    add_all(engine);
    auto const run = engine.start<stubborn>();
    REQUIRE(run_until(io, [] { return outside().count("begins") == 1; }));
    std::vector<bool> answers;
    auto const note = [&](bool all) { answers.push_back(all); };
    flow::async_stop(engine, 10ms, note);
    REQUIRE(run_until(io, [&] { return answers.size() == 1; }));
    CHECK_FALSE(answers.at(0));
    CHECK(engine.still_running().size() == 1);
    CHECK_THROWS_AS(engine.start<waits>(), flow::error);
    flow::async_stop(engine, note);
    let_go = true;
    REQUIRE(run_until(io, [&] { return answers.size() == 2; }));
    CHECK(answers.at(1));
    CHECK(engine.inspect(run.id()).steps.at(0).status == flow::step_status::completed);
}

TEST_CASE("stop() waits on another thread, and says so on the executor's own", "[engine][executor][stop]")
{
    memory_stores place;
    outside().clear();
    asio::io_context io;
    flow::engine engine(place.store, on(io.get_executor()));
    add_all(engine);
    engine.start<hangs>();
    REQUIRE(run_until(io, [] { return outside().count("begins") == 1; }));
    CHECK_FALSE(engine.stop(10ms));  // nobody runs the context
    bool refused = false;
    asio::post(io, [&] {
        try {
            engine.stop();
        } catch (flow::error const& e) {
            refused = e.code() == flow::errc::usage;
        }
    });
    REQUIRE(run_until(io, [&] { return refused; }));
    io.restart();
    std::thread runs_it([&] { io.run(); });
    CHECK(engine.stop(10s));
    runs_it.join();
    CHECK(outside().count("cancelled with 1000") == 1);
}

TEMPLATE_LIST_TEST_CASE("PR-07 an engine that goes away on its executor's own thread waits for no Asio step: it is cancelled, its frame lives until "
                        "it has ended, nothing resumes",
                        "[engine][executor][lifetime]", every_store)
{
    TestType place;
    outside().clear();
    asio::io_context io;
    auto const threads = GENERATE(-1, 0);
    std::optional<flow::engine> engine;
    engine.emplace(place.store, on(io.get_executor(), threads));
    add_all(*engine);
    auto const id = engine->template start<hangs>().id();
    auto const waiting = engine->template start<waits>().id();
    REQUIRE(run_until(io, [&] { return outside().count("begins") == 1 && status(*engine, waiting) == flow::run_status::waiting; }));
    CHECK(alive == 2);
    bool destroyed = false;
    asio::post(io, [&] {
        for (int i = 0; i < 5; ++i) engine->template start<hangs>();  // what is begun of these stays queued
        engine.reset();
        destroyed = true;
        CHECK(alive == 1);  // the frame that waited is gone; the one that is referred to is not
        CHECK(outside().count("cancelled with 1000") == 0);
    });
    io.restart();
    io.run();  // its handlers end, and nothing keeps it running
    CHECK(destroyed);
    CHECK(alive == 0);
    CHECK(outside().all() == std::vector<std::string>{"begins", "cancelled with 1000"});

    // What was on its way is found as after a crash.
    world w(place.store, add_all);
    w.settle();
    CHECK(outside().count("begins") == 6);
    CHECK(w.status(waiting) == flow::run_status::waiting);
    CHECK(w.entries(id, flow::entry_kind::recovered) == 1);
}

TEST_CASE("an io_context that is destroyed with an engine's handlers queued, after the engine, ends its steps and frees their frames",
          "[engine][executor][lifetime]")
{
    memory_stores place;
    outside().clear();
    auto const threads = GENERATE(-1, 0);
    {
        asio::io_context io;
        flow::engine engine(place.store, on(io.get_executor(), threads));
        add_all(engine);
        engine.start<hangs>();
        REQUIRE(run_until(io, [] { return outside().count("begins") == 1; }));
        engine.start<hangs>();
        engine.start<branches>(1);
        if (GENERATE(false, true)) run_until(io, [] { return alive == 3; });
    }
    CHECK(alive == 0);
    CHECK(outside().count("body goes on") == 0);
    CHECK(outside().count("cancelled with 1000") == 0);  // its coroutine was destroyed, not resumed
}

TEST_CASE("an engine may go away before anything of it has run", "[engine][executor][lifetime]")
{
    memory_stores place;
    outside().clear();
    asio::io_context io;
    {
        flow::engine engine(place.store, on(io.get_executor()));
        add_all(engine);
        engine.start<hangs>();
        flow::async_stop(engine, [](bool all) { outside().note(all ? "stopped" : "not stopped"); });
    }
    io.run();
    CHECK(outside().all() == std::vector<std::string>{"stopped"});
}

TEMPLATE_LIST_TEST_CASE("an engine that goes away waits for plain functions and journals what they return; their bodies do not go on",
                        "[engine][executor][lifetime]", every_store)
{
    TestType place;
    outside().clear();
    asio::io_context io;
    flow::run_id id;
    {
        flow::engine engine(place.store, on(io.get_executor()));
        add_all(engine);
        id = engine.template start<heeds_stop>().id();
        REQUIRE(run_until(io, [] { return outside().count("begins") == 1; }));
    }
    CHECK(alive == 0);
    flow::client client(place.store);
    CHECK(client.inspect(id).steps.at(0).status == flow::step_status::completed);
    CHECK(client.inspect(id).row.status.execution == flow::execution_status::queued);  // given back: its next start is no recovery
    CHECK(outside().count("body goes on") == 0);
    io.restart();
    io.run();
    CHECK(outside().all() == std::vector<std::string>{"begins"});
}

TEST_CASE("an engine goes away while other threads run its executor", "[engine][executor][lifetime]")
{
    memory_stores place;
    asio::thread_pool several(4);
    for (int round = 0; round < 20; ++round) {
        auto const threads = round % 2 - 1;
        flow::engine engine(place.store, on(several.get_executor(), threads));
        add_all(engine);
        for (int i = 0; i < 10; ++i) engine.start<branches>(i);
        if (round % 3 == 0) flow::async_stop(engine, [](bool) {});
    }
    flow::engine last(place.store, on(several.get_executor()));
    add_all(last);
    flow::run_filter done;
    done.status = flow::run_status::succeeded;
    done.limit = 1'000;
    CHECK(eventually([&] { return last.runs(done).size() == 200; }));
}

TEST_CASE("a non_replayable Asio step that was cut off by the engine's end is in doubt", "[engine][executor][lifetime]")
{
    memory_stores place;
    outside().clear();
    flow::run_id id;
    {
        asio::io_context io;
        flow::engine engine(place.store, on(io.get_executor()));
        add_all(engine);
        id = engine.start<in_doubt>().id();
        REQUIRE(run_until(io, [] { return outside().count("begins") == 1; }));
    }
    world w(place.store, add_all);
    w.settle();
    CHECK(w.status(id) == flow::run_status::waiting);
    CHECK(w.entries(id, flow::entry_kind::intervention) == 1);
    CHECK(outside().count("begins") == 0);
}

TEST_CASE("what an engine on an executor refuses", "[engine][executor]")
{
    memory_stores place;
    CHECK_THROWS_AS(flow::asio_executor({}), flow::error);
    asio::io_context io;
    flow::engine engine(place.store, on(io.get_executor(), 0));
    CHECK_THROWS_AS(engine.poll(1ms), flow::error);
    flow::engine_options o;
    o.threads = 1;
    flow::engine other(place.store, o);
    CHECK_THROWS_AS(flow::async_stop(other, [](bool) {}), flow::error);
}
