// The legal twin.
#include <string>

#include <flow/step.hpp>
#include <flow/workflow.hpp>

flow::workflow<int> body(std::string text)
{
    auto const n = co_await flow::step("size", flow::replayable, [&] { return static_cast<int>(text.size()); });
    auto fn = [text] { return static_cast<int>(text.size()); };
    auto const m = co_await flow::step("size", flow::replayable, fn);
    co_return n + m + co_await flow::step("size", flow::replayable, flow::moved(fn));
}
