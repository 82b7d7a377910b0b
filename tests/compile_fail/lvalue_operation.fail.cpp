// refused: flow: an operation is awaited once: co_await std::move(op)
#include <flow/step.hpp>
#include <flow/workflow.hpp>

flow::workflow<int> body()
{
    auto op = flow::step("fetch", flow::replayable, [] { return 1; });
    co_return co_await op;
}
