// The legal twin.
#include <string>

#include <flow/step.hpp>
#include <flow/workflow.hpp>

flow::workflow<int> body(std::string text)
{
    co_return co_await flow::step("pay", flow::non_replayable, [&] { return 1; }).compensate([&] { (void)text; });
}
