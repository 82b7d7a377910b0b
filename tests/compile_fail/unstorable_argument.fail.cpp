// refused: flow: this type cannot be stored in the journal: it is no aggregate, scalar, string, optional, vector or map.
// names: can_be_journaled<int ?\*, order>
#include <flow/engine.hpp>
#include <flow/workflow.hpp>

struct order {
    int* p;
};
flow::workflow<> body(order) { co_return; }
void set_up(flow::engine& engine)
{
    engine.add<body>("body");
}
