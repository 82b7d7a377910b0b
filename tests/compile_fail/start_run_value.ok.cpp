// The legal twin.
#include <string>

#include <flow/child.hpp>
#include <flow/workflow.hpp>

struct order {
    std::string what;
};
flow::workflow<int> ship(order o) { co_return static_cast<int>(o.what.size()); }

flow::workflow<> body()
{
    order const o{"a chair"};
    auto const c = co_await flow::start_run<ship>(o, {.on_close = flow::close_policy::abandon});
    co_await c;
    co_await flow::child<int>(c.id());
}
