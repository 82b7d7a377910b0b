// The legal twin.
#include <flow/token.hpp>
#include <flow/workflow.hpp>

struct answer {
    int i;
};
flow::workflow<> body()
{
    auto t = co_await flow::make_token<answer>("answer");
    (void)t;
}
