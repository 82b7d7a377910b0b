// UX-01: a step made inside the body of a step and forgotten. (At run time nothing comes of it: it never hangs.)
// refused: step runs only when it is awaited
// flags: -Werror=unused-result
#include <flow/step.hpp>
#include <flow/workflow.hpp>

flow::workflow<int> body()
{
    co_return co_await flow::step("outer", flow::replayable, [] {
        flow::step("inner", flow::replayable, [] { return 1; });
        return 2;
    });
}
