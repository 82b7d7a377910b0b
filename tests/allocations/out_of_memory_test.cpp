// RG-08: what becomes of a run where there is no memory for a frame. Frames come from operator new.
#include <array>

#include <catch2/catch.hpp>

#include "allocations/counted.hpp"
#include "flow/flow.hpp"
#include "support/eventually.hpp"
#include "support/invariants.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

constexpr std::size_t room = 100'000;

/// A frame that no other allocation is as large as.
flow::workflow<int> needs_room()
{
    std::array<char, room> large{};
    co_await flow::step("first", flow::non_replayable, [&] { outside().note("first"), large.front() = 1; });
    auto const n = co_await flow::wait_for_token<int>("go on");
    co_await flow::step("second", flow::non_replayable, [&] { outside().note("second"), large.back() = 1; });
    co_return n + large.front() - large.front();
}

flow::workflow<int> calls_what_needs_room()
{
    co_await flow::step("outer", flow::non_replayable, [] { outside().note("outer"); });
    auto const n = co_await needs_room();
    co_return n;
}

flow::workflow<int> does_without()
{
    int n = 0;
    try {
        auto const got = co_await needs_room();
        n = got;
    } catch (std::bad_alloc const&) {
        n = -1;
    }
    co_await flow::step("after", flow::idempotent, [] { outside().note("after"); });
    co_return n;
}

flow::workflow<int> counts(int n)
{
    co_return co_await flow::step("count", flow::idempotent, [&] { return n; });
}

void add_all(flow::engine& e)
{
    e.add<needs_room>("needs_room");
    e.add<calls_what_needs_room>("calls_what_needs_room");
    e.add<does_without>("does_without");
    e.add<counts>("counts");
}

void answer(world& w)
{
    w.engine().complete_json(w.open_token("go on"), "1");
    w.settle();
}

using texts = std::vector<std::string>;
using local_stores = std::tuple<memory_stores, sqlite_stores>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("RG-08 a run for whose frame there is no memory is held, and goes on when it is resumed", "[allocations]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    bool const has_begun = GENERATE(false, true);
    auto const id = w.engine().template start<needs_room>().id();
    if (has_begun) {
        w.pass(10s);  // it waits, and leaves memory
        w.engine().complete_json(w.open_token("go on"), "1");
    }
    {
        refused_allocation const none(room);
        w.settle();
        REQUIRE(none.happened());
    }
    REQUIRE(w.status(id) == flow::run_status::held);
    CHECK_THAT(w.view(id).doing, Catch::Contains("no memory") && Catch::Contains("flow resume " + to_string(id)));
    w.engine().resume(id);
    w.settle();
    if (!has_begun) answer(w);
    CHECK(w.engine().find(id).end().result == "1");
    CHECK(outside().all() == texts{"first", "second"});
    check_invariants(*place.store);
}

TEMPLATE_LIST_TEST_CASE("RG-08 a sub-workflow for whose frame there is no memory throws std::bad_alloc where it is called", "[allocations]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const fails = w.engine().template start<calls_what_needs_room>().id();
    {
        refused_allocation const none(room);
        w.settle();
        REQUIRE(none.happened());
    }
    CHECK(w.status(fails) == flow::run_status::failed);
    CHECK_THAT(w.view(fails).failure->message, Catch::Contains("bad_alloc"));
    auto const caught = w.engine().template start<does_without>().id();
    {
        refused_allocation const none(room);
        w.settle();
        REQUIRE(none.happened());
    }
    CHECK(w.engine().find(caught).end().result == "-1");
    CHECK(outside().all() == texts{"outer", "after"});
    check_invariants(*place.store);
}

TEST_CASE("RG-08 with threads of its own an engine lives on where there is no memory for a frame", "[allocations]")
{
    outside().clear();
    memory_stores place;
    flow::engine_options o;
    o.threads = 2;
    o.log = [](flow::log_level, std::string_view) {};
    flow::engine e(place.store, o);
    add_all(e);
    std::optional<flow::run_id> id;
    {
        refused_allocation const none(room);
        id = e.start<needs_room>().id();
        REQUIRE(eventually([&] { return e.find(*id).status().run == flow::run_status::held; }));
    }
    CHECK(e.start<counts>(7).result() == 7);
    e.resume(*id);
    REQUIRE(eventually([&] { return e.find(*id).status().run == flow::run_status::waiting; }));
    CHECK(outside().all() == texts{"first"});
}

TEMPLATE_LIST_TEST_CASE("what there was no memory to commit is committed when there is", "[allocations][writer]", local_stores)
{
    // As large as the batches of some hundred groups: each of the vectors they stand in is refused once.
    constexpr std::size_t large = 20'000;
    constexpr int count = 300;
    TestType place;
    world w(place.store, add_all);
    bool happened = true;
    for (std::size_t nth = 1; happened; ++nth) {
        CAPTURE(nth);
        std::vector<flow::run_id> all;
        for (int i = 0; i < count; ++i) all.push_back(w.engine().template start<counts>(i).id());
        {
            refused_allocation const none(large, nth);
            try {
                w.settle();
            } catch (std::bad_alloc const&) {  // of the poll's own
            }
            happened = none.happened();
        }
        w.settle();
        w.pass(1s);
        for (auto const& id : all)
            if (w.status(id) == flow::run_status::held) w.engine().resume(id);
        w.settle();
        for (int i = 0; i < count; ++i) CHECK(w.engine().find(all[static_cast<std::size_t>(i)]).end().result == std::to_string(i));
    }
    check_invariants(*place.store);
}
