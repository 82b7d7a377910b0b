// UX-01
// The legal twin.
#include "plain_task.hpp"

#include <flow/step.hpp>
#include <flow/workflow.hpp>

plain_task other()
{
    co_await std::suspend_never{};
}
flow::workflow<> body()
{
    co_await flow::step("fetch", flow::replayable, [] { return 1; });
}
