// For the guide: child runs.
#include <flow/flow.hpp>

#include <numeric>

#include "../scratch.hpp"
#include "../store_option.hpp"

using namespace std::chrono_literals;

// [child]
flow::workflow<int> ship(std::string order)
{
    auto const weight = co_await flow::step("weigh", flow::replayable, [&] { return static_cast<int>(order.size()); });
    co_await flow::step("send", flow::idempotent, [&] { /* … */ });
    co_return weight;
}

flow::workflow<int> sell(std::string order)
{
    auto const shipped = co_await flow::start_run<ship>(order);  // a flow::child<int>
    co_await flow::step("bill", flow::idempotent, [&] { /* … */ });
    co_return co_await shipped;
}
// [/child]

// [fan_out]
flow::workflow<int> sell_all(std::vector<std::string> orders)
{
    auto const one = [](std::string order) -> flow::workflow<int> {
        auto const shipped = co_await flow::start_run<ship>(order, {.priority = 5});
        co_return co_await shipped;
    };
    auto const weights = co_await flow::for_each(orders, one, {.concurrency = 10});
    co_return std::accumulate(weights.begin(), weights.end(), 0);
}
// [/fan_out]

flow::workflow<int> refuses(std::string why)
{
    co_await flow::step("check", flow::replayable, [&]() -> void { throw std::runtime_error(why); }, {.retry = {.max_attempts = 1}});
    co_return 0;
}

// [failure]
flow::workflow<std::string> careful(std::string why)
{
    auto const c = co_await flow::start_run<refuses>(why);
    auto const r = co_await flow::as_outcome(flow::wait_for_run(c, {.timeout = 24h}));
    co_return r ? "done" : r.error().message();  // run 7d0c…: step_failed at check#0: WHY
}
// [/failure]

flow::workflow<int> lasts()
{
    co_return co_await flow::wait_for_token<int>("the end");
}

// [close]
flow::workflow<std::string> leaves_one()
{
    auto const mine = co_await flow::start_run<lasts>();
    auto const free = co_await flow::start_run<lasts>({.on_close = flow::close_policy::abandon});
    co_return to_string(mine.id()) + " is cancelled now, " + to_string(free.id()) + " goes on";
}
// [/close]

int main(int argc, char** argv)
{
    auto const store = flow::open_store(store_text(argc, argv, "memory"));
    flow::engine engine(store);
    engine.add<ship>("ship");
    engine.add<sell>("sell");
    engine.add<sell_all>("sell_all");
    engine.add<refuses>("refuses");
    engine.add<careful>("careful");
    engine.add<lasts>("lasts");
    engine.add<leaves_one>("leaves_one");

    expect(engine.start<sell>(std::string("a chair")).result() == 7, "the child's result came back");
    std::vector<std::string> const orders(40, "a lamp");
    expect(engine.start<sell_all>(orders).result() == 240, "so did those of forty");
    auto const told = engine.start<careful>(std::string("no stock")).result();
    expect(told.find("step_failed at check#0: no stock") != told.npos, "a failure is told with its place in the child");

    auto const run = engine.start<leaves_one>();
    run.result();
    // [look]
    bool const over = engine.wait_for_family(run, 10s);  // the run, and what goes with it
    for (auto const& c : engine.children(run.id()))
        std::printf("%s %s\n", to_string(c.run.id).c_str(), to_string(c.run.status.run).data());
    // [/look]
    expect(over, "the one that goes with it has ended");
    auto const children = engine.children(run.id());
    expect(children[0].run.status.run == flow::run_status::cancelled, "the first was cancelled");
    expect(!is_terminal(children[1].run.status.run), "the other goes on");
    engine.cancel(children[1].run.id);
}
