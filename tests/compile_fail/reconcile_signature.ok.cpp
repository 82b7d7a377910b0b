// The legal twin.
#include <flow/step.hpp>
#include <flow/workflow.hpp>

flow::workflow<int> body()
{
    co_return co_await flow::step("pay", flow::non_replayable, [] { return 1; }).reconcile([](flow::attempt& a) {
        return flow::reconciled<int>::done(a.number());
    });
}
