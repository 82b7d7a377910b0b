// Code that changes under runs that are under way: patches, and steps inserted where the order is tolerant.
#include <catch2/catch.hpp>

#include "flow/flow.hpp"
#include "support/invariants.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

flow::workflow<std::string> before()
{
    auto const a = co_await flow::step("charge", flow::idempotent, [](flow::attempt& at) { return outside().note("charge"), std::string(at.key()); });
    co_await flow::wait_for_token<int>("go");
    co_return a;
}
flow::workflow<std::string> patched_code()
{
    bool const fresh = co_await flow::patched("check-stock");
    if (fresh) co_await flow::step("stock", flow::replayable, [] { outside().note("stock"); });
    auto const a = co_await flow::step("charge", flow::idempotent, [](flow::attempt& at) { return outside().note("charge"), std::string(at.key()); });
    co_await flow::wait_for_token<int>("go");
    co_return fresh ? "stock " + a : a;
}
flow::workflow<std::string> old_code_gone()
{
    co_await flow::deprecate_patch("check-stock");
    co_await flow::step("stock", flow::replayable, [] { outside().note("stock"); });
    auto const a = co_await flow::step("charge", flow::idempotent, [](flow::attempt& at) { return outside().note("charge"), std::string(at.key()); });
    co_await flow::wait_for_token<int>("go");
    co_return "stock " + a;
}
// A step in front, one in the middle, one behind.
flow::workflow<std::string> inserted()
{
    co_await flow::step("front", flow::idempotent, [] { outside().note("front"); });
    auto const a = co_await flow::step("charge", flow::idempotent, [](flow::attempt& at) { return outside().note("charge"), std::string(at.key()); });
    auto const n = co_await flow::random<int>(1, 6);
    co_await flow::step("middle", flow::idempotent, [] { outside().note("middle"); });
    co_await flow::wait_for_token<int>("go");
    co_await flow::step("behind", flow::idempotent, [] { outside().note("behind"); });
    co_return a + (n > 0 ? "" : "?");
}
flow::workflow<std::string> renamed()
{
    auto const a = co_await flow::step("pay", flow::idempotent, [] { return std::string("pay"); });
    co_await flow::wait_for_token<int>("go");
    co_return a;
}

template <auto Fn, flow::replay_order Order = flow::replay_order::strict>
void add(flow::engine& e)
{
    flow::workflow_options o;
    o.order = Order;
    e.add<Fn>("shop", o);
}

constexpr auto tolerant = flow::replay_order::tolerant;

// Branches: one has a step inserted before what is recorded.
std::string heard;
flow::workflow<void> says(std::string who, bool extra)
{
    if (extra) co_await flow::step("extra", flow::idempotent, [] { outside().note("extra"); });
    co_await flow::step(who, flow::replayable, [] {});
    heard += who;
    co_await flow::step(who, flow::replayable, [] {});
    heard += who;
}
template <bool Extra>
flow::workflow<std::string> two_branches()
{
    heard.clear();
    co_await flow::all(says("a", Extra), says("b", false));
    co_await flow::wait_for_token<int>("go");
    co_return heard;
}

void finish(world& w, flow::run_id id)
{
    w.engine().complete_json(w.open_token("go"), "1");
    w.settle();
    (void)id;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("patched: old runs keep the old branch, new ones take the new, replay after replay", "[engine][version]", every_store)
{
    TestType place;
    world w(place.store, add<before>);
    auto const old = w.engine().find(w.engine().start("shop", flow::args()).id());
    w.settle();
    w.restart(place.again(), add<patched_code>);
    w.settle();
    w.restart(place.again());
    w.settle();
    CHECK(outside().count("stock") == 0);
    finish(w, old.id());
    CHECK(w.status(old.id()) == flow::run_status::succeeded);
    CHECK(outside().count("charge") == 1);

    auto const fresh = w.engine().start("shop", flow::args()).id();
    w.settle();
    w.restart(place.again(), add<old_code_gone>);
    w.settle();
    CHECK(w.status(fresh) == flow::run_status::waiting);
    finish(w, fresh);
    CHECK(w.engine().find(fresh).end().result.substr(0, 7) == "\"stock ");
    CHECK(outside().count("stock") == 1);
    CHECK(outside().count("charge") == 2);
    check_invariants(*w.store());
}

TEMPLATE_LIST_TEST_CASE("deprecate_patch holds a run of the code that is gone, and the old code takes it on", "[engine][version]", every_store)
{
    TestType place;
    world w(place.store, add<before>);
    auto const old = w.engine().start("shop", flow::args()).id();
    w.settle();
    bool const answered = GENERATE(false, true);
    if (answered) w.restart(place.again(), add<patched_code>);
    w.settle();
    w.restart(place.again(), add<old_code_gone>);
    w.settle();
    REQUIRE(w.status(old) == flow::run_status::held);
    CHECK_THAT(w.view(old).waits_for.detail, Catch::Contains("check-stock") && Catch::Contains("version 1"));
    w.restart(place.again(), add<patched_code>);
    w.settle();
    finish(w, old);
    CHECK(w.status(old) == flow::run_status::succeeded);
    CHECK(outside().count("charge") == 1);
}

TEMPLATE_LIST_TEST_CASE("PR-01 with a step inserted before it a step has the same key: tolerant goes on, strict is held", "[engine][version]",
                        every_store)
{
    TestType place;
    world w(place.store, add<before, tolerant>);
    auto const id = w.engine().start("shop", flow::args()).id();
    w.settle();
    auto const key = w.engine().output_of(id, "charge#0").value();

    w.restart(place.again(), add<inserted>);
    w.settle();
    CHECK(w.status(id) == flow::run_status::held);

    w.restart(place.again(), add<inserted, tolerant>);
    w.settle();
    CHECK(w.status(id) == flow::run_status::waiting);
    w.restart(place.again());
    w.settle();
    finish(w, id);
    CHECK(w.engine().find(id).end().result == key);
    for (auto const* once : {"charge", "front", "middle", "behind"}) CHECK(outside().count(once) == 1);
    check_invariants(*w.store());
}

TEST_CASE("tolerant order still holds a run whose recorded step the code no longer has", "[engine][version]")
{
    auto const store = flow::memory();
    world w(store, add<before, tolerant>);
    auto const id = w.engine().start("shop", flow::args()).id();
    w.settle();
    w.restart(store, add<renamed, tolerant>);
    w.settle();
    finish(w, id);
    CHECK(w.status(id) == flow::run_status::held);
    CHECK_THAT(w.view(id).waits_for.detail, Catch::Contains("charge"));
}

TEST_CASE("tolerant order with branches: what was recorded comes in its order, what was inserted in the same turn every time", "[engine][version]")
{
    auto const store = flow::memory();
    world w(store, add<two_branches<false>, tolerant>);
    auto const id = w.engine().start("shop", flow::args()).id();
    w.settle();
    auto const at_first = heard;
    w.restart(store, add<two_branches<true>, tolerant>);
    w.settle();
    auto const inserted_live = heard;
    for (int i = 0; i < 3; ++i) {
        w.restart(store);
        w.settle();
        CHECK(heard == inserted_live);
    }
    CHECK(at_first.size() == 4);
    CHECK(inserted_live.size() == 4);
    finish(w, id);
    CHECK(w.status(id) == flow::run_status::succeeded);
    CHECK(outside().count("extra") == 1);
}
