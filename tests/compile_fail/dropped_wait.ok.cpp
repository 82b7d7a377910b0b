// The legal twin.
// flags: -Werror=unused-result
#include <flow/token.hpp>
#include <flow/workflow.hpp>

flow::workflow<> body()
{
    co_await flow::wait_for_token<int>("answer");
}
