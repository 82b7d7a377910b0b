// The legal twin.
#include <flow/step.hpp>
#include <flow/workflow.hpp>

flow::workflow<int> body()
{
    auto const n = co_await flow::step("fetch", flow::replayable, [](flow::attempt& a) { return a.number(); });
    co_return n + co_await flow::step("fetch", flow::replayable, [] { return 1; });
}
