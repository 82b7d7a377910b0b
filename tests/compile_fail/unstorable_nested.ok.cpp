// The legal twin.
#include <mutex>
#include <string>
#include <vector>

#include <flow/step.hpp>
#include <flow/workflow.hpp>

struct inner {
    std::string text;
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
