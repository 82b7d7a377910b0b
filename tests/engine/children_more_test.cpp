// Children where something else happens to their parents besides: other code, restarts, deadlines, new segments, large values.
#include <catch2/catch.hpp>

#include "flow/flow.hpp"
#include "support/invariants.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

flow::workflow<int> asks() { co_return co_await flow::wait_for_token<int>("answer"); }

flow::workflow<int> awaits_answer()
{
    auto const c = co_await flow::start_run<asks>();
    co_return co_await c;
}
/// The same place, another body around it.
flow::workflow<int> awaits_answer_2()
{
    auto const c = co_await flow::start_run<asks>();
    co_await flow::step("look", flow::replayable, [] { outside().note("version 2"); });
    co_return 100 + co_await c;
}

flow::workflow<std::string> long_text(std::size_t n) { co_return std::string(n, 'x'); }
flow::workflow<std::size_t> reads_long_text(std::size_t n)
{
    auto const c = co_await flow::start_run<long_text>(n);
    auto const text = co_await c;
    co_return text.size();
}

flow::workflow<int> passes_it_on(int round, flow::child<int> from)
{
    bool const first = round == 0;
    if (first) {
        from = co_await flow::start_run<asks>();
        co_await flow::continue_as_new(1, from);
    }
    co_return co_await from;
}

flow::workflow<std::string> gives_a_deadline()
{
    auto const c = co_await flow::start_run<asks>({.deadline = 1h});
    auto const r = co_await flow::as_outcome(flow::wait_for_run(c));
    co_return r ? "answered" : r.error().message();
}

flow::workflow<int> not_registered() { co_return 1; }
flow::workflow<std::string> starts_what_nobody_knows()
{
    std::string told;
    try {
        auto const c = co_await flow::start_run<not_registered>();
        told = to_string(c.id());
    } catch (flow::error const& e) {
        told = flow::row_of(e.code()).name;
    }
    co_return told;
}

flow::workflow<int> doubles(int x) { co_return 2 * x; }
flow::workflow<std::string> keyed_in_branches(int n)
{
    std::vector<int> numbers(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) numbers[static_cast<std::size_t>(i)] = i;
    auto const one = [](int x) -> flow::workflow<int> {
        // Two want each key.
        std::string const key = "pair-" + std::to_string(x / 2);
        int got = -1;
        try {
            auto const c = co_await flow::start_run<doubles>(x, {.idempotency_key = key});
            got = co_await c;
        } catch (flow::error const& e) {
            if (e.code() != flow::errc::start_conflict) throw;
        }
        co_await flow::sleep_for(1s);
        co_return got;
    };
    auto const all = co_await flow::for_each(numbers, one);
    std::string text;
    for (auto const x : all) text += std::to_string(x) + ' ';
    co_return text;
}

flow::workflow<int> awaits_what_has_not_begun()
{
    auto const c = co_await flow::start_run<doubles>(1, {.delay = 1h});
    co_return co_await c;
}

flow::workflow<std::string> races(int rounds)
{
    std::string told;
    for (int i = 0; i < rounds; ++i) {
        auto const fast = [&]() -> flow::workflow<int> {
            auto const c = co_await flow::start_run<doubles>(i);
            co_return co_await c;
        };
        auto const slow = [&]() -> flow::workflow<int> {
            auto const c = co_await flow::start_run<asks>();
            co_return co_await c;
        };
        auto const won = co_await flow::any(slow, fast);
        told += std::to_string(won.index()) + ':' + std::to_string(std::get<1>(won)) + ' ';
    }
    co_await flow::wait_for_token<bool>("go on");
    co_return told;
}

void add_all(flow::engine& e)
{
    e.add<asks>("asks");
    e.add<awaits_answer>("awaits_answer");
    e.add<long_text>("long_text");
    e.add<reads_long_text>("reads_long_text");
    e.add<passes_it_on>("passes_it_on");
    e.add<gives_a_deadline>("gives_a_deadline");
    e.add<starts_what_nobody_knows>("starts_what_nobody_knows");
    e.add<doubles>("doubles");
    e.add<keyed_in_branches>("keyed_in_branches");
    e.add<awaits_what_has_not_begun>("awaits_what_has_not_begun");
    e.add<races>("races");
}
void add_second(flow::engine& e)
{
    e.add<asks>("asks");
    e.add<awaits_answer_2>("awaits_answer", flow::version{2});
}

flow::engine_options evicting()
{
    flow::engine_options o;
    o.most_waiting = 0;
    return o;
}

/// Time passes as in an engine that looks around all the while.
void pass(world& w, std::chrono::seconds d)
{
    for (auto t = 0s; t < d; t += 1s) w.pass(1s);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("other code that begins anew in place finds the child again", "[engine][child][version]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const id = w.engine().start<awaits_answer>().id();
    w.settle();
    w.restart(place.again(), add_second);
    pass(w, 60s);
    w.engine().decide(w.engine().intervention_of(id), "restart");
    pass(w, 60s);
    CHECK(outside().count("version 2") >= 1);
    CHECK(w.status(id) == flow::run_status::waiting);
    REQUIRE(w.engine().children(id).size() == 1);
    w.engine().complete_json(w.open_token("answer"), "7");
    w.settle();
    CHECK(flow::run_handle<int>(w.engine().find(id)).result() == 107);
    CHECK(w.engine().children(id).size() == 1);
    check_invariants(*place.store);
}

TEMPLATE_LIST_TEST_CASE("a large result comes back whole, also by replay", "[engine][child]", every_store)
{
    TestType place;
    world w(place.store, add_all, evicting());
    auto const run = w.engine().start<reads_long_text>(std::size_t{300'000});
    w.settle();
    CHECK(run.result() == 300'000);
    check_invariants(*place.store);
}

TEMPLATE_LIST_TEST_CASE("a child is handed on by continue_as_new", "[engine][child]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const run = w.engine().start<passes_it_on>(0, flow::child<int>{});
    w.settle();
    CHECK(w.view(run.id()).segment == 1);
    w.engine().complete_json(w.open_token("answer"), "5");
    w.settle();
    CHECK(run.result() == 5);
}

TEMPLATE_LIST_TEST_CASE("a child whose deadline passes is an error of its own kind, and its parent goes on", "[engine][child]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const run = w.engine().start<gives_a_deadline>();
    w.settle();
    w.pass(2h);
    CHECK_THAT(run.result(), Catch::Contains("run_expired: the run's deadline passed"));
}

TEMPLATE_LIST_TEST_CASE("a parent whose deadline passes takes its children along", "[engine][child]", every_store)
{
    TestType place;
    bool const evicts = GENERATE(false, true);
    CAPTURE(evicts);
    world w(place.store, add_all, evicts ? evicting() : flow::engine_options{});
    auto const run = w.engine().start<awaits_answer>({.deadline = 1h});
    w.settle();
    w.pass(2h);
    CHECK(run.status().run == flow::run_status::expired);
    CHECK(w.engine().children(run.id()).front().run.status.run == flow::run_status::cancelled);
    CHECK(w.engine().wait_for_family(run, 0ms));
}

TEMPLATE_LIST_TEST_CASE("a workflow that is not registered cannot be started, and the body may catch it", "[engine][child]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const run = w.engine().start<starts_what_nobody_knows>();
    w.settle();
    CHECK(run.result() == "unknown_workflow");
}

TEMPLATE_LIST_TEST_CASE("PC-03 keys wanted by branches side by side: one of two has each, by replay as live", "[engine][child][groups]", every_store)
{
    TestType place;
    world w(place.store, add_all, evicting());
    auto const run = w.engine().start<keyed_in_branches>(8);
    w.settle();
    w.restart();
    w.pass(1min);
    CHECK(flow::run_handle<std::string>(w.engine().find(run.id())).result() == "0 -1 4 -1 8 -1 12 -1 ");
    CHECK(w.engine().children(run.id()).size() == 4);
    check_invariants(*place.store);
}

TEMPLATE_LIST_TEST_CASE("PC-12 losers that wait for children, again and again, replay as they ran", "[engine][child][groups]", every_store)
{
    TestType place;
    world w(place.store, add_all, evicting());
    auto const id = w.engine().start<races>(5).id();
    w.settle();
    w.restart();
    w.settle();
    CHECK(w.status(id) == flow::run_status::waiting);
    auto const children = w.engine().children(id);
    REQUIRE(children.size() == 10);
    for (auto const& c : children)
        CHECK(c.run.status.run == (c.run.workflow == "asks" ? flow::run_status::cancelled : flow::run_status::succeeded));
    w.engine().complete_json(w.open_token("go on"), "true");
    w.settle();
    CHECK(flow::run_handle<std::string>(w.engine().find(id)).result() == "1:0 1:2 1:4 1:6 1:8 ");
    check_invariants(*place.store);
}

TEMPLATE_LIST_TEST_CASE("PC-01 a child that ends with its parent's cancel is that cancel, not an error of its own", "[engine][child]", every_store)
{
    TestType place;
    world w(place.store, add_all, evicting());
    auto const id = w.engine().start<awaits_what_has_not_begun>().id();
    w.settle();
    w.stop();
    CHECK(flow::client(place.again(), "alice").cancel(id) == flow::request_fate::taken);
    w.restart();
    w.settle();
    CHECK(w.status(id) == flow::run_status::cancelled);
    CHECK(w.engine().children(id).front().run.status.run == flow::run_status::cancelled);
}
