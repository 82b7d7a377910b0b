// Resources: opened once, snapshot and closed when the run leaves memory, restored when it comes back; and what becomes of one that cannot be.
#include <catch2/catch.hpp>

#include "flow/flow.hpp"
#include "support/invariants.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace std::chrono_literals;
using namespace flow::test;
using Catch::Contains;

namespace {

int open_now = 0;
bool breaks_at_snapshot = false, breaks_at_restore = false, breaks_at_open = false;

/// What another process would see of it: how far the fingers are apart.
struct grip {
    int width = 0;
    std::string serial;
};

class gripper {
public:
    static std::unique_ptr<gripper> open(std::string serial)
    {
        if (breaks_at_open) throw std::runtime_error("no answer from " + serial);
        outside().note("open");
        return std::make_unique<gripper>(grip{10, std::move(serial)});
    }
    static std::unique_ptr<gripper> restore(grip as)
    {
        if (breaks_at_restore) throw std::runtime_error("the arm was moved by hand");
        outside().note("restore " + std::to_string(as.width));
        return std::make_unique<gripper>(std::move(as));
    }
    explicit gripper(grip as) : now(std::move(as)) { ++open_now; }
    ~gripper() { --open_now; }
    grip snapshot() const
    {
        if (breaks_at_snapshot) throw std::runtime_error("it moves");
        return now;
    }
    void close() noexcept { outside().note("close"); }

    grip now;
};

/// Lives and dies with its process.
class session {
public:
    static std::unique_ptr<session> open() { return outside().note("open"), std::make_unique<session>(); }
    int uses = 0;
};

flow::workflow<int> picks()
{
    {
        auto hand = co_await flow::open_resource<gripper>("hand", std::string("A7"));
        co_await flow::step("squeeze", flow::idempotent, [&] { hand->now.width = 3; });
        co_await flow::wait_for_token<int>("go on");
        co_await flow::step("squeeze more", flow::idempotent, [&] { hand->now.width -= 1; });
        co_await flow::wait_for_token<int>("let go");
        auto const width = co_await flow::step("look", flow::replayable, [&] { return hand->now.width; });
        outside().note("width " + std::to_string(width));
    }
    outside().note("scope ends");
    co_return co_await flow::wait_for_token<int>("end");
}

flow::workflow<int> talks()
{
    auto line = co_await flow::open_resource<session>("line");
    co_await flow::step("say", flow::idempotent, [&] { ++line->uses; });
    co_await flow::wait_for_token<int>("go on");
    co_return co_await flow::step("say more", flow::idempotent, [&] { return ++line->uses; });
}

flow::workflow<std::string> tries()
{
    std::string why;
    try {
        auto const hand = co_await flow::open_resource<gripper>("hand", "B1");
    } catch (flow::step_error const& e) {
        why = e.what();
    }
    co_await flow::wait_for_token<int>("go on");
    co_return why;
}

flow::workflow<void> uses_in_the_body()
{
    auto hand = co_await flow::open_resource<gripper>("hand", std::string("A7"));
    auto const width = hand->now.width;
    co_await flow::wait_for_token<int>("go on");
    outside().note("width " + std::to_string(width));
}

flow::workflow<int> tidies_up()
{
    auto hand = co_await flow::open_resource<gripper>("hand", std::string("A7"));
    auto const got = co_await flow::as_outcome(flow::wait_for_token<int>("go on"));
    if (!got) co_await flow::shield(flow::step("park", flow::idempotent, [&] { outside().note("park " + hand->now.serial); }));
    co_return 1;
}

flow::workflow<int> two_in_branches()
{
    auto const one = [](std::string serial) -> flow::workflow<int> {
        auto hand = co_await flow::open_resource<gripper>("hand", serial);
        co_await flow::step("set", flow::idempotent, [&] { hand->now.width = static_cast<int>(serial.size()); });
        co_await flow::wait_for_token<int>("go on");
        co_return co_await flow::step("look", flow::replayable, [&] { return hand->now.width; });
    };
    auto const [a, b] = co_await flow::all(one("1"), one("22"));
    co_return a * 10 + b;
}

void add_all(flow::engine& e)
{
    e.add<picks>("picks");
    e.add<talks>("talks");
    e.add<tries>("tries");
    e.add<uses_in_the_body>("uses_in_the_body");
    e.add<tidies_up>("tidies_up");
    e.add<two_in_branches>("two_in_branches");
}

flow::engine_options leaves_at_once()
{
    open_now = 0;
    breaks_at_open = breaks_at_snapshot = breaks_at_restore = false;
    flow::engine_options o;
    o.evict_after = 0s;
    return o;
}

flow::engine_options stays_in_memory()
{
    auto o = leaves_at_once();
    o.evict_after = 24h;
    return o;
}

void pause(world& w, flow::run_id id)
{
    w.engine().pause(id);
    w.settle();
    REQUIRE(w.status(id) == flow::run_status::paused);
}

void answer(world& w, std::string_view token)
{
    w.engine().complete_json(w.open_token(token), "1");
    w.pass(1s);
}

using texts = std::vector<std::string>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("a resource is closed while its run is out of memory, and comes back as it was", "[engine][resource]", every_store)
{
    TestType place;
    world w(place.store, add_all, leaves_at_once());
    auto const run = w.engine().template start<picks>();
    w.pass(1s);
    REQUIRE(w.view(run.id()).row.status.execution == flow::execution_status::suspended);
    CHECK(open_now == 0);
    CHECK(outside().all() == texts{"open", "close"});
    answer(w, "go on");
    CHECK(open_now == 0);  // it waits again
    w.restart();           // in another process
    w.pass(1s);
    answer(w, "let go");
    // Nothing is opened twice, and what was closed at the end of its scope is not restored any more.
    CHECK(outside().all() == texts{"open", "close", "restore 3", "close", "restore 2", "width 2", "close", "scope ends"});
    answer(w, "end");
    CHECK(run.result() == 1);
    CHECK(outside().count("open") == 1);
    CHECK(outside().count("restore 2") == 1);
    CHECK(open_now == 0);
    check_invariants(*place.store);
}

TEMPLATE_LIST_TEST_CASE("a resource comes back after its engine has stopped", "[engine][resource]", every_store)
{
    TestType place;
    world w(place.store, add_all, stays_in_memory());
    auto const run = w.engine().template start<picks>();
    w.settle();
    CHECK(open_now == 1);
    w.restart();
    w.settle();
    answer(w, "go on");
    CHECK(open_now == 1);
    CHECK(outside().all() == texts{"open", "close", "restore 3"});
    answer(w, "let go");
    answer(w, "end");
    CHECK(run.result() == 1);
}

TEST_CASE("a snapshot that cannot be restored fails the run, and nothing is begun anew", "[engine][resource]")
{
    memory_stores place;
    world w(place.store, add_all, leaves_at_once());
    auto const run = w.engine().start<picks>();
    w.pass(1s);
    breaks_at_restore = true;
    answer(w, "go on");
    auto const v = w.view(run.id());
    CHECK(v.row.status.run == flow::run_status::failed);
    CHECK(v.row.terminal_reason == "snapshot_unavailable");
    REQUIRE(v.failure);
    CHECK(v.failure->code == flow::errc::snapshot_unavailable);
    CHECK_THAT(v.failure->message, Contains("hand") && Contains("moved by hand"));
    CHECK(outside().count("open") == 1);
    check_invariants(*place.store);
}

TEST_CASE("a snapshot that could not be taken fails the run when it comes back, and says why", "[engine][resource]")
{
    memory_stores place;
    world w(place.store, add_all, stays_in_memory());
    auto const run = w.engine().start<picks>();
    w.settle();
    breaks_at_snapshot = true;
    pause(w, run.id());
    breaks_at_snapshot = false;
    w.engine().resume(run.id());
    w.pass(1s);
    CHECK(w.view(run.id()).row.terminal_reason == "snapshot_unavailable");
    CHECK_THAT(w.view(run.id()).failure->message, Contains("it moves"));
}

TEMPLATE_LIST_TEST_CASE("a resource without a snapshot keeps its run in memory, and is lost with its process", "[engine][resource]", every_store)
{
    TestType place;
    world w(place.store, add_all, leaves_at_once());
    auto const run = w.engine().template start<talks>();
    w.pass(1h);
    CHECK(w.view(run.id()).row.status.execution == flow::execution_status::executing_with_waitpoints);
    SECTION("it is used on")
    {
        answer(w, "go on");
        CHECK(run.result() == 2);
    }
    SECTION("its engine ends")
    {
        w.restart();
        w.settle();
        CHECK(w.view(run.id()).row.terminal_reason == "resource_lost");
        CHECK_THAT(w.view(run.id()).failure->message, Contains("line") && Contains("process"));
    }
    CHECK(outside().all() == texts{"open"});
}

TEMPLATE_LIST_TEST_CASE("an open that fails is thrown at its await, and so it is on replay", "[engine][resource]", every_store)
{
    TestType place;
    world w(place.store, add_all, leaves_at_once());
    breaks_at_open = true;
    auto const run = w.engine().template start<tries>();
    w.pass(1s);
    breaks_at_open = false;
    w.restart();
    w.settle();
    answer(w, "go on");
    CHECK_THAT(run.result(), Contains("no answer from B1"));
    CHECK(outside().count("open") == 0);
}

TEST_CASE("where its run is replayed a resource is not to be used, and that is said", "[engine][resource]")
{
    memory_stores place;
    world w(place.store, add_all, leaves_at_once());
    auto const run = w.engine().start<uses_in_the_body>();
    w.pass(1s);
    answer(w, "go on");
    CHECK(w.status(run.id()) == flow::run_status::held);
    CHECK_THAT(w.view(run.id()).doing, Contains("functions of steps"));
}

TEMPLATE_LIST_TEST_CASE("a cancel while its run is out of memory restores it for the clean-up", "[engine][resource][cancel]", every_store)
{
    TestType place;
    world w(place.store, add_all, leaves_at_once());
    auto const run = w.engine().template start<tidies_up>();
    w.pass(1s);
    w.engine().cancel(run.id());
    w.pass(1s);
    CHECK(w.status(run.id()) == flow::run_status::cancelled);
    CHECK(outside().all() == texts{"open", "close", "restore 10", "park A7", "close"});
}

TEMPLATE_LIST_TEST_CASE("resources in branches are told apart, over restarts", "[engine][resource][group]", every_store)
{
    TestType place;
    world w(place.store, add_all, leaves_at_once());
    auto const run = w.engine().template start<two_in_branches>();
    w.pass(1s);
    w.restart();
    w.pass(1s);
    flow::waitpoint_filter open;
    open.status = flow::waitpoint_status::pending;
    for (auto const& t : w.engine().waitpoints(open)) {
        w.engine().complete_json(t.id, "1");
        w.pass(1s);
    }
    CHECK(run.result() == 12);
    CHECK(outside().count("open") == 2);
    CHECK(open_now == 0);
}

TEST_CASE("a paused run's resource is closed, and restored when it is resumed", "[engine][resource][pause]")
{
    memory_stores place;
    world w(place.store, add_all, stays_in_memory());
    auto const run = w.engine().start<picks>();
    w.settle();
    pause(w, run.id());
    CHECK(open_now == 0);
    answer(w, "go on");
    CHECK(open_now == 0);
    w.engine().resume(run.id());
    w.pass(1s);
    CHECK(outside().count("restore 3") == 1);
}
