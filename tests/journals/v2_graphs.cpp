// Graphs: nodes that are steps and one that waits, a condition, an optional node, a branch that is cancelled.
#include "journals/v2_workflows.hpp"

using namespace std::chrono_literals;

namespace flow::test::journals::v2 {

namespace {

/// As of the nodes of a graph whose run is called `who`.
std::string of(std::string_view node, std::string const& who) { return std::string(node) + '-' + who; }

graph_node does(std::string const& id, node_options o = {})
{
    return node(id, idempotent, [](node_inputs const& in) { return did(in.node()), in.node() + '!'; }, o);
}
graph_node breaks(std::string const& id, node_options o)
{
    return node(id, idempotent, [](node_inputs const& in) -> int { did(in.node()); throw permanent_error("it is broken"); }, o);
}
workflow<int> checks(node_inputs in)
{
    auto const n = co_await wait_for_token<int>("answer");
    co_await mark("checked " + in.node());
    co_return n;
}

graph review_of(std::string const& who)
{
    auto const fetch = of("fetch", who), build = of("build", who), check = of("check", who), lint = of("lint", who);
    return graph{
        node(fetch, replayable, [](node_inputs const& in) { return did(in.node()), std::vector<std::string>{in.given<std::string>()}; }),
        node(build, idempotent, [fetch](node_inputs const& in, attempt&) {
            did(in.node());
            return in.get<std::vector<std::string>>(fetch).at(0) + " built";
        }).needs(fetch),
        node(check, checks).needs(build),
        breaks(lint, {.optional = true}).needs(build),
        does(of("alarm", who)).only_if(lint + ".status == failed"),
        node(of("report", who), idempotent, [build, check, lint](node_inputs const& in) {
            did(in.node());
            return in.get<std::string>(build) + ", checked " + std::to_string(in.get<int>(check)) + in.find<std::string>(lint).value_or(", no lint");
        }).needs(build, check, lint).only_if(check + ".status == succeeded"),
    };
}

graph broken_of(std::string const& who)
{
    auto const wreck = of("wreck", who), below = of("below", who), docs = of("docs", who);
    return graph{
        breaks(wreck, {.on_fail = on_fail::cancel_downstream}),
        does(below).needs(wreck),
        does(of("behind", who)).after(below),
        node(docs, checks),
        does(of("publish", who)).needs(docs),
        does(of("tell", who)).only_if(wreck + ".status == failed").after(docs),
    };
}

std::string text_of(graph_result const& r)
{
    std::string text = r.completed() ? "completed" : "failed at " + r.failed_node + ": " + r.why;
    for (auto const& n : r.nodes) text += "; " + n.id + ' ' + std::string(to_string(n.status)) + ' ' + (n.output.empty() ? n.why : n.output);
    return text;
}

workflow<std::string> reviews(std::string who)
{
    auto const what = review_of(who);
    auto const r = co_await run_graph(what, who);
    auto const word = co_await finish();
    co_return text_of(r) + ' ' + word;
}
workflow<std::string> goes_wrong(std::string who)
{
    auto const what = broken_of(who);
    auto const r = co_await run_graph(what);
    auto const word = co_await finish();
    co_return text_of(r) + ' ' + word;
}

}  // namespace

void add_graphs(engine& e)
{
    e.add<reviews>("reviews");
    e.add<goes_wrong>("goes_wrong");
}

}  // namespace flow::test::journals::v2
