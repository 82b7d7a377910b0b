// The legal twin.
#include <flow/engine.hpp>
#include <flow/workflow.hpp>

struct report {
    int i;
};
flow::workflow<report> body() { co_return report{}; }
void set_up(flow::engine& engine)
{
    engine.add<body>("body");
}
