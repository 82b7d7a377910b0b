// UX-01: a workflow is called inside the body of a step.
// The legal twin.
#include <flow/step.hpp>
#include <flow/workflow.hpp>

flow::workflow<int> inner() { co_return 1; }
flow::workflow<int> body()
{
    auto const i = co_await inner();
    co_return co_await flow::step("outer", flow::replayable, [&] { return i + 1; });
}
