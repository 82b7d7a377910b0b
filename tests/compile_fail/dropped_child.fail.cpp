// refused: a child is started only when it is awaited
// flags: -Werror=unused-result
#include <flow/child.hpp>
#include <flow/workflow.hpp>

flow::workflow<int> ship() { co_return 1; }

flow::workflow<> body()
{
    flow::start_run<ship>();
    co_return;
}
