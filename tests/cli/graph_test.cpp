// flow graph: how the graph of a run stands.
#include <catch2/catch.hpp>

#include "calls.hpp"
#include "flow/flow.hpp"
#include "flow/graph.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace flow::test;
using Catch::Contains;

namespace {

flow::workflow<void> builds()
{
    flow::graph const g{
        flow::node("code", flow::replayable, [] { return 1; }),
        flow::node("lint \u00e4", flow::replayable, [](flow::node_inputs const&) -> int { throw flow::permanent_error("untidy"); }, {.optional = true}).needs("code"),
        flow::node("tests", [](flow::node_inputs) -> flow::workflow<int> { co_return co_await flow::wait_for_token<int>("tested"); }).needs("code"),
        flow::node("ship", flow::replayable, [] { return 2; }).needs("tests"),
    };
    auto const r = co_await flow::run_graph(g);
    static_cast<void>(r);
}
flow::workflow<void> has_none() { co_return; }

}  // namespace

TEMPLATE_LIST_TEST_CASE("graph shows how the nodes of a run's graph stand, and draws it", "[cli][graph]", every_store)
{
    TestType place;
    world w(place.store, [](flow::engine& e) {
        e.add<builds>("builds");
        e.add<has_none>("has_none");
    });
    auto const id = to_string(w.engine().start<builds>().id());
    auto const none = to_string(w.engine().start<has_none>().id());
    w.settle();
    auto const table = call(w.engine(), {"graph", id});
    CHECK(table.code == 0);
    CHECK_THAT(table.out, Contains("tests") && Contains("running") && Contains("untidy") && Contains("waiting"));
    CHECK_THAT(call(w.engine(), {"graph", id, "--mermaid"}).out, Contains("flowchart TD") && Contains("n2[\"tests\"]:::running") && !Contains("\x1b"));
    CHECK_THAT(call(w.engine(), {"graph", id, "--dot"}).out, Contains("digraph flow {") && Contains("n0 -> n2;"));
    auto const document = call(w.engine(), {"graph", id, "--json"}).json().as_object();
    auto const& nodes = document.at("nodes").as_array();
    REQUIRE(nodes.size() == 4);
    CHECK(nodes[0].at("status") == "succeeded");
    CHECK(nodes[1].at("status") == "skipped");
    CHECK(document.at("graph").at("nodes").as_array().size() == 4);
    w.engine().complete_json(w.open_token(), "1");
    w.settle();
    CHECK_THAT(call(w.engine(), {"graph", id}).out, !Contains("running") && !Contains("waiting"));

    auto const nothing = call(w.engine(), {"graph", none});
    CHECK(nothing.code == 3);
    CHECK_THAT(nothing.err, Contains("has no graph"));
    CHECK(call(w.engine(), {"graph", id, "--dot", "--mermaid"}).code == 2);
}
