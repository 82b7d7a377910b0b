// The legal twin.
// flags: -Werror=unused-result
#include <flow/sleep.hpp>
#include <flow/workflow.hpp>

flow::workflow<> body()
{
    co_await flow::sleep_for(std::chrono::hours{1});
}
