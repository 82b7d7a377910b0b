// poll with an io_thread: one thread commits and looks into the store, so that a slow disk holds up no frame.
#include <catch2/catch.hpp>

#include <atomic>
#include <mutex>
#include <thread>

#include "engine/process_facts.hpp"
#include "flow/asio.hpp"
#include "flow/flow.hpp"
#include "support/eventually.hpp"
#include "support/fault_store.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

/// A disk that is slow as long as the test wants it to be; counts who waits for it.
class slow_store final : public fault_store {
public:
    using fault_store::fault_store;

    flow::outcome<std::vector<flow::answer>> apply(std::span<flow::group const> groups, flow::time_limit limit) override
    {
        seen();
        while (slow) std::this_thread::sleep_for(1ms);
        auto answers = fault_store::apply(groups, limit);
        ++commits;
        return answers;
    }
    flow::outcome<std::vector<flow::claimed>> claim(flow::claim_request const& what) override { return seen(), fault_store::claim(what); }
    flow::outcome<std::size_t> scan(flow::time_point now, std::size_t n) override { return seen(), fault_store::scan(now, n); }
    flow::outcome<std::vector<flow::notice>> look(flow::owner_id owner, std::size_t n) override { return seen(), fault_store::look(owner, n); }

    std::atomic<bool> slow{false};
    std::atomic<int> commits{0}, waiting{0};
    std::atomic<int> on_polling_thread{0};

private:
    void seen()
    {
        ++waiting;
        if (std::this_thread::get_id() == polls_) ++on_polling_thread;
    }
    std::thread::id const polls_ = std::this_thread::get_id();
};

flow::workflow<int> acts()
{
    outside().note("body");
    co_await flow::step("act", flow::non_replayable, [] { outside().note("act"); });
    co_await flow::step("act again", flow::idempotent, [] { outside().note("act again"); });
    outside().note("asks");
    co_return co_await flow::wait_for_token<int>("answer");
}

flow::workflow<int> sleeps()
{
    co_await flow::sleep_for(24h);
    co_return 1;
}

flow::workflow<int> coroutine()
{
    co_return co_await flow::step("coroutine", flow::idempotent, []() -> boost::asio::awaitable<int> { co_return 1; });
}

flow::workflow<int> first_a()
{
    co_await flow::step("a", flow::idempotent, [] {});
    co_return co_await flow::wait_for_token<int>("answer");
}
flow::workflow<int> first_b()
{
    co_await flow::step("b", flow::idempotent, [] {});
    co_return co_await flow::wait_for_token<int>("answer");
}

void add_all(flow::engine& e)
{
    e.add<acts>("acts");
    e.add<sleeps>("sleeps");
    e.add<coroutine>("coroutine");
}

flow::engine_options with_io_thread()
{
    flow::engine_options o;
    o.io_thread = true;
    return o;
}

/// Polls until it is so.
template <class Condition>
bool settles(world& w, Condition const& c)
{
    return eventually([&] { return w.settle(), c(); });
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("RG-01 with an io_thread exactly one thread is made, and what poll does stays in poll", "[engine][poll][io_thread]", every_store)
{
    TestType place;
    auto const before = threads_now();
    world w(place.store, add_all, with_io_thread());
    CHECK(new_threads_since(before) == TestType::threads + 1);
    auto const run = w.engine().template start<acts>();
    REQUIRE(settles(w, [&] { return w.status(run.id()) == flow::run_status::waiting; }));
    w.engine().complete_json(w.open_token("answer"), "5");
    REQUIRE(settles(w, [&] { return w.status(run.id()) == flow::run_status::succeeded; }));
    CHECK(w.view(run.id()).result == "5");
    CHECK(w.engine().template start<coroutine>().result() == 1);  // who waits for a run drives the engine
    CHECK(outside().all() == std::vector<std::string>{"body", "act", "act again", "asks"});
    CHECK(new_threads_since(before) == TestType::threads + 1);
    w.stop();
    CHECK(new_threads_since(before) <= TestType::threads);
}

TEST_CASE("RG-10 while the disk is slow poll returns, says that it should be called again, and does the rest", "[engine][poll][io_thread]")
{
    memory_stores place;
    auto const disk = std::make_shared<slow_store>(place.store);
    world w(disk, add_all, with_io_thread());
    auto const run = w.engine().start<acts>();
    disk->slow = true;
    REQUIRE(settles(w, [] { return outside().count("body") == 1; }));
    // The intent is on its way, and stays there: every poll comes back.
    for (int frame = 0; frame < 100; ++frame) {
        auto const r = w.engine().poll(2ms);
        CHECK_FALSE(r.work_left);
        CHECK(r.next_due <= 10ms);
    }
    CHECK(outside().count("act") == 0);
    // Beside it what needs no commit goes on.
    auto const other = w.engine().start<sleeps>();
    w.settle();
    disk->slow = false;
    REQUIRE(settles(w, [&] { return w.status(run.id()) == flow::run_status::waiting; }));
    REQUIRE(settles(w, [&] { return w.status(other.id()) == flow::run_status::waiting; }));
    CHECK(disk->waiting > 0);
    CHECK(disk->on_polling_thread == 0);
}

TEST_CASE("nothing is called between polls", "[engine][poll][io_thread]")
{
    memory_stores place;
    auto const disk = std::make_shared<slow_store>(place.store);
    world w(disk, add_all, with_io_thread());
    w.engine().start<acts>();
    std::size_t called = 0;
    REQUIRE(eventually([&] {
        int const commits = disk->commits;
        w.engine().poll(2ms);
        called = outside().all().size();
        // What this poll has given away is committed, and more; nobody is told before the next poll.
        if (called > 0 && outside().count("asks") == 0) REQUIRE(eventually([&] { return disk->commits > commits; }));
        CHECK(outside().all().size() == called);
        return outside().count("asks") == 1;
    }));
    CHECK(called == 4);
}

TEMPLATE_LIST_TEST_CASE("poll with an io_thread says when to come back", "[engine][poll][io_thread]", every_store)
{
    TestType place;
    world w(place.store, add_all, with_io_thread());
    auto const until_idle = [&] {
        flow::poll_result r;
        REQUIRE(eventually([&] {
            r = w.engine().poll(1s);
            return !r.work_left && r.next_due > 1h;
        }));
        return r.next_due;
    };
    CHECK(until_idle() == flow::duration::max());
    auto const run = w.engine().template start<sleeps>();
    REQUIRE(settles(w, [&] { return w.status(run.id()) == flow::run_status::waiting; }));
    w.clock().advance(1h);  // it leaves memory
    REQUIRE(settles(w, [&] { return w.view(run.id()).row.status.execution == flow::execution_status::suspended; }));
    CHECK(until_idle() == 23h);
    w.clock().advance(23h);
    CHECK(settles(w, [&] { return w.status(run.id()) == flow::run_status::succeeded; }));
}

TEMPLATE_LIST_TEST_CASE("with an io_thread a held run is tried again inside poll, and goes on if today's code fits", "[engine][poll][io_thread]", every_store)
{
    TestType place;
    world w(place.store, [](flow::engine& e) { e.add<first_a>("w"); }, with_io_thread());
    auto const run = w.engine().template start<first_a>().id();
    REQUIRE(settles(w, [&] { return w.status(run) == flow::run_status::waiting; }));
    w.restart(nullptr, [](flow::engine& e) { e.add<first_b>("w"); });
    w.engine().complete_json(w.open_token("answer"), "5");
    REQUIRE(settles(w, [&] { return w.status(run) == flow::run_status::held; }));
    w.restart(nullptr, [](flow::engine& e) { e.add<first_a>("w"); });
    CHECK(settles(w, [&] { return w.status(run) == flow::run_status::succeeded; }));
}

TEST_CASE("a disk that fails is tried again by the io_thread, which still looks for what comes from outside", "[engine][poll][io_thread][faults]")
{
    memory_stores place;
    auto const disk = std::make_shared<fault_store>(place.store);
    world w(disk, add_all, with_io_thread());
    auto const run = w.engine().start<acts>();
    disk->plan(2, fault::fail, flow::errc::store_full);
    REQUIRE(settles(w, [&] { return w.status(run.id()) == flow::run_status::waiting; }));
    CHECK(disk->reached());
    w.engine().complete_json(w.open_token("answer"), "5");
    CHECK(settles(w, [&] { return w.status(run.id()) == flow::run_status::succeeded; }));
    CHECK(outside().count("act") == 1);
}
