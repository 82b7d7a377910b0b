// The legal twin.
#include <string>

#include <flow/step.hpp>
#include <flow/workflow.hpp>

flow::workflow<int> body(std::string text)
{
    auto fn = [text] { return static_cast<int>(text.size()); };
    co_return co_await flow::step("size", flow::replayable, flow::detached(fn));
}
