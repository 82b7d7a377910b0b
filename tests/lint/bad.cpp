// Every trap that ./dev lint knows; `lint: NAME` marks the lines it must name. Read by clang only: never compiled, never run.
#include <flow/flow.hpp>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

struct order {
    std::string id;
    std::vector<int> items;
};
struct pair_of {
    std::string first, second;
};

flow::workflow<bool> ready() { co_return true; }
flow::workflow<std::string> text() { co_return "text"; }
flow::workflow<int> sub(order) { co_return 1; }
flow::workflow<int> take(std::string) { co_return 1; }

flow::workflow<int> closures(std::string key)
{
    auto a = co_await flow::step("a", flow::replayable, [key] { return key.size() == 1; });  // lint: closure
    auto b = co_await flow::step("b", flow::replayable, std::function<int()>([key] { return 1; }));  // lint: closure
    auto c = co_await flow::step("c", flow::replayable, [k = key + "x"] { return k; });  // lint: closure
    auto d = co_await flow::step("d", flow::non_replayable, [&] { return 1; }).compensate([key] {});  // lint: closure
    co_return static_cast<int>(a) + b + d + static_cast<int>(c.size());
}

flow::workflow<int> aggregates()
{
    auto a = co_await sub(order{"a", {}});  // lint: aggregate
    auto b = co_await sub({.id = "b", .items = {}});  // lint: aggregate
    auto c = co_await flow::shield(sub(order{.id = "c"}));  // lint: aggregate
    co_return a + b + c;
}

flow::workflow<std::string> braces()
{
    pair_of p{co_await text(), "b"};  // lint: braced_await
    co_return p.first;
}

flow::workflow<int> conditions()
{
    if (co_await ready()) co_return 1;  // lint: condition
    while (!co_await ready()) {  // lint: condition
    }
    for (int i = 0; co_await take("x") > i; ++i) {  // lint: condition
    }
    do {  // lint: condition
    } while (co_await ready());
    switch (co_await take("x")) {  // lint: condition
    default: co_return 2;
    }
}

flow::workflow<std::string> conditionals(bool c)
{
    auto a = c ? co_await text() : std::string("none");  // lint: conditional
    auto b = co_await take(c ? std::string("x") : std::string("y"));  // lint: conditional
    co_return a + std::to_string(b);
}

flow::workflow<> throwing()
{
    throw std::runtime_error(co_await text());  // lint: throw
}

flow::workflow<int> kept(int k)
{
    auto w = [k]() -> flow::workflow<int> { co_return k; }();  // lint: kept_lambda
    auto v = [&]() -> flow::workflow<int> { co_return k; }();  // lint: kept_lambda
    auto const n = co_await std::move(w);
    co_return n + co_await std::move(v);
}

flow::workflow<int> changes(order o)
{
    int total = 0;
    std::vector<int> seen;
    std::string last;
    co_await flow::step("a", flow::replayable, [&] {
        total = 1;  // lint: changes_captured
        total += 2;  // lint: changes_captured
        ++total;  // lint: changes_captured
        last = "a";  // lint: changes_captured
        last += "b";  // lint: changes_captured
        o.id = "c";  // lint: changes_captured
        seen.push_back(1);  // lint: changes_captured
        o.items.clear();  // lint: changes_captured
        seen[0] = 2;  // lint: changes_captured
    });
    co_await flow::step("b", flow::replayable, [&total] { return total--; });  // lint: changes_captured
    co_return total;
}

struct arm {
    static std::unique_ptr<arm> open() { return std::make_unique<arm>(); }
    int width = 0;
};

flow::workflow<int> takes_another(order o)
{
    auto hand = co_await flow::open_resource<arm>("hand");
    auto spare = co_await flow::open_resource<arm>("spare");
    co_await flow::step("a", flow::replayable, [&] {
        hand->width = 1;
        hand = std::move(spare);  // lint: changes_captured
        o.id = "c";  // lint: changes_captured
    });
    co_return 1;
}
