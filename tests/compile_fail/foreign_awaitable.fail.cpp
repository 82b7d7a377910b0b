// UX-02: what does not belong to the workflow is not awaited in it.
// refused: flow: a workflow body may await durable operations only. Wrap it: co_await flow::step(
#include <coroutine>

#include <flow/step.hpp>
#include <flow/workflow.hpp>

flow::workflow<int> body()
{
    co_await std::suspend_always{};
    co_return 1;
}
