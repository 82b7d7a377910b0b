// refused: flow: a node's function is copyable, and called with nothing, with flow::node_inputs const&, or with that and flow::attempt&
#include <flow/graph.hpp>

flow::graph g() { return flow::graph{flow::node("a", [](int i) { return i; })}; }
