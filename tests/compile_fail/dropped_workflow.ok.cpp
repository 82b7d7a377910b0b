// The legal twin.
// flags: -Werror=unused-result
#include <flow/step.hpp>
#include <flow/workflow.hpp>

flow::workflow<int> inner() { co_return 1; }
flow::workflow<> body()
{
    co_await inner();
}
