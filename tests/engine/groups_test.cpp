// Branches side by side: all, any, all_settled, for_each; how they end, and that replay takes the same turns (P15, P16).
#include <catch2/catch.hpp>

#include "flow/flow.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

int alive = 0;
struct counted {
    counted() { ++alive; }
    counted(counted const&) = delete;
    ~counted() { --alive; }
};

flow::workflow<int> twice(int n)
{
    auto const a = co_await flow::step("fetch", flow::idempotent, [&] { return outside().note("fetch " + std::to_string(n)), n; });
    auto const b = co_await flow::step("fetch", flow::replayable, [&] { return a; });
    co_return a + b;
}

flow::workflow<std::string> side_by_side()
{
    auto const [a, b, nothing, text] = co_await flow::all(
        twice(1), twice(20), flow::sleep_for(1h),
        flow::step("say", flow::idempotent, [] { return outside().note("say"), std::string("done"); }));
    static_cast<void>(nothing);
    co_return text + " " + std::to_string(a + b);
}

flow::workflow<std::string> first_of()
{
    auto const token = co_await flow::make_token<int>("other");
    auto const won = co_await flow::any(
        [&]() -> flow::workflow<int> {
            counted const c;
            co_return co_await flow::wait_for_token<int>("slow");
        },
        flow::sleep_for(1h), flow::wait_for_token(token));
    auto const later = co_await flow::wait_for_token(token);  // a loser's wait has left it open
    co_return std::to_string(won.index()) + ", then " + std::to_string(later);
}

flow::workflow<int> one_fails(int when)
{
    auto const r = co_await flow::as_outcome(flow::all(
        flow::step("good", flow::idempotent, [] { return outside().note("good"), 1; }),
        [&]() -> flow::workflow<int> {
            co_await flow::sleep_for(std::chrono::hours{when});
            co_return co_await flow::step("bad", flow::idempotent, []() -> int { throw flow::permanent_error("no such account"); });
        },
        [&]() -> flow::workflow<int> {
            counted const c;
            auto const got = co_await flow::as_outcome(flow::wait_for_token<int>("never"));
            if (!got) co_await flow::shield(flow::step("tidy", flow::idempotent, [] { outside().note("tidy"); }));
            co_return got.value();
        }));
    outside().note(r ? "all good" : r.error().place() + ": " + r.error().message());
    co_return co_await flow::step("after", flow::idempotent, [] { return outside().note("after"), 7; });
}

flow::workflow<std::string> settled()
{
    auto const [a, b] = co_await flow::all_settled(
        flow::step("good", flow::replayable, [] { return 1; }),
        flow::step("bad", flow::replayable, []() -> int { throw flow::permanent_error("broken"); }));
    co_return std::to_string(a.value()) + " " + b.error().message();
}

/// In a branch that is alive: a frame that leaves memory does not count.
int running = 0, most = 0;
struct busy {
    busy() { most = std::max(most, ++running); }
    busy(busy const&) = delete;
    ~busy() { --running; }
};

flow::workflow<int> each(int count, int at_once)
{
    std::vector<int> numbers;
    for (int i = 0; i < count; ++i) numbers.push_back(i);
    auto const squares = co_await flow::for_each(
        numbers,
        [&](int n) -> flow::workflow<int> {
            busy const b;
            co_await flow::sleep_for(std::chrono::minutes{n % 3});
            co_return n * n;
        },
        {.concurrency = static_cast<std::size_t>(at_once)});
    int sum = 0;
    for (auto const s : squares) sum += s;
    co_return sum;
}

flow::workflow<int> nested()
{
    auto const [a, b] = co_await flow::all(
        [&]() -> flow::workflow<int> {
            auto const won = co_await flow::any(flow::sleep_for(2h), flow::wait_for_token<int>("inner"));
            co_return static_cast<int>(won.index());
        },
        [&]() -> flow::workflow<int> {
            auto const [x, y] = co_await flow::all(twice(3), twice(4));
            co_return x * y;
        });
    co_return 100 * a + b;
}

flow::workflow<int> two_on_one()
{
    auto const token = co_await flow::make_token<int>("shared");
    auto const [a, b] = co_await flow::all(
        flow::wait_for_token(token), [&]() -> flow::workflow<int> {
            auto const early = co_await flow::as_outcome(flow::wait_for_token(token, {.timeout = 1h}));
            if (early) co_return *early;
            co_return 10 * co_await flow::wait_for_token(token);
        });
    co_return a + b;
}

flow::workflow<int> cleans_up()
{
    co_await flow::all(flow::sleep_for(1h), [&]() -> flow::workflow<> {
        counted const c;
        auto const got = co_await flow::as_outcome(flow::wait_for_token<int>("never"));
        if (!got) co_await flow::shield(flow::step("tidy", flow::idempotent, [] { outside().note("tidy"); }));
    });
    outside().note("not any more");
    co_await flow::step("not any more", flow::idempotent, [] { outside().note("not any more"); });
    co_return 1;
}


void add_all(flow::engine& e)
{
    e.add<side_by_side>("side_by_side");
    e.add<first_of>("first_of");
    e.add<one_fails>("one_fails");
    e.add<settled>("settled");
    e.add<each>("each");
    e.add<nested>("nested");
    e.add<two_on_one>("two_on_one");
    e.add<cleans_up>("cleans_up");
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("all runs its branches side by side and gives all results, before and after a restart", "[engine][group]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const id = w.engine().start<side_by_side>().id();
    w.settle();
    CHECK(w.status(id) == flow::run_status::waiting);
    bool const restarted = GENERATE(false, true);
    if (restarted) w.restart();
    w.pass(1h);
    CHECK(w.engine().find(id).end().result == R"("done 42")");
    CHECK(outside().all().size() == 3);
    // RD-07 (b): the same name in two branches is two steps, each with its own output.
    auto const v = w.view(id);
    std::vector<std::string> places;
    for (auto const& s : v.steps) places.push_back(s.place);
    std::sort(places.begin(), places.end());
    CHECK(places == std::vector<std::string>{"all#0.0/fetch#0", "all#0.0/fetch#1", "all#0.1/fetch#0", "all#0.1/fetch#1", "all#0.3/say#0"});
}

TEMPLATE_LIST_TEST_CASE("PC-05 the losers of any leave nothing behind, and a token made before stays open", "[engine][group]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    alive = 0;
    auto const id = w.engine().start<first_of>().id();
    w.settle();
    CHECK(alive == 1);
    if (GENERATE(false, true)) {
        w.restart();
        w.settle();
    }
    w.pass(1h);
    CHECK(alive == 0);
    auto const v = w.view(id);
    REQUIRE(v.open.size() == 1);
    CHECK(v.open[0].row.name == "other");
    CHECK(w.entries(id, flow::entry_kind::group) == 1);
    CHECK(w.entries(id, flow::entry_kind::cancel_delivered) == 2);
    if (GENERATE(false, true)) w.restart();
    w.settle();
    w.engine().complete_json(w.open_token("other"), "5");
    w.settle();
    CHECK(w.engine().find(id).end().result == R"("1, then 5")");
}

TEMPLATE_LIST_TEST_CASE("PC-06 the first failure of all cancels the others, keeps what is done and is thrown when all have ended", "[engine][group]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    alive = 0;
    auto const when = GENERATE(0, 1);
    auto const id = w.engine().start<one_fails>(when).id();
    w.settle();
    if (GENERATE(false, true)) w.restart();
    w.pass(2h);
    CHECK(w.engine().find(id).end().result == "7");
    CHECK(alive == 0);
    CHECK(outside().count("good") == 1);
    CHECK(outside().count("tidy") == 1);
    CHECK(outside().count("after") == 1);
    CHECK(outside().count("all#0.1/bad#0: no such account") >= 1);
    CHECK(outside().count("all good") == 0);
    CHECK(w.view(id).open.empty());
    w.restart();
    w.settle();
    CHECK(outside().count("after") == 1);
}

TEST_CASE("all_settled gives each branch's outcome", "[engine][group]")
{
    memory_stores place;
    world w(place.store, add_all);
    auto run = w.engine().start<settled>();
    w.settle();
    CHECK(run.result() == "1 broken");
}

TEMPLATE_LIST_TEST_CASE("for_each keeps to its concurrency and gives results in the order of its range", "[engine][group]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    running = most = 0;
    auto const id = w.engine().start<each>(20, 4).id();
    w.pass(2min);
    CHECK(most == 4);
    if (GENERATE(false, true)) w.restart();
    w.pass(1h);
    CHECK(most == 4);
    CHECK(w.engine().find(id).end().result == "2470");
    auto none = w.engine().start<each>(0, 1);
    w.settle();
    CHECK(none.result() == 0);
}

TEMPLATE_LIST_TEST_CASE("groups nest", "[engine][group]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const id = w.engine().start<nested>().id();
    w.settle();
    if (GENERATE(false, true)) w.restart();
    w.settle();
    w.engine().complete_json(w.open_token("inner"), "1");
    w.settle();
    CHECK(w.engine().find(id).end().result == "148");
}

TEMPLATE_LIST_TEST_CASE("two branches may wait for one token, and one may leave without the other", "[engine][group]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const id = w.engine().start<two_on_one>().id();
    w.settle();
    bool const late = GENERATE(false, true);
    if (late) w.pass(90min);
    if (GENERATE(false, true)) w.restart();
    w.settle();
    w.engine().complete_json(w.open_token("shared"), "3");
    w.settle();
    CHECK(w.engine().find(id).end().result == (late ? "33" : "6"));
}

TEMPLATE_LIST_TEST_CASE("a cancel reaches every branch, clean-up runs, and nothing begins after the group", "[engine][group][cancel]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    alive = 0;
    auto const id = w.engine().start<cleans_up>().id();
    w.settle();
    w.engine().cancel(id, "enough");
    if (GENERATE(false, true)) w.restart();
    w.pass(2h);
    CHECK(w.status(id) == flow::run_status::cancelled);
    CHECK(outside().count("tidy") == 1);
    CHECK(outside().count("not any more") == 0);
    CHECK(alive == 0);
    CHECK(w.view(id).open.empty());
}
