// What a durable run is for: hours of work kept when a late step fails (BD-06), and days with people in between (TD-27).
#include <catch2/catch.hpp>

#include <condition_variable>
#include <future>
#include <mutex>
#include <optional>
#include <utility>

#include "engine/dying.hpp"
#include "flow/flow.hpp"
#include "support/invariants.hpp"
#include "support/stores.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

// ---- BD-06 -------------------------------------------------------------------------------------------------------------------

constexpr auto a_step_takes = 34s;
manual_clock* runs_by = nullptr;

/// The service that step 8 asks: the first time it does not answer.
struct slow_service {
    std::promise<void> asked, given_up;
    std::function<void()> dies;
};
slow_service* service = nullptr;

int work(std::string what, int n)
{
    outside().note(std::move(what));
    runs_by->advance(a_step_takes);
    return n;
}

int query(flow::attempt& a)
{
    outside().note("query");
    auto* const hangs = std::exchange(service, nullptr);
    if (!hangs) return 8;
    hangs->asked.set_value();
    std::mutex m;
    std::unique_lock lock(m);
    std::condition_variable_any answer;
    answer.wait(lock, a.stop_token(), [] { return false; });
    if (hangs->dies) hangs->dies();
    hangs->given_up.set_value();
    throw std::runtime_error("told to stop");
}

flow::workflow<int> ten_steps()
{
    int sum = co_await flow::step("load", flow::replayable, [] { return work("load", 1); });
    sum += co_await flow::step("delete", flow::non_replayable, [] { return work("delete", 2); });
    for (int i = 3; i <= 6; ++i)
        sum += co_await flow::step("compute", flow::idempotent, [i] { return work("compute " + std::to_string(i), i); });
    sum += co_await flow::step("mail", flow::non_replayable, [] { return work("mail", 7); });
    sum += co_await flow::step("query", flow::idempotent, query, {.timeout = 1min});
    sum += co_await flow::step("merge", flow::replayable, [] { return work("merge", 9); });
    sum += co_await flow::step("publish", flow::non_replayable, [] { return work("publish", 10); });
    co_return sum;
}

// ---- TD-27 -------------------------------------------------------------------------------------------------------------------

flow::workflow<std::string> three_days()
{
    co_await flow::step("1", flow::idempotent, [] { outside().note("1"); });
    auto const first = co_await flow::wait_for_token<std::string>("first approval");
    co_await flow::step("2", flow::non_replayable, [] { outside().note("2"); });
    co_await flow::sleep_for(24h);
    co_await flow::step("3", flow::replayable, [] { outside().note("3"); });
    auto const second = co_await flow::wait_for_token<std::string>("second approval");
    co_await flow::step("4", flow::non_replayable, [] { outside().note("4"); });
    co_return first + " and " + second;
}

void add_all(flow::engine& e)
{
    e.add<ten_steps>("ten_steps");
    e.add<three_days>("three_days");
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("BD-06 step 8 of ten times out: after the restart it alone is repeated, no mail twice, no second delete",
                        "[engine][step][recovery]", every_store)
{
    outside().clear();
    dying_place<TestType> place;
    manual_clock clock;
    runs_by = &clock;
    slow_service unanswering;
    service = &unanswering;
    auto asked = unanswering.asked.get_future(), given_up = unanswering.given_up.get_future();
    flow::engine_options o;
    o.threads = 2;  // a function inside `poll` is not timed out
    o.clock = &clock;
    o.log = nullptr;
    bool killed = false;
    SECTION("the engine is restarted in an orderly way") {}
    SECTION("its process dies with the step")
    {
        killed = true;
        unanswering.dies = [&] { place.cut_off(); };
    }

    std::optional<flow::engine> engine(std::in_place, place.open(), o);
    add_all(*engine);
    auto const id = engine->template start<ten_steps>().id();
    REQUIRE(asked.wait_for(1min) == std::future_status::ready);
    clock.advance(1min);
    REQUIRE(given_up.wait_for(1min) == std::future_status::ready);
    engine.reset();
    place.bury();

    flow::client reader(place.look());
    auto const kept = reader.journal(id, flow::seq_no::none, 1'000);
    auto const halfway = reader.inspect(id);
    REQUIRE(halfway.steps.size() >= 7);
    for (std::size_t i = 0; i < 7; ++i) CHECK(halfway.steps[i].status == flow::step_status::completed);
    CHECK(halfway.steps[6].place == "mail#0");
    CHECK(halfway.steps[6].ended_at - halfway.row.created_at == 7 * a_step_takes);  // four minutes of work
    if (!killed) {
        auto const failed =
            std::find_if(kept.begin(), kept.end(), [](auto const& e) { return e.kind == flow::entry_kind::attempt_failed; });
        REQUIRE(failed != kept.end());
        CHECK(failed->place == "query#0");
        CHECK_THAT(failed->payload, Catch::Contains("step_timeout"));
    }

    clock.advance(1h);
    engine.emplace(place.open(), o);
    add_all(*engine);
    REQUIRE(engine->find(id).wait(1min));
    CHECK(engine->inspect(id).result == "55");
    CHECK(outside().all() == std::vector<std::string>{"load", "delete", "compute 3", "compute 4", "compute 5", "compute 6", "mail",
                                                      "query", "query", "merge", "publish"});
    auto const whole = reader.journal(id, flow::seq_no::none, 1'000);
    REQUIRE(whole.size() > kept.size());
    CHECK(std::equal(kept.begin(), kept.end(), whole.begin()));
    engine.reset();
    check_invariants(*place.look());
}

TEMPLATE_LIST_TEST_CASE("TD-27 a run of three days with two approvals and five restarts goes on at step 4", "[engine][wait][recovery]",
                        every_store)
{
    dying_place<TestType> place;
    world w(place.open(), add_all);
    using ledger_lines = std::vector<std::string>;
    auto const id = w.engine().template start<three_days>().id();
    w.pass(10h);
    w.restart();  // 1: it waits for somebody
    w.pass(10h);
    place.die(w);  // 2: the same, unprepared
    w.pass(4h);
    CHECK(outside().all() == ledger_lines{"1"});
    w.engine().complete_json(w.open_token("first approval"), R"("alice")");
    w.pass(12h);
    place.die(w);  // 3: it sleeps
    w.pass(12h);
    CHECK(outside().all() == ledger_lines{"1", "2", "3"});
    w.pass(12h);
    w.restart();  // 4
    w.pass(12h);
    place.die(w);  // 5
    w.settle();
    CHECK(outside().all() == ledger_lines{"1", "2", "3"});
    CHECK(w.status(id) == flow::run_status::waiting);
    w.engine().complete_json(w.open_token("second approval"), R"("bob")");
    w.settle();
    CHECK(outside().all() == ledger_lines{"1", "2", "3", "4"});
    CHECK(w.view(id).result == R"("alice and bob")");
    auto const row = w.view(id).row;
    CHECK(row.changed_at - row.created_at == 72h);
    check_invariants(*place.look());
}
