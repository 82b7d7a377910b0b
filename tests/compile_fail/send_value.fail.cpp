// refused: flow: g++ 12 copies this unnamed value bit by bit inside co_await and destroys it twice (a compiler bug). Give it a name first: auto found = ...; co_await flow::send(run, "found", found)
// only: g++
#include <string>

#include <flow/send.hpp>
#include <flow/workflow.hpp>

struct found {
    std::string what;
};

flow::workflow<int> body(flow::run_id to, std::string text)
{
    co_await flow::send(to, "found", found{text});
    co_return 0;
}
