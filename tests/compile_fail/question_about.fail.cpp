// refused: flow: g++ 12 copies this unnamed value bit by bit inside co_await and destroys it twice (a compiler bug). Give it a name first: auto what = ...; co_await flow::ask(..., flow::question(...).about(what))
// only: g++
#include <string>

#include <flow/ask.hpp>
#include <flow/workflow.hpp>

struct refund {
    std::string to;
    int cents = 0;
};

flow::workflow<bool> body(std::string who)
{
    auto const v = co_await flow::ask("refund", flow::question("Refund?").about(refund{who, 120}));
    co_return v.approved;
}
