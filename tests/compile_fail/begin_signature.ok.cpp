// The legal twin.
#include <flow/begin_step.hpp>
#include <flow/workflow.hpp>

flow::workflow<int> body()
{
    auto const n = co_await flow::begin_step<int>("render", flow::idempotent, [](flow::token<int> const&) {});
    co_return n + co_await flow::begin_step<int>("render", flow::idempotent, [](flow::token<int> const&, flow::attempt&) {});
}
