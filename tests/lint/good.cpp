// The legal twins of bad.cpp: ./dev lint finds nothing here. Read by clang only: never compiled, never run.
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
struct point {
    int x, y;
};
struct pair_of {
    std::string first, second;
};

flow::workflow<bool> ready() { co_return true; }
flow::workflow<std::string> text() { co_return "text"; }
flow::workflow<int> sub(order) { co_return 1; }
flow::workflow<int> at(point) { co_return 1; }
flow::workflow<int> take(std::string) { co_return 1; }

flow::workflow<int> closures(std::string key, int k)
{
    auto a = co_await flow::step("a", flow::replayable, [&] { return key.size() == 1; });
    auto b = co_await flow::step("b", flow::replayable, [k] { return k; });  // trivially copyable
    auto fn = [key] { return key; };
    auto c = co_await flow::step("c", flow::replayable, fn);
    auto d = co_await flow::step("d", flow::replayable, flow::moved(fn));
    auto op = flow::step("e", flow::replayable, [key] { return 1; });
    auto e = co_await std::move(op);
    co_return static_cast<int>(a) + b + e + static_cast<int>(c.size() + d.size());
}

flow::workflow<int> aggregates()
{
    order o{"a", {}};
    auto a = co_await sub(o);
    auto b = co_await at(point{1, 2});  // trivially copyable
    // Options are; so are braces inside a step's function, which is no coroutine.
    auto c = co_await flow::step("c", flow::replayable, [] { return order{.id = "c"}; }, {.inline_ = true});
    auto d = co_await take(std::string("x"));
    auto e = co_await flow::step("e", flow::replayable, [&] {
        auto copy = [o] { return o; };
        return copy().id.empty() ? std::string("a") : std::string("b");
    });
    co_return a + b + d + static_cast<int>(c.items.size() + e.size());
}

flow::workflow<std::string> braces()
{
    auto const first = co_await text();
    pair_of p{first, "b"};
    co_return p.first;
}

flow::workflow<int> conditions()
{
    auto const ok = co_await ready();
    if (ok) co_return 1;
    if (auto const again = co_await ready(); again) co_return 2;
    for (auto more = co_await ready(); more; more = co_await ready()) {
    }
    auto const which = co_await take("x");
    switch (which) {
    default: co_return 2;
    }
}

flow::workflow<std::string> conditionals(bool c)
{
    std::string a = "none";
    if (c) a = co_await text();
    auto const n = c ? co_await take("x") : 1;  // no class
    auto const b = c ? std::string("x") : std::string("y");  // nothing is awaited
    auto const m = co_await take(b);
    co_return a + std::to_string(n + m);
}

flow::workflow<> throwing()
{
    auto const why = co_await text();
    throw std::runtime_error(why);
}

flow::workflow<int> kept(int k)
{
    auto const n = co_await [&]() -> flow::workflow<int> { co_return k; }();
    auto body = [k]() -> flow::workflow<int> { co_return k; };
    auto w = body();
    co_return n + co_await std::move(w);
}

static int calls = 0;

flow::workflow<int> changes(order o)
{
    int total = 0;
    std::vector<int> seen;
    total += co_await flow::step("a", flow::replayable, [&] {
        int mine = total;
        mine += 2;
        std::vector<int> copy = seen;
        copy.push_back(mine);
        copy[0] = mine;
        ++calls;  // a test's counter: no variable of the body
        return mine + static_cast<int>(o.id.size());
    });
    co_await flow::step("b", flow::replayable, [total]() mutable { return total += 1; });  // lint: allow changes_captured
    seen.push_back(total);
    co_return total;
}

struct arm {
    static std::unique_ptr<arm> open() { return std::make_unique<arm>(); }
    int width = 0;
    std::vector<int> seen;
};

flow::workflow<int> holds()
{
    auto hand = co_await flow::open_resource<arm>("hand");
    co_await flow::step("a", flow::replayable, [&] {
        hand->width = 1;
        hand->width += 2;
        ++hand->width;
        (*hand).width = 3;
        hand->seen.push_back(1);
    });
    co_return 1;
}
