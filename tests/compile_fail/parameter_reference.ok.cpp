// CO-01: what a frame refers to lives no longer than the caller.
// The legal twin.
#include <string>

#include <flow/step.hpp>
#include <flow/workflow.hpp>

flow::workflow<> body(std::string name)
{
    co_await flow::step("use", flow::replayable, [&] { return static_cast<int>(sizeof name); });
}
