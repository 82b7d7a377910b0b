// refused: flow: this type cannot be stored in the journal: it is no aggregate, scalar, string, optional, vector or map.
// names: can_be_journaled<int ?\*, answer>
#include <flow/token.hpp>
#include <flow/workflow.hpp>

struct answer {
    int* p;
};
flow::workflow<> body()
{
    auto a = co_await flow::wait_for_token<answer>("answer");
    (void)a;
}
