// refused: flow: g++ 12 copies this closure bit by bit inside co_await and destroys it twice (a compiler bug). Capture by reference [&], or give it a name first: auto fn = [x] {...}; co_await flow::step("name"
// only: g++
#include <string>

#include <flow/step.hpp>
#include <flow/workflow.hpp>

flow::workflow<int> body(std::string text)
{
    co_return co_await flow::step("size", flow::replayable, [text] { return static_cast<int>(text.size()); });
}
