// refused: a workflow runs only when it is awaited or started by an engine
// flags: -Werror=unused-result
#include <flow/step.hpp>
#include <flow/workflow.hpp>

flow::workflow<int> inner() { co_return 1; }
flow::workflow<> body()
{
    inner();
    co_return;
}
