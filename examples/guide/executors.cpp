// For docs/guide/executors.md: whose threads an engine runs on, and how many functions run at once.
#include <flow/asio.hpp>
#include <flow/flow.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "../scratch.hpp"

namespace asio = boost::asio;
using namespace std::chrono_literals;

flow::workflow<int> patrol(int stops)
{
    int seen = 0;
    for (int i = 0; i < stops; ++i) {
        seen += co_await flow::step("look", flow::idempotent, [] { return 1; });
        co_await flow::sleep_for(5ms);
    }
    co_return seen;
}

// [coroutine]
flow::workflow<int> fetch(int ms)
{
    co_return co_await flow::step("fetch", flow::idempotent, [&]() -> asio::awaitable<int> {
        asio::steady_timer timer{co_await asio::this_coro::executor, std::chrono::milliseconds{ms}};
        co_await timer.async_wait(asio::use_awaitable);
        co_return ms;
    });
}
// [/coroutine]

std::atomic<int> asking{0}, most_at_once{0};

std::string ask_model(std::string const& question)
{
    most_at_once = std::max(most_at_once.load(), ++asking);
    std::this_thread::sleep_for(5ms);
    --asking;
    return "about " + question;
}

// [limit]
flow::workflow<std::string> answer(std::string question)
{
    co_return co_await flow::step("ask", flow::idempotent, [&] { return ask_model(question); },
                                  {.timeout = 30s, .limit = flow::limit{"model", 2}});
}
// [/limit]

int own_threads(std::string const& file)
{
    // [own]
    flow::engine engine{flow::sqlite(file)};  // as many threads as cores
    engine.add<patrol>("patrol");
    return engine.start<patrol>(3).result();
    // [/own]
}

struct game {
    int frames = 0;
    void frame(flow::duration) { ++frames; }
};

int polled(std::string const& file)
{
    game game;
    // [poll]
    flow::engine engine{flow::sqlite(file), {.threads = 0, .io_thread = true}};
    engine.add<patrol>("patrol");
    auto const run = engine.start<patrol>(3);
    while (!is_terminal(run.status().run)) {
        auto const left = engine.poll(2ms);
        game.frame(left.work_left ? flow::duration::zero() : left.next_due);
    }
    // [/poll]
    return run.result();
}

void report_end(bool all_returned)
{
    if (!all_returned) std::puts("something still runs: engine.still_running() names it");
}

int on_executor(std::string const& file)
{
    // [executor]
    asio::io_context io;
    flow::engine engine{flow::sqlite(file), {.executor = flow::asio_executor(io.get_executor())}};
    engine.add<fetch>("fetch");
    auto const run = engine.start<fetch>(5);

    asio::signal_set signals{io, SIGINT, SIGTERM};
    signals.async_wait([&](boost::system::error_code, int) {
        flow::async_stop(engine, 10s, report_end);  // a callback, or any other token: asio::use_awaitable
    });
    io.run();  // returns when the engine has stopped and nothing else is left to do
    // [/executor]
    return run.status().run == flow::run_status::succeeded ? 5 : 0;
}

int main()
{
    scratch_folder const here;
    expect(own_threads(here.file("own.db")) == 3, "an engine runs on threads of its own");
    expect(polled(here.file("polled.db")) == 3, "in somebody's loop");

    std::thread person([] {
        std::this_thread::sleep_for(300ms);
        ::kill(::getpid(), SIGTERM);
    });
    expect(on_executor(here.file("executor.db")) == 5, "and on an io_context, until a signal comes");
    person.join();

    flow::engine engine{flow::memory(), {.threads = 4}};
    engine.add<answer>("answer");
    std::vector<flow::run_handle<std::string>> runs;
    for (int i = 0; i < 10; ++i) runs.push_back(engine.start<answer>("weather"));
    for (auto const& run : runs) expect(run.result() == "about weather", "a question is answered");
    expect(most_at_once <= 2, "and never more than two are asked at once");
}
