#include "samples.hpp"

#include <stdexcept>

using namespace std::chrono_literals;

namespace flow::test {

workflow<std::string> approves(std::string what)
{
    auto const text = co_await step("render", idempotent, [&] { return "draft of " + what; });
    auto const ok = co_await wait_for_token<approval>("approve", {.timeout = 24h});
    if (!ok.approved) co_return "rejected by " + ok.by;
    co_return text + " approved by " + ok.by;
}

workflow<int> asks_for_number()
{
    auto const n = co_await wait_for_token<int>("number");
    co_return n;
}

workflow<int> asks_twice()
{
    auto const first = co_await make_token<int>("first");
    auto const second = co_await make_token<int>("second");
    auto const a = co_await wait_for_token(first);
    auto const b = co_await wait_for_token(second);
    co_return a + b;
}

workflow<std::string> pays()
{
    auto const id = co_await step("pay", [&]() -> std::string { throw std::runtime_error("connection lost"); });
    co_return id;
}

workflow<int> fails_with(std::string message)
{
    auto const n = co_await step("break", idempotent, [&]() -> int { throw permanent_error(message); });
    co_return n;
}

workflow<int> sleeps_and_cleans_up()
{
    auto const slept = co_await as_outcome(sleep_for(24h));
    if (!slept) co_await shield(step("clean up", idempotent, [&] { outside().note("clean up"); }));
    co_return 1;
}

workflow<int> ends()
{
    auto const n = co_await step("count", replayable, [&] { return 7; });
    co_return n;
}

workflow<std::vector<int>> asks_for_list()
{
    auto const list = co_await wait_for_token<std::vector<int>>("list");
    co_return list;
}

workflow<int> counts_to(int n)
{
    for (int i = 0; i < n; ++i) {
        auto const is = co_await step("count", replayable, [&] { return i; });
        if (is != i) co_return -1;
    }
    co_return n;
}

workflow<std::int64_t> large_number()
{
    auto const n = co_await step("n", replayable, [] { return std::int64_t{9'007'199'254'740'993}; });
    co_return n;
}

workflow<int> before_change()
{
    auto const n = co_await step("count", replayable, [] { return 7; });
    auto const m = co_await wait_for_token<int>("number");
    co_return n + m;
}

workflow<int> after_change()
{
    auto const n = co_await step("renamed", replayable, [] { return 8; });
    auto const m = co_await wait_for_token<int>("number");
    co_return n + m;
}

void add_samples(flow::engine& e)
{
    e.add<approves>("approves");
    e.add<asks_for_number>("asks_for_number");
    e.add<asks_twice>("asks_twice");
    e.add<pays>("pays");
    e.add<fails_with>("fails_with");
    e.add<sleeps_and_cleans_up>("sleeps_and_cleans_up");
    e.add<ends>("ends");
    e.add<asks_for_list>("asks_for_list");
    e.add<counts_to>("counts_to");
    e.add<large_number>("large_number");
}

}  // namespace flow::test
