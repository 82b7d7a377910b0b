// The legal twin.
// flags: -Werror=unused-result
#include <flow/child.hpp>
#include <flow/workflow.hpp>

flow::workflow<int> ship() { co_return 1; }

flow::workflow<> body()
{
    co_await flow::start_run<ship>();
}
