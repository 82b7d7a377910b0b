// UX-02: what does not belong to the workflow is not awaited in it.
// The legal twin.
#include <coroutine>

#include <flow/step.hpp>
#include <flow/workflow.hpp>

flow::workflow<int> body()
{
    co_return co_await flow::step("wait", flow::replayable, [] { return 1; });
}
