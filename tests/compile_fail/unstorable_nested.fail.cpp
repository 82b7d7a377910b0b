// refused: flow: this type cannot be stored in the journal: it is no aggregate, scalar, string, optional, vector or map.
// names: can_be_journaled<std::mutex ?\*, inner>
#include <mutex>
#include <string>
#include <vector>

#include <flow/step.hpp>
#include <flow/workflow.hpp>

struct inner {
    std::string text;
    std::mutex* lock;
};
struct outer {
    int i;
    std::vector<inner> all;
};
flow::workflow<> body()
{
    auto o = co_await flow::step("make", flow::replayable, [] { return outer{}; });
    (void)o;
}
