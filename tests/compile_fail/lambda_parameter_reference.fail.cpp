// CO-01: a lambda workflow; its closure is a parameter too, and lives until the end of the await.
// refused: flow: a workflow's parameters must own their values: the frame outlives the caller. Take T instead of T&, std::string instead of string_view or char*
#include <string>

#include <flow/step.hpp>
#include <flow/workflow.hpp>

inline auto const body = [](std::string const& name) -> flow::workflow<int> {
    co_return co_await flow::step("use", flow::replayable, [&] { return static_cast<int>(name.size()); });
};
flow::workflow<int> outer() { co_return co_await body("x"); }
