// For docs/guide/gcc12.md: what to write instead of what g++ 12 miscompiles. Everything here is right on every compiler.
#include <flow/flow.hpp>

#include <memory>

#include "../scratch.hpp"
#include "../store_option.hpp"

struct page {
    std::string title;
    int words = 0;
};

// [by_reference]
flow::workflow<std::string> by_reference(std::string who)
{
    co_return co_await flow::step("greet", flow::replayable, [&] { return "hello " + who; });
}
// [/by_reference]

// [named]
flow::workflow<std::string> named(std::string who)
{
    auto greet = [who] { return "hello " + who; };  // a copy of its own, in a variable
    co_return co_await flow::step("greet", flow::replayable, greet);
}
// [/named]

// [moved]
flow::workflow<int> moved()
{
    auto read = [file = std::make_unique<int>(7)] { return *file; };  // cannot be copied
    co_return co_await flow::step("read", flow::replayable, flow::moved(read));
}
// [/moved]

// [condition]
flow::workflow<int> condition()
{
    bool const ready = co_await flow::step("ask", flow::replayable, [] { return true; });
    if (ready) co_return 1;
    co_return 0;
}
// [/condition]

// [aggregate]
flow::workflow<page> aggregate(std::string title)
{
    auto const words = co_await flow::step("count", flow::replayable, [&] { return static_cast<int>(title.size()); });
    co_return page{title, words};  // the braces are in a statement without an await
}
// [/aggregate]

int main(int argc, char** argv)
{
    flow::engine engine{flow::open_store(store_text(argc, argv, "memory")), {.threads = 1}};
    engine.add<by_reference>("by_reference");
    engine.add<named>("named");
    engine.add<moved>("moved");
    engine.add<condition>("condition");
    engine.add<aggregate>("aggregate");
    expect(engine.start<by_reference>("ada").result() == "hello ada", "captured by reference");
    expect(engine.start<named>("ada").result() == "hello ada", "a closure with a name");
    expect(engine.start<moved>().result() == 7, "a closure that is moved");
    expect(engine.start<condition>().result() == 1, "an awaited condition with a name");
    auto const made = engine.start<aggregate>("four").result();
    expect(made.title == "four" && made.words == 4, "an aggregate apart from the await");
}
