// CO-01: what a frame refers to lives no longer than the caller.
// refused: flow: a workflow's parameters must own their values: the frame outlives the caller. Take T instead of T&, std::string instead of string_view or char*
#include <string>

#include <flow/step.hpp>
#include <flow/workflow.hpp>

flow::workflow<> body(std::string const& name)
{
    co_await flow::step("use", flow::replayable, [&] { return static_cast<int>(sizeof name); });
}
