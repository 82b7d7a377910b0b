// CO-01: a capturing lambda is registered as a workflow.
// The legal twin.
#include <flow/engine.hpp>
#include <flow/workflow.hpp>

inline constexpr auto body = [](int k) -> flow::workflow<int> { co_return k; };
void set_up(flow::engine& engine)
{
    engine.add<+body>("body");  // without captures: a function
}
