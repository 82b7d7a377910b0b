// What the journal says of a run that waits for several things (mechanism TD-05).
#include <catch2/catch.hpp>

#include "flow/flow.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace flow::test;

namespace {

flow::workflow<int> waits_for_two()
{
    auto const [a, b] = co_await flow::all(flow::wait_for_token<int>("a"), flow::wait_for_token<int>("b"));
    co_return a + b;
}

int snapshots(world& w, flow::run_id id, std::string_view event)
{
    int n = 0;
    for (auto const& e : w.journal(id)) n += e.kind == flow::entry_kind::snapshot && e.name == event;
    return n;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("TD-05 blocked twice while executing: one snapshot says so", "[engine][wait]", every_store)
{
    TestType place;
    world w(place.store, [](flow::engine& e) { e.add<waits_for_two>("waits_for_two"); });
    auto const id = w.engine().start<waits_for_two>().id();
    w.settle();
    CHECK(snapshots(w, id, "block") == 1);
    w.engine().complete_json(w.open_token("a"), "1");
    w.settle();
    CHECK(w.status(id) == flow::run_status::waiting);
    w.engine().complete_json(w.open_token("b"), "2");
    w.settle();
    CHECK(flow::run_handle<int>(w.engine().find(id)).result() == 3);
}
