// The legal twin.
#include <flow/graph.hpp>

flow::graph g()
{
    return flow::graph{flow::node("a", []() -> int { return 0; })};
}
