// UX-01
// refused: flow: a durable operation can be awaited in the body of a flow::workflow only, not in another coroutine
#include "plain_task.hpp"

#include <flow/step.hpp>
#include <flow/workflow.hpp>

plain_task other()
{
    co_await flow::step("fetch", flow::replayable, [] { return 1; });
}
