// The legal twin.
#include <string>

#include <flow/send.hpp>
#include <flow/workflow.hpp>

struct found {
    std::string what;
};

flow::workflow<int> body(flow::run_id to, std::string text)
{
    found const f{text};
    co_await flow::send(to, "found", f);
    co_await flow::send(to, "text", "a literal");
    co_return 0;
}
