// refused: flow: an operation is awaited once: co_await std::move(op)
#include <flow/step.hpp>
#include <flow/workflow.hpp>

flow::workflow<int> inner() { co_return 1; }
flow::workflow<int> body()
{
    auto w = inner();
    co_return co_await w;
}
