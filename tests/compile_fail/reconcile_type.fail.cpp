// refused: flow: reconcile takes a function that returns flow::reconciled<T>, T being what the step returns
#include <flow/step.hpp>
#include <flow/workflow.hpp>

flow::workflow<int> body()
{
    co_return co_await flow::step("pay", flow::non_replayable, [] { return 1; }).reconcile([] { return 1; });
}
