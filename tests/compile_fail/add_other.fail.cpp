// refused: flow: engine.add<fn> takes a function that returns flow::workflow<T>
#include <flow/engine.hpp>
#include <flow/workflow.hpp>

int body() { return 1; }
void set_up(flow::engine& engine)
{
    engine.add<body>("body");
}
