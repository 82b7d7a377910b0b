// Frames and functions: a frame outlives every function that was given a reference into it (P26).
#include <catch2/catch.hpp>

#include <atomic>
#include <future>

#include "flow/flow.hpp"
#include "support/eventually.hpp"
#include "support/invariants.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

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

flow::workflow<std::string> outlives()
{
    std::string got;
    {
        std::string local(1000, 'x');
        auto const r = co_await flow::as_outcome(flow::step(
            "stubborn", flow::idempotent,
            [&] {
                while (!let_go) std::this_thread::sleep_for(1ms);
                outside().note(std::to_string(local.size()));  // its local is still there
                return 1;
            },
            {.timeout = 20ms, .retry = {.max_attempts = 1}}));
        got = r ? "value" : std::string(flow::row_of(r.error().code()).name);
    }
    outside().note("body goes on");
    co_return got;
}

flow::workflow<std::string> leaves_behind()
{
    auto fn = [text = std::string(1000, 'y'), &go = let_go] {
        while (!go) std::this_thread::sleep_for(1ms);
        outside().note("late " + std::to_string(text.size()));
        return 1;
    };
    auto const r = co_await flow::as_outcome(flow::step("stubborn", flow::idempotent, flow::detached(fn), {.timeout = 20ms, .retry = {.max_attempts = 1}}));
    co_return r ? "value" : std::string(flow::row_of(r.error().code()).name);
}

flow::workflow<int> waits_with_locals()
{
    counted const c;
    co_return co_await flow::wait_for_token<int>("answer");
}

struct throws_on_exit {
    bool armed = true;
    ~throws_on_exit() noexcept(false)
    {
        outside().note("~");
        if (armed) throw std::runtime_error("from a destructor");
    }
};

flow::workflow<int> throws_in_clean_up()
{
    throws_on_exit const t;
    co_return co_await flow::wait_for_token<int>("answer");
}

flow::workflow<int> heeds_stop()
{
    co_return co_await flow::step("loop", flow::idempotent, [](flow::attempt& a) {
        while (!a.stop_requested()) std::this_thread::sleep_for(1ms);
        outside().note("stopped");
        return 1;
    });
}

void add_all(flow::engine& e)
{
    e.add<outlives>("outlives");
    e.add<leaves_behind>("leaves_behind");
    e.add<waits_with_locals>("waits_with_locals");
    e.add<throws_in_clean_up>("throws_in_clean_up");
    e.add<heeds_stop>("heeds_stop");
}

flow::engine_options with_threads()
{
    flow::engine_options o;
    o.threads = 2;
    o.log = nullptr;
    return o;
}

/// Whatever a test finds out, its function returns at the end.
struct let_go_at_end {
    let_go_at_end() { let_go = false; }
    ~let_go_at_end() { let_go = true; }
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("PR-07 a time-out is visible at once, the body goes on when the function has returned", "[engine][lifetime]", every_store)
{
    TestType place;
    outside().clear();
    flow::engine engine(place.store, with_threads());
    let_go_at_end const at_end;
    add_all(engine);
    auto run = engine.start<outlives>();
    // The decision is journaled and visible while the function still runs.
    REQUIRE(eventually([&] { return !engine.still_running().empty(); }));
    REQUIRE(eventually([&] {
        auto const v = engine.inspect(run.id());
        return !v.steps.empty() && v.steps.front().status == flow::step_status::failed;
    }));
    CHECK(outside().count("body goes on") == 0);
    CHECK_THAT(engine.inspect(run.id()).doing, Catch::Contains("goes on when the step's function has returned"));
    CHECK_THAT(engine.still_running().at(0), Catch::StartsWith(to_string(run.id())) && Catch::Contains(", called 0 s ago"));
    let_go = true;
    CHECK(run.result() == "step_timeout");
    CHECK(outside().all() == std::vector<std::string>{"1000", "body goes on"});
}

TEST_CASE("PR-07 a detached function is left behind at its time-out", "[engine][lifetime]")
{
    memory_stores place;
    outside().clear();
    let_go_at_end const at_end;
    {
        flow::engine engine(place.store, with_threads());
        add_all(engine);
        auto run = engine.start<leaves_behind>();
        CHECK(run.result() == "step_timeout");
        CHECK(outside().count("late 1000") == 0);
        let_go = true;
        CHECK(eventually([] { return outside().count("late 1000") == 1; }));
    }
}

TEMPLATE_LIST_TEST_CASE("CO-05 destroying an engine destroys its frames on that thread, once, and changes no journal of a waiting run", "[engine][lifetime]", every_store)
{
    TestType place;
    std::vector<flow::run_id> runs;
    std::vector<std::size_t> lengths;
    {
        flow::engine engine(place.store, with_threads());
        add_all(engine);
        for (int i = 0; i < 100; ++i) runs.push_back(engine.start<waits_with_locals>().id());
        REQUIRE(eventually([&] {
            flow::run_filter waiting;
            waiting.status = flow::run_status::waiting;
            return engine.runs(waiting).size() == 100;
        }));
        CHECK(alive == 100);
        for (auto id : runs) lengths.push_back(engine.journal(id).size());
    }
    CHECK(alive == 0);
    flow::client client(place.store);
    for (std::size_t i = 0; i < runs.size(); ++i) CHECK(client.journal(runs[i]).size() == lengths[i]);
}

TEST_CASE("CO-07 a destructor that throws while its frame is taken down is contained", "[engine][lifetime]")
{
    memory_stores place;
    world w(place.store, add_all);
    auto const shut_down = w.engine().start<throws_in_clean_up>().id();
    w.settle();
    w.restart();  // the frame is destroyed while suspended
    w.settle();
    CHECK(outside().count("~") == 1);
    CHECK(w.status(shut_down) == flow::run_status::waiting);
    w.engine().complete_json(w.open_token(), "1");
    w.settle();
    auto const end = w.engine().find(shut_down).end();
    REQUIRE(end.failure);  // on a normal end the throw is the body's: it fails, and says why
    CHECK(end.failure->message() == "from a destructor");
}

TEST_CASE("stopping asks functions to stop, journals what they return and gives the run back", "[engine][lifetime]")
{
    memory_stores place;
    outside().clear();
    flow::run_id id;
    {
        flow::engine engine(place.store, with_threads());
        add_all(engine);
        id = engine.start<heeds_stop>().id();
        REQUIRE(eventually([&] { return !engine.still_running().empty(); }));
        CHECK(engine.stop(10s));
    }
    CHECK(outside().count("stopped") == 1);
    flow::client client(place.store);
    CHECK(client.inspect(id).row.status.execution == flow::execution_status::queued);
    CHECK(client.inspect(id).steps.at(0).status == flow::step_status::completed);
    world w(place.store, add_all);
    w.settle();
    CHECK(w.status(id) == flow::run_status::succeeded);
    CHECK(outside().count("stopped") == 0);  // the world cleared it; it did not run again
}

namespace {

flow::workflow<int> adds_up(int n)
{
    int sum = 0;
    for (int i = 0; i < n; ++i) {
        sum += co_await flow::step("add", flow::idempotent, [] { return 1; });
        sum += co_await flow::step("pay", flow::non_replayable, [] { return outside().note("pay"), 1; });
    }
    co_return sum;
}

flow::workflow<int> holds_the_thread()
{
    co_return co_await flow::step("hold", flow::idempotent, [] {
        outside().note("hold");
        while (!let_go) std::this_thread::sleep_for(1ms);
        return 1;
    });
}

}  // namespace

TEST_CASE("P31 an orderly stop under load gives every run back: the next start is no recovery, and nothing is in doubt", "[engine][stop]")
{
    constexpr int runs = 40, steps = 60;
    for (int round = 0; round < 10; ++round) {
        outside().clear();
        auto const store = flow::memory();
        flow::engine_options o;
        o.threads = 4;
        o.log = nullptr;
        std::vector<flow::run_id> all;
        {
            flow::engine e(store, o);
            e.add<adds_up>("adds_up");
            for (int i = 0; i < runs; ++i) all.push_back(e.start<adds_up>(steps).id());
            eventually([&] { return e.find(all.front()).view().entries > 5; });
            REQUIRE(e.stop(10s));
        }
        for (auto const id : all) {
            auto const row = store->run(id).value();
            REQUIRE(row);
            auto const last = store->journal(id, flow::seq_no::none, 1000).value().back();
            INFO(to_string(row->status.execution) << ", last " << to_string(last.kind) << ' ' << last.name);
            CHECK(row->owner == flow::owner_id::nobody);
        }
        flow::engine e(store, o);
        e.add<adds_up>("adds_up");
        std::vector<flow::any_run_handle> again;
        for (auto const id : all) again.push_back(e.find(id));
        bool const ended = e.wait_for_all(again, 20s);
        std::string stuck;
        for (auto const& r : again)
            if (!is_terminal(r.status().run)) {
                auto const v = r.view();
                stuck += v.doing + "; " + v.waits_for.detail + "; ";
                for (auto const& en : e.journal(r.id(), flow::seq_no::none, 1000)) stuck += std::string(to_string(en.kind)) + " " + en.name + " " + en.payload.substr(0,150) + "\n";
                break;
            }
        INFO(stuck);
        REQUIRE(ended);
        CHECK(outside().count("pay") == runs * steps);
        check_invariants(*store);
    }
}

TEST_CASE("a non_replayable step that was not called before an engine's end is no failure, and no doubt", "[engine][stop]")
{
    outside().clear();
    let_go = false;
    auto const store = flow::memory();
    flow::engine_options o;
    o.threads = 1;
    o.most_threads = 1;
    o.log = nullptr;
    flow::run_id pays{};
    {
        flow::engine e(store, o);
        e.add<adds_up>("adds_up");
        e.add<holds_the_thread>("holds_the_thread");
        e.start<holds_the_thread>();
        REQUIRE(eventually([] { return outside().count("hold") == 1; }));
        std::jthread const later([] {
            std::this_thread::sleep_for(30ms);
            let_go = true;
        });
        pays = e.start<adds_up>(1).id();
        e.stop(10s);
    }
    CHECK(store->run(pays).value()->owner == flow::owner_id::nobody);
    flow::engine e(store, o);
    e.add<adds_up>("adds_up");
    e.add<holds_the_thread>("holds_the_thread");
    CHECK(flow::run_handle<int>(e.find(pays)).result() == 2);
    CHECK(outside().count("pay") == 1);
}
