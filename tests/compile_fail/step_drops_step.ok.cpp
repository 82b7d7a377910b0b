// UX-01: a step made inside the body of a step and forgotten. (At run time nothing comes of it: it never hangs.)
// The legal twin.
// flags: -Werror=unused-result
#include <flow/step.hpp>
#include <flow/workflow.hpp>

flow::workflow<int> body()
{
    auto const i = co_await flow::step("inner", flow::replayable, [] { return 1; });
    co_return co_await flow::step("outer", flow::replayable, [&] { return i + 1; });
}
