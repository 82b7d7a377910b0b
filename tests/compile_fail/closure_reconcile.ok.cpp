// The legal twin.
#include <string>

#include <flow/step.hpp>
#include <flow/workflow.hpp>

flow::workflow<int> body(std::string text)
{
    auto ask = [text] { return flow::reconciled<int>::unknown(); };
    co_return co_await flow::step("pay", flow::non_replayable, [&] { return 1; }).reconcile(ask);
}
