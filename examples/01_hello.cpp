// A workflow is a coroutine; what its steps return is journaled. Run it twice: the second time it is the same run.
#include <flow/flow.hpp>

#include <cstdio>
#include <string>

#include "store_option.hpp"

flow::workflow<std::string> hello(std::string name)
{
    auto const greeting = co_await flow::step("greet", flow::replayable, [&] { return "Hello, " + name + "!"; });
    auto const at = co_await flow::now();
    co_return greeting + " It was " + flow::to_string(at) + " when I said so.";
}

int main(int argc, char** argv)
{
    flow::engine engine{flow::open_store(store_text(argc, argv, "sqlite:hello.db"))};
    engine.add<hello>("hello");
    auto run = engine.start<hello>("world", {.idempotency_key = "hello-world"});
    std::puts(run.result().c_str());
}
