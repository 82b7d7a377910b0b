// The legal twin.
#include <flow/engine.hpp>
#include <flow/workflow.hpp>

struct order {
    int i;
};
flow::workflow<> body(order) { co_return; }
void set_up(flow::engine& engine)
{
    engine.add<body>("body");
}
