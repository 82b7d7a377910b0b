// refused: flow: a step's function is called with nothing or with flow::attempt&
#include <flow/step.hpp>
#include <flow/workflow.hpp>

flow::workflow<int> body()
{
    co_return co_await flow::step("fetch", flow::replayable, [](int i) { return i; });
}
