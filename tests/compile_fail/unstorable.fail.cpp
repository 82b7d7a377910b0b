// refused: flow: this type cannot be stored in the journal: it is no aggregate, scalar, string, optional, vector or map.
// names: handle
#include <flow/step.hpp>
#include <flow/workflow.hpp>

struct handle {
    explicit handle(int);
    int* p;
};
flow::workflow<> body()
{
    auto h = co_await flow::step("open", flow::replayable, [] { return handle(1); });
    (void)h;
}
