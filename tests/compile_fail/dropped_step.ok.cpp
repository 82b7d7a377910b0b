// The legal twin.
// flags: -Werror=unused-result
#include <flow/step.hpp>
#include <flow/workflow.hpp>

flow::workflow<> body()
{
    co_await flow::step("fetch", flow::replayable, [] { return 1; });
}
