// The legal twin.
#include <flow/step.hpp>
#include <flow/workflow.hpp>

struct handle {
    int number;
};
flow::workflow<> body()
{
    auto h = co_await flow::step("open", flow::replayable, [] { return handle{1}; });
    (void)h;
}
