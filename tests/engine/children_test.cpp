// Children: started and awaited, their ends told with the whole path, and what becomes of them when their parents end.
#include <catch2/catch.hpp>

#include <numeric>

#include "flow/flow.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

flow::workflow<int> doubles(int x) { co_return co_await flow::step("double", flow::replayable, [&] { return 2 * x; }); }

flow::workflow<int> asks_for_double(int x)
{
    auto const c = co_await flow::start_run<doubles>(x);
    auto const first = co_await c;
    co_return first + co_await c;
}

flow::workflow<int> fails_at_once(std::string what)
{
    co_await flow::step("charge", flow::idempotent, [&]() -> int { throw std::runtime_error(what); }, {.retry = {.max_attempts = 1}});
    co_return 0;
}

flow::workflow<int> passes_on(std::string what)
{
    auto const c = co_await flow::start_run<fails_at_once>(what);
    co_return co_await c;
}

flow::workflow<std::string> sees_the_path(std::string what)
{
    auto const c = co_await flow::start_run<passes_on>(what);
    auto const r = co_await flow::as_outcome(flow::wait_for_run(c));
    co_return r ? "no error" : std::string(flow::row_of(r.error().code()).name) + " at " + r.error().place() + ": " + r.error().message();
}

flow::workflow<int> waits_for_answer()
{
    co_return co_await flow::wait_for_token<int>("answer");
}

flow::workflow<std::string> times_out()
{
    auto const c = co_await flow::start_run<waits_for_answer>();
    auto const first = co_await flow::as_outcome(flow::wait_for_run(c, {.timeout = 1h}));
    outside().note(first ? "answered" : std::string(flow::row_of(first.error().code()).name));
    auto const second = co_await c;
    co_return "answered " + std::to_string(second);
}

flow::workflow<std::string> takes_a_key(std::string key)
{
    std::string told;
    try {
        auto const c = co_await flow::start_run<doubles>(3, {.idempotency_key = key});
        auto const r = co_await c;
        told = "child gave " + std::to_string(r);
    } catch (flow::error const& e) {
        told = e.what();
    }
    auto const after = co_await flow::start_run<doubles>(20);
    co_return told + ", then " + std::to_string(co_await after);
}

flow::workflow<int> fans_out(int n, std::size_t at_once)
{
    std::vector<int> numbers(static_cast<std::size_t>(n));
    std::iota(numbers.begin(), numbers.end(), 1);
    auto const each = [](int x) -> flow::workflow<int> {
        auto const c = co_await flow::start_run<doubles>(x);
        co_return co_await c;
    };
    auto const all = co_await flow::for_each(numbers, each, {.concurrency = at_once});
    co_return std::accumulate(all.begin(), all.end(), 0);
}

flow::workflow<int> awaits_both()
{
    auto const a = co_await flow::start_run<doubles>(1);
    auto const b = co_await flow::start_run<doubles>(2);
    auto const [x, y] = co_await flow::all(a, b);
    co_return x + y;
}

flow::workflow<int> waits_an_hour()
{
    co_await flow::sleep_for(1h);
    outside().note("an hour is over");
    co_return 60;
}

flow::workflow<std::string> first_of_two(flow::close_policy on_close)
{
    auto const slow = co_await flow::start_run<waits_an_hour>({.on_close = on_close});
    auto const fast = co_await flow::start_run<doubles>(4);
    auto const won = co_await flow::any(fast, slow);
    co_return "branch " + std::to_string(won.index());
}

flow::workflow<std::string> loser_in_branch(flow::close_policy on_close)
{
    auto const slow = [&]() -> flow::workflow<int> {
        auto const c = co_await flow::start_run<waits_an_hour>({.on_close = on_close});
        co_return co_await c;
    };
    auto const fast = [&]() -> flow::workflow<int> {
        co_await flow::sleep_for(1s);
        co_return 1;
    };
    auto const won = co_await flow::any(slow, fast);
    auto const go_on = co_await flow::wait_for_token<bool>("go on");
    co_return "branch " + std::to_string(won.index()) + (go_on ? "!" : "?");
}

flow::workflow<int> has_one_child(flow::close_policy on_close)
{
    auto const c = co_await flow::start_run<waits_an_hour>({.on_close = on_close});
    co_return co_await c;
}

flow::workflow<int> has_three_children(flow::close_policy on_close)
{
    auto const a = co_await flow::start_run<waits_an_hour>({.on_close = on_close});
    auto const b = co_await flow::start_run<waits_for_answer>({.on_close = on_close});
    auto const c = co_await flow::start_run<has_one_child>(on_close, {.on_close = on_close});
    co_await flow::all(a, b, c);
    co_return 0;
}

struct kept {
    flow::child<int> c;
    int turn = 0;
};

flow::workflow<int> keeps_a_child_over_checkpoint()
{
    auto s = co_await flow::state<kept>();
    if (s.turn == 0) {
        s.c = co_await flow::start_run<waits_for_answer>();
        s.turn = 1;
        co_await flow::checkpoint(s);
    }
    co_return co_await s.c;
}

flow::workflow<std::string> awaits_detached()
{
    auto const c = co_await flow::start_run<doubles>(1, {.on_close = flow::close_policy::detached});
    auto const r = co_await flow::as_outcome(flow::wait_for_run(c));
    co_return r ? "it gave " + std::to_string(*r) : std::string(flow::row_of(r.error().code()).name);
}

flow::workflow<int> cleans_up_with_a_child()
{
    auto const r = co_await flow::as_outcome(flow::wait_for_token<int>("never"));
    if (r) co_return *r;
    auto const c = co_await flow::shield(flow::start_run<waits_for_answer>());
    auto const answer = co_await flow::shield(flow::wait_for_run(c));
    outside().note("cleaned up with " + std::to_string(answer));
    flow::raise(r.error());
}

void add_all(flow::engine& e)
{
    e.add<doubles>("doubles");
    e.add<asks_for_double>("asks_for_double");
    e.add<fails_at_once>("fails_at_once");
    e.add<passes_on>("passes_on");
    e.add<sees_the_path>("sees_the_path");
    e.add<waits_for_answer>("waits_for_answer");
    e.add<times_out>("times_out");
    e.add<takes_a_key>("takes_a_key");
    e.add<fans_out>("fans_out");
    e.add<awaits_both>("awaits_both");
    e.add<waits_an_hour>("waits_an_hour");
    e.add<first_of_two>("first_of_two");
    e.add<loser_in_branch>("loser_in_branch");
    e.add<has_one_child>("has_one_child");
    e.add<has_three_children>("has_three_children");
    e.add<keeps_a_child_over_checkpoint>("keeps_a_child_over_checkpoint");
    e.add<awaits_detached>("awaits_detached");
    e.add<cleans_up_with_a_child>("cleans_up_with_a_child");
}

/// Everything evicted as soon as it waits: each wait is come back to by replay.
flow::engine_options evicting()
{
    flow::engine_options o;
    o.most_waiting = 0;
    return o;
}

flow::run_id only_child(world& w, flow::run_id parent)
{
    auto const all = w.engine().children(parent);
    REQUIRE(all.size() == 1);
    CHECK(all.front().run.parent == parent);
    return all.front().run.id;
}

std::vector<flow::run_status> statuses(world& w, flow::run_id parent)
{
    std::vector<flow::run_status> all;
    for (auto const& c : w.engine().children(parent)) all.push_back(c.run.status.run);
    return all;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a child's result is awaited, as often as one likes", "[engine][child]", every_store)
{
    TestType place;
    bool const evicts = GENERATE(false, true);
    CAPTURE(evicts);
    world w(place.store, add_all, evicts ? evicting() : flow::engine_options{});
    auto run = w.engine().start<asks_for_double>(21);
    w.settle();
    CHECK(run.result() == 84);
    CHECK(w.entries(run.id(), flow::entry_kind::child) == 1);
    CHECK(w.entries(run.id(), flow::entry_kind::child_ended) == 2);
    auto const child = w.engine().find(only_child(w, run.id()));
    CHECK(child.status().run == flow::run_status::succeeded);
    CHECK(w.view(child.id()).row.parent == run.id());
}

TEMPLATE_LIST_TEST_CASE("a child's failure is an error with the whole path", "[engine][child]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto run = w.engine().start<sees_the_path>(std::string("card declined"));
    w.settle();
    auto const child = only_child(w, run.id());
    auto const grandchild = only_child(w, child);
    CHECK(run.result() == "child_failed at child#0: run " + to_string(child) + ": child_failed at child#0: run " + to_string(grandchild) +
                              ": step_failed at charge#0: card declined");
    CHECK(w.engine().find(child).status().run == flow::run_status::failed);
    CHECK_THROWS_AS(flow::run_handle<int>(w.engine().find(child)).result(), flow::child_error);
}

TEMPLATE_LIST_TEST_CASE("a wait for a child ends with its time, and the child goes on", "[engine][child]", every_store)
{
    TestType place;
    bool const evicts = GENERATE(false, true);
    CAPTURE(evicts);
    world w(place.store, add_all, evicts ? evicting() : flow::engine_options{});
    auto run = w.engine().start<times_out>();
    w.settle();
    CHECK(w.view(run.id()).waits_for.type == flow::wait_reason::kind::child);
    CHECK(w.view(run.id()).waits_for.name == to_string(only_child(w, run.id())));
    w.pass(2h);
    CHECK(outside().count("wait_timeout") >= 1);
    CHECK(w.status(run.id()) == flow::run_status::waiting);
    w.engine().complete_json(w.open_token("answer"), "7");
    w.settle();
    CHECK(run.result() == "answered 7");
}

TEMPLATE_LIST_TEST_CASE("PC-03 a child under a key in use by another run: an exception, one entry, no loop", "[engine][child]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const other = w.engine().start<doubles>(1, {.idempotency_key = "order-7"});
    auto run = w.engine().start<takes_a_key>(std::string("order-7"));
    w.settle();
    auto const told = run.result();
    CHECK_THAT(told, Catch::Contains("start_conflict") && Catch::Contains("order-7") && Catch::Contains(to_string(other.id())) &&
                         Catch::EndsWith("then 40"));
    CHECK(w.entries(run.id(), flow::entry_kind::child) == 2);  // the one refused, and the next one
    CHECK(w.engine().children(run.id()).size() == 1);
    w.restart();
    w.settle();
    CHECK(w.entries(run.id(), flow::entry_kind::child) == 2);

    auto fine = w.engine().start<takes_a_key>(std::string("order-8"));
    w.settle();
    CHECK(fine.result() == "child gave 6, then 40");
    CHECK(w.engine().find_by_key("order-8").view().row.parent == fine.id());
}

TEMPLATE_LIST_TEST_CASE("children in branches: all of handles, for_each with so many at once", "[engine][child]", every_store)
{
    TestType place;
    bool const evicts = GENERATE(false, true);
    CAPTURE(evicts);
    world w(place.store, add_all, evicts ? evicting() : flow::engine_options{});
    auto both = w.engine().start<awaits_both>();
    auto many = w.engine().start<fans_out>(20, std::size_t{3});
    auto all = w.engine().start<fans_out>(20, std::size_t{0});
    w.settle();
    CHECK(both.result() == 6);
    CHECK(many.result() == 420);
    CHECK(all.result() == 420);
    CHECK(w.engine().children(many.id()).size() == 20);
}

TEMPLATE_LIST_TEST_CASE("PC-12 any of a fast child and a slow one: the parent is finished at once, the slow one follows its policy",
                        "[engine][child]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    using flow::close_policy;
    using flow::run_status;
    auto run = w.engine().start<first_of_two>(close_policy::cancel);
    auto patient = w.engine().start<first_of_two>(close_policy::abandon);
    auto asks = w.engine().start<first_of_two>(close_policy::request_cancel);
    w.settle();
    CHECK(run.result() == "branch 0");
    CHECK(patient.result() == "branch 0");
    CHECK(statuses(w, run.id()) == std::vector{run_status::cancelled, run_status::succeeded});
    CHECK(statuses(w, asks.id()) == std::vector{run_status::cancelled, run_status::succeeded});
    CHECK(statuses(w, patient.id()) == std::vector{run_status::waiting, run_status::succeeded});
    w.pass(2h);
    CHECK(statuses(w, patient.id()) == std::vector{run_status::succeeded, run_status::succeeded});
    CHECK(outside().count("an hour is over") == 1);
}

TEMPLATE_LIST_TEST_CASE("a child goes with the branch that started it, if that is its policy", "[engine][child]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    using flow::close_policy;
    using flow::run_status;
    auto run = w.engine().start<loser_in_branch>(close_policy::cancel);
    auto later = w.engine().start<loser_in_branch>(close_policy::request_cancel);
    w.settle();
    w.pass(2s);
    CHECK(w.status(run.id()) == run_status::waiting);
    CHECK(statuses(w, run.id()) == std::vector{run_status::cancelled});
    CHECK(statuses(w, later.id()) == std::vector{run_status::waiting});
    flow::waitpoint_filter open;
    open.status = flow::waitpoint_status::pending;
    open.purpose = flow::waitpoint_purpose::token;
    for (auto const& t : w.engine().waitpoints(open)) w.engine().complete_json(t.id, "true");
    w.settle();
    CHECK(run.result() == "branch 1!");
    CHECK(statuses(w, later.id()) == std::vector{run_status::cancelled});
}

TEMPLATE_LIST_TEST_CASE("PC-01 a parent is cancelled: children and grandchildren with it, or not", "[engine][child]", every_store)
{
    TestType place;
    bool const evicts = GENERATE(false, true);
    CAPTURE(evicts);
    world w(place.store, add_all, evicts ? evicting() : flow::engine_options{});
    using flow::close_policy;
    using flow::run_status;
    auto const policy = GENERATE(close_policy::cancel, close_policy::request_cancel, close_policy::abandon);
    CAPTURE(to_string(policy));
    auto run = w.engine().start<has_three_children>(policy);
    w.settle();
    CHECK_FALSE(w.engine().wait_for_family(run, 0ms));
    run.cancel("no longer wanted");
    w.settle();
    CHECK(run.status().run == run_status::cancelled);
    auto const children = w.engine().children(run.id());
    REQUIRE(children.size() == 3);
    auto const grandchildren = statuses(w, children[2].run.id);
    REQUIRE(grandchildren.size() == 1);
    if (policy == close_policy::abandon) {
        CHECK(statuses(w, run.id()) == std::vector(3, run_status::waiting));
        CHECK(grandchildren[0] == run_status::waiting);
        w.engine().complete_json(w.open_token("answer"), "1");
        w.pass(2h);
        CHECK(statuses(w, run.id()) == std::vector(3, run_status::succeeded));
        CHECK(w.engine().wait_for_family(run, 0ms));  // they are their own by now
    } else {
        CHECK(statuses(w, run.id()) == std::vector(3, run_status::cancelled));
        CHECK(grandchildren[0] == run_status::cancelled);
        CHECK(w.engine().wait_for_family(run, 1s));
        CHECK(outside().count("an hour is over") == 0);
    }
}

TEMPLATE_LIST_TEST_CASE("a parent that nobody holds is cancelled: its children with it", "[engine][child]", every_store)
{
    TestType place;
    world w(place.store, add_all, evicting());
    auto run = w.engine().start<has_three_children>(flow::close_policy::cancel);
    w.settle();
    w.stop();
    flow::client operator_(place.store, "alice");
    CHECK(operator_.cancel(run.id()) == flow::request_fate::taken);
    w.restart();
    w.settle();
    CHECK(w.status(run.id()) == flow::run_status::cancelled);
    CHECK(statuses(w, run.id()) == std::vector(3, flow::run_status::cancelled));
}

TEMPLATE_LIST_TEST_CASE("a child is kept over a checkpoint and a restart", "[engine][child]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const id = w.engine().start<keeps_a_child_over_checkpoint>().id();
    w.settle();
    w.restart();
    w.settle();
    CHECK(w.status(id) == flow::run_status::waiting);
    w.engine().complete_json(w.open_token("answer"), "11");
    w.settle();
    CHECK(flow::run_handle<int>(w.engine().find(id)).result() == 11);
}

TEMPLATE_LIST_TEST_CASE("a detached child is a run of its own", "[engine][child]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto run = w.engine().start<awaits_detached>();
    w.settle();
    CHECK(run.result() == "unknown_run");
    CHECK(statuses(w, run.id()) == std::vector{flow::run_status::succeeded});
    CHECK(w.engine().children(run.id()).front().on_close == flow::close_policy::detached);
}

TEMPLATE_LIST_TEST_CASE("clean-up may start a child and wait for it", "[engine][child]", every_store)
{
    TestType place;
    bool const evicts = GENERATE(false, true);
    CAPTURE(evicts);
    world w(place.store, add_all, evicts ? evicting() : flow::engine_options{});
    auto run = w.engine().start<cleans_up_with_a_child>();
    w.settle();
    run.cancel();
    w.settle();
    CHECK(run.status().run == flow::run_status::cancelling);
    run.cancel("a second time");
    w.settle();
    w.engine().complete_json(w.open_token("answer"), "5");
    w.settle();
    CHECK(run.status().run == flow::run_status::cancelled);
    CHECK(outside().count("cleaned up with 5") >= 1);
}
