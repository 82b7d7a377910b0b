// The legal twin.
#include <flow/step.hpp>
#include <flow/workflow.hpp>

flow::workflow<int> inner() { co_return 1; }
flow::workflow<int> body()
{
    auto w = inner();
    co_return co_await std::move(w);
}
