// refused: flow: g++ 12 copies this closure bit by bit inside co_await and destroys it twice (a compiler bug).
// only: g++
#include <string>

#include <flow/step.hpp>
#include <flow/workflow.hpp>

flow::workflow<int> body(std::string text)
{
    co_return co_await flow::step("size", flow::replayable, flow::detached([text] { return static_cast<int>(text.size()); }));
}
