// CO-01: a lambda workflow; its closure is a parameter too, and lives until the end of the await.
// The legal twin.
#include <string>

#include <flow/step.hpp>
#include <flow/workflow.hpp>

inline auto const body = [](std::string name) -> flow::workflow<int> {
    co_return co_await flow::step("use", flow::replayable, [&] { return static_cast<int>(name.size()); });
};
flow::workflow<int> outer()
{
    // Its closure lives as long as the await: the temporary is destroyed after it.
    auto const more = co_await [&]() -> flow::workflow<int> { co_return 1; }();
    co_return more + co_await body("x");
}
