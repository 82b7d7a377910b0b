// CO-01: a capturing lambda is registered as a workflow.
// refused: flow: engine.add<fn> takes a function that returns flow::workflow<T>
#include <flow/engine.hpp>
#include <flow/workflow.hpp>

void set_up(flow::engine& engine)
{
    static int k = 1;
    static auto const body = [&k = k]() -> flow::workflow<int> { co_return k; };
    engine.add<&body>("body");
}
