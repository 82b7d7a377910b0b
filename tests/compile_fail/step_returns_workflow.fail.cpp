// UX-01: a workflow is called inside the body of a step.
// refused: flow: this step's function returns a durable operation. Steps cannot be nested
#include <flow/step.hpp>
#include <flow/workflow.hpp>

flow::workflow<int> inner() { co_return 1; }
flow::workflow<int> body()
{
    co_return co_await flow::step("outer", flow::replayable, [] { return inner(); });
}
