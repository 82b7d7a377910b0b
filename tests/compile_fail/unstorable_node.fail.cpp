// refused: flow: this type cannot be stored in the journal
// names: mutex
#include <flow/graph.hpp>

#include <mutex>

flow::graph g()
{
    return flow::graph{flow::node("a", []() -> std::mutex* { return nullptr; })};
}
