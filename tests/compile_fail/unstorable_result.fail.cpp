// refused: flow: this type cannot be stored in the journal: it is no aggregate, scalar, string, optional, vector or map.
// names: can_be_journaled<int ?\*, report>
#include <flow/engine.hpp>
#include <flow/workflow.hpp>

struct report {
    int* p;
};
flow::workflow<report> body() { co_return report{}; }
void set_up(flow::engine& engine)
{
    engine.add<body>("body");
}
