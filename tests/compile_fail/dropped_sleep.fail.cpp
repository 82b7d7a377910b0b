// refused: sleep
// flags: -Werror=unused-result
#include <flow/sleep.hpp>
#include <flow/workflow.hpp>

flow::workflow<> body()
{
    flow::sleep_for(std::chrono::hours{1});
    co_return;
}
