// refused: flow: g++ 12 copies this unnamed value bit by bit inside co_await and destroys it twice (a compiler bug). Give it a name first: order const o{...}; auto c = co_await flow::start_run<ship>(o)
// only: g++
#include <string>

#include <flow/child.hpp>
#include <flow/workflow.hpp>

struct order {
    std::string what;
};
flow::workflow<int> ship(order o) { co_return static_cast<int>(o.what.size()); }

flow::workflow<> body()
{
    co_await flow::start_run<ship>(order{"a chair"});
}
