// The legal twin.
#include <flow/token.hpp>
#include <flow/workflow.hpp>

struct answer {
    int i;
};
flow::workflow<> body()
{
    auto a = co_await flow::wait_for_token<answer>("answer");
    (void)a;
}
