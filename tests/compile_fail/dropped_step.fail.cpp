// refused: a step runs only when it is awaited
// flags: -Werror=unused-result
#include <flow/step.hpp>
#include <flow/workflow.hpp>

flow::workflow<> body()
{
    flow::step("fetch", flow::replayable, [] { return 1; });
    co_return;
}
