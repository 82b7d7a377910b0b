// refused: flow: compensate takes a function that is called with nothing or with flow::attempt&
#include <flow/step.hpp>
#include <flow/workflow.hpp>

flow::workflow<int> body()
{
    co_return co_await flow::step("pay", flow::non_replayable, [] { return 1; }).compensate([](int) {});
}
