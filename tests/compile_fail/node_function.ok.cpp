// The legal twin.
#include <flow/graph.hpp>
#include <flow/token.hpp>

flow::graph g()
{
    return flow::graph{
        flow::node("a", [] { return 1; }),
        flow::node("b", flow::idempotent, [](flow::node_inputs const& in) { return in.get<int>("a"); }).needs("a"),
        flow::node("c", flow::idempotent, [](flow::node_inputs const&, flow::attempt& a) { return a.number(); }),
        flow::node("d", [](flow::node_inputs in) -> flow::workflow<int> { co_return co_await flow::wait_for_token<int>(in.node()); }),
        flow::node("e", [] {}),
    };
}
