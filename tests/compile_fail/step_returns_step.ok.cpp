// UX-01: a step is called inside the body of a step.
// The legal twin.
#include <flow/step.hpp>
#include <flow/workflow.hpp>

flow::workflow<int> inner()
{
    co_return co_await flow::step("inner", flow::replayable, [] { return 1; });
}
flow::workflow<int> body()
{
    co_return co_await inner();
}
