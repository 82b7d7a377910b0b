// refused: a wait happens only when it is awaited
// flags: -Werror=unused-result
#include <flow/token.hpp>
#include <flow/workflow.hpp>

flow::workflow<> body()
{
    flow::wait_for_token<int>("answer");
    co_return;
}
