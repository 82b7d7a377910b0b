// The legal twin.
#include <flow/engine.hpp>
#include <flow/workflow.hpp>

flow::workflow<int> body() { co_return 1; }
void set_up(flow::engine& engine)
{
    engine.add<body>("body");
}
