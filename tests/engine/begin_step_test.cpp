// begin_step: begun here, ended elsewhere by its token; time limits, signs of life; what a crash does to each class.
#include <catch2/catch.hpp>

#include "dying.hpp"
#include "flow/flow.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

/// What was begun: the tokens to end it by, with the keys, in order.
struct begun {
    flow::token<int> ends_by;
    std::string key, secret;
    int attempt;
};
std::vector<begun> begun_so_far;
int throws = 0;               ///< so many of the next calls of `begin`
bool permanent = false;
flow::client* at_once = nullptr;  ///< completes it before `begin` has returned

void begin(flow::token<int> const& ends_by, flow::attempt& a)
{
    begun_so_far.push_back({ends_by, std::string(a.key()), ends_by.secret().text(), a.number()});
    if (at_once) at_once->complete(ends_by, 5);
    if (permanent) throw flow::permanent_error("no GPU");
    if (throws > 0) {
        --throws;
        throw std::runtime_error("the queue is full");
    }
}

flow::begin_options const two_quick{.timeout = 10min, .retry = {.max_attempts = 2, .first_delay = 1s}};
flow::begin_options const in_another_process{.timeout = 10min, .outlives_engine = true};
flow::begin_options const beating{.heartbeat = 10s, .retry = {.max_attempts = 1}};

template <class Class>
flow::workflow<int> render_as(Class cls, flow::begin_options options)
{
    auto const n = co_await flow::begin_step<int>("render", cls, begin, options);
    outside().note("rendered");
    co_await flow::wait_for_token<void>("go on");
    co_return n;
}

flow::workflow<int> render(int cls)
{
    if (cls == 0) co_return co_await render_as(flow::replayable, two_quick);
    if (cls == 1) co_return co_await render_as(flow::idempotent, two_quick);
    if (cls == 3) co_return co_await render_as(flow::idempotent, in_another_process);
    co_return co_await render_as(flow::non_replayable, two_quick);
}

flow::workflow<int> render_beating(int cls)
{
    if (cls == 1) co_return co_await render_as(flow::idempotent, beating);
    co_return co_await render_as(flow::non_replayable, beating);
}

flow::workflow<int> inline_pair()
{
    auto const [a, b] = co_await flow::all(flow::begin_step<int>("left", flow::idempotent, begin, {.inline_ = true}),
                                           flow::begin_step<int>("right", flow::idempotent, begin));
    co_await flow::wait_for_token<void>("go on");
    co_return 10 * a + b;
}

flow::workflow<std::string> nothing_but_done()
{
    co_await flow::begin_step<void>("print", flow::idempotent, [](flow::token<void> const& t) { begun_so_far.push_back({flow::token<int>(t.id()), {}, {}, 1}); });
    co_return "printed";
}

void add_all(flow::engine& e)
{
    e.add<render>("render");
    e.add<render_beating>("render_beating");
    e.add<inline_pair>("inline_pair");
    e.add<nothing_but_done>("nothing_but_done");
}

void fresh()
{
    begun_so_far.clear();
    throws = 0;
    permanent = false;
    at_once = nullptr;
}

void go_on(world& w)
{
    w.settle();
    w.engine().complete_json(w.open_token("go on"), "null");
    w.settle();
}

std::string failure(world& w, flow::run_id id)
{
    auto const v = w.view(id);
    return v.failure ? v.failure->message : "";
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("what begins here is completed elsewhere, by its token, of every class; replay begins nothing", "[engine][begin_step]", every_store)
{
    int const cls = GENERATE(0, 1, 2, 3);
    fresh();
    TestType place;
    world w(place.store, add_all);
    auto run = w.engine().start<render>(cls);
    w.settle();
    REQUIRE(begun_so_far.size() == 1);
    w.pass(1min);
    auto const lives_on = cls > 1;
    CHECK(w.status(run.id()) == (lives_on ? flow::run_status::waiting : flow::run_status::running));
    CHECK(w.view(run.id()).doing == (lives_on ? "It waits at workflow#0/render#0 for a tool." : "It runs step workflow#0/render#0, attempt 1."));
    if (lives_on) CHECK(w.view(run.id()).row.status.execution == flow::execution_status::suspended);

    SECTION("by a client, with its secret")
    {
        flow::client elsewhere(place.store, "gpu");
        elsewhere.complete(begun_so_far[0].ends_by, flow::token_secret(begun_so_far[0].secret), 7);
    }
    SECTION("by the engine")
    {
        w.engine().complete(begun_so_far[0].ends_by, 7);
    }
    w.settle();
    CHECK(outside().count("rendered") == 1);
    w.restart();
    go_on(w);
    CHECK(run.result() == 7);
    CHECK(begun_so_far.size() == 1);
    CHECK(w.entries(run.id(), flow::entry_kind::step) == 1);
    CHECK(w.entries(run.id(), flow::entry_kind::intent) == (cls == 2 ? 1 : 0));
}

TEMPLATE_LIST_TEST_CASE("it may be completed before its function has returned, and then what that throws counts for nothing", "[engine][begin_step]", every_store)
{
    int const cls = GENERATE(1, 2);
    bool const and_throws = GENERATE(false, true);
    fresh();
    TestType place;
    world w(place.store, add_all);
    flow::client elsewhere(place.store);
    at_once = &elsewhere;
    throws = and_throws ? 1 : 0;
    auto run = w.engine().start<render>(cls);
    go_on(w);
    CHECK(run.result() == 5);
    CHECK(begun_so_far.size() == 1);
}

TEMPLATE_LIST_TEST_CASE("what fails elsewhere is begun again with the same key and another token", "[engine][begin_step]", every_store)
{
    fresh();
    TestType place;
    world w(place.store, add_all);
    auto run = w.engine().start<render>(1);
    w.settle();
    w.engine().fail(begun_so_far[0].ends_by, "out of memory");
    w.settle();
    CHECK(w.view(run.id()).steps[0].error == "out of memory");
    w.pass(1s);
    REQUIRE(begun_so_far.size() == 2);
    CHECK(begun_so_far[0].key == begun_so_far[1].key);
    CHECK_FALSE(begun_so_far[0].ends_by == begun_so_far[1].ends_by);
    CHECK(begun_so_far[1].attempt == 2);
    CHECK_THROWS_WITH(w.engine().complete(begun_so_far[0].ends_by, 1), Catch::Contains("token_conflict"));

    SECTION("and ends well")
    {
        w.engine().complete(begun_so_far[1].ends_by, 2);
        go_on(w);
        CHECK(run.result() == 2);
    }
    SECTION("and fails for good")
    {
        w.restart();
        w.settle();
        w.engine().fail(begun_so_far.back().ends_by, "out of memory again");
        w.settle();
        CHECK(failure(w, run.id()) == "out of memory again");
    }
}

TEMPLATE_LIST_TEST_CASE("a begin that throws is begun again; a permanent error is the step's", "[engine][begin_step]", every_store)
{
    fresh();
    TestType place;
    world w(place.store, add_all);
    SECTION("again")
    {
        throws = 1;
        auto run = w.engine().start<render>(0);
        w.settle();
        CHECK_THROWS_WITH(w.engine().complete(begun_so_far[0].ends_by, 1), Catch::Contains("token_ended"));
        w.pass(1s);
        REQUIRE(begun_so_far.size() == 2);
        w.engine().complete(begun_so_far[1].ends_by, 3);
        go_on(w);
        CHECK(run.result() == 3);
    }
    SECTION("permanent")
    {
        permanent = true;
        auto run = w.engine().start<render>(1);
        w.settle();
        CHECK(failure(w, run.id()) == "no GPU");
        CHECK(begun_so_far.size() == 1);
    }
}

TEMPLATE_LIST_TEST_CASE("after a crash a replayable or idempotent one is begun again, same key, same token; a non_replayable one stays open",
                        "[engine][begin_step]", every_store)
{
    int const cls = GENERATE(0, 1, 2);
    fresh();
    dying_place<TestType> place;
    world w(place.open(), add_all);
    auto const id = w.engine().start<render>(cls).id();
    w.pass(1min);
    REQUIRE(begun_so_far.size() == 1);
    place.die(w);
    w.settle();
    REQUIRE(begun_so_far.size() == (cls == 2 ? 1 : 2));
    CHECK(begun_so_far.front().key == begun_so_far.back().key);
    CHECK(begun_so_far.front().ends_by == begun_so_far.back().ends_by);
    CHECK(begun_so_far.back().attempt == 1);

    SECTION("what the first one began may still end it")
    {
        w.engine().complete(begun_so_far.front().ends_by, 9);
        go_on(w);
        CHECK(w.view(id).result == "9");
    }
    SECTION("its time limit counts from the first")
    {
        w.pass(9min - 1ms);
        CHECK(w.entries(id, flow::entry_kind::attempt_failed) == 0);
        w.pass(1ms);
        CHECK(w.entries(id, flow::entry_kind::attempt_failed) == 1);
        CHECK_THROWS_WITH(w.engine().complete(begun_so_far.front().ends_by, 9), Catch::Contains("token_ended"));
        w.pass(1s);
        if (cls != 2) {
            CHECK(begun_so_far.size() == 3);
            w.engine().complete(begun_so_far.back().ends_by, 4);
            go_on(w);
            CHECK(w.view(id).result == "4");
        } else {
            REQUIRE(w.view(id).open.size() == 1);  // a person is asked
            w.engine().decide(w.engine().intervention_of(id), "complete", "6");
            go_on(w);
            CHECK(w.view(id).result == "6");
        }
    }
}

TEMPLATE_LIST_TEST_CASE("completed, failed or timed out while nothing runs, it is found so at the next start", "[engine][begin_step]", every_store)
{
    int const how = GENERATE(0, 1, 2);
    fresh();
    TestType place;
    world w(place.store, add_all);
    auto run = w.engine().start<render>(1);
    w.settle();
    w.stop();
    {
        flow::client elsewhere(place.store);
        if (how == 0) elsewhere.complete(begun_so_far[0].ends_by, 8);
        if (how == 1) elsewhere.fail(begun_so_far[0].ends_by, "burnt");
    }
    if (how == 2) w.clock().advance(1h);
    w.restart();
    w.settle();
    if (how != 0) w.pass(1s);
    REQUIRE(begun_so_far.size() == (how == 0 ? 1 : 2));
    if (how != 0) w.engine().complete(begun_so_far[1].ends_by, 8);
    go_on(w);
    CHECK(run.result() == 8);
}

TEMPLATE_LIST_TEST_CASE("a non_replayable one that fails elsewhere is decided by a person, who may have it begun again", "[engine][begin_step]", every_store)
{
    fresh();
    TestType place;
    world w(place.store, add_all);
    auto run = w.engine().start<render>(2);
    w.settle();
    w.engine().fail(begun_so_far[0].ends_by, "the line went dead");
    w.settle();
    REQUIRE(w.view(run.id()).open.size() == 1);
    CHECK(w.view(run.id()).open[0].question.find("the line went dead") != std::string::npos);
    w.engine().decide(w.engine().intervention_of(run.id()), "retry");
    w.settle();
    REQUIRE(begun_so_far.size() == 2);
    w.engine().complete(begun_so_far[1].ends_by, 1);
    go_on(w);
    CHECK(run.result() == 1);
}

TEMPLATE_LIST_TEST_CASE("signs of life keep it open, silence ends it; nothing is written for them", "[engine][begin_step]", every_store)
{
    fresh();
    TestType place;
    world w(place.store, add_all);
    auto run = w.engine().start<render_beating>(1);
    w.settle();
    auto const entries = w.journal(run.id()).size();
    for (int i = 0; i < 10; ++i) {
        w.pass(9s);
        CHECK(w.engine().heartbeat(begun_so_far[0].ends_by));
    }
    CHECK(w.journal(run.id()).size() == entries);

    SECTION("and it ends well")
    {
        w.engine().complete(begun_so_far[0].ends_by, 4);
        go_on(w);
        CHECK(run.result() == 4);
    }
    SECTION("and then nothing")
    {
        w.pass(10s - 1ms);
        CHECK(w.status(run.id()) == flow::run_status::running);
        w.pass(1ms);
        CHECK(failure(w, run.id()) == "there was no sign of life of workflow#0/render#0 for 10000 ms");
    }
    CHECK_FALSE(w.engine().heartbeat(begun_so_far[0].ends_by));
}

TEST_CASE("after a takeover signs of life count anew", "[engine][begin_step]")
{
    fresh();
    sqlite_stores place;
    world w(place.store, add_all);
    auto run = w.engine().start<render_beating>(2);
    w.pass(9s);
    w.stop();
    w.clock().advance(1h);
    w.restart();
    w.pass(9s);
    CHECK(begun_so_far.size() == 1);
    CHECK(w.engine().heartbeat(begun_so_far[0].ends_by));
    w.pass(9s);
    w.engine().complete(begun_so_far[0].ends_by, 2);
    go_on(w);
    CHECK(run.result() == 2);
}

TEMPLATE_LIST_TEST_CASE("a cancel ends it, and its token", "[engine][begin_step]", every_store)
{
    int const cls = GENERATE(1, 2);
    bool const beats = GENERATE(false, true);
    fresh();
    TestType place;
    world w(place.store, add_all);
    auto const id = beats ? w.engine().start<render_beating>(cls).id() : w.engine().start<render>(cls).id();
    w.settle();
    w.engine().cancel(id, "enough");
    w.settle();
    CHECK(w.status(id) == flow::run_status::cancelled);
    CHECK_THROWS_WITH(w.engine().complete(begun_so_far[0].ends_by, 1), Catch::Contains("token_ended"));
    CHECK(w.entries(id, flow::entry_kind::abandoned) == (cls == 2 ? 1 : 0));
}

TEMPLATE_LIST_TEST_CASE("two side by side end in either order, and replay takes the same", "[engine][begin_step]", every_store)
{
    bool const left_first = GENERATE(false, true);
    fresh();
    TestType place;
    world w(place.store, add_all);
    auto run = w.engine().start<inline_pair>();
    w.settle();
    REQUIRE(begun_so_far.size() == 2);
    for (int const i : {left_first ? 0 : 1, left_first ? 1 : 0}) {
        w.engine().complete(begun_so_far[static_cast<std::size_t>(i)].ends_by, begun_so_far[static_cast<std::size_t>(i)].ends_by == begun_so_far[0].ends_by ? 3 : 4);
        w.settle();
    }
    w.restart();
    go_on(w);
    CHECK((run.result() == 34 || run.result() == 43));
    CHECK(begun_so_far.size() == 2);
}

TEST_CASE("a step that gives nothing is completed with nothing; a value of another type is refused", "[engine][begin_step]")
{
    fresh();
    memory_stores place;
    world w(place.store, add_all);
    auto run = w.engine().start<nothing_but_done>();
    w.settle();
    auto const id = begun_so_far.at(0).ends_by.id();
    CHECK_THROWS_WITH(w.engine().complete_json(id, "3"), Catch::Contains("wrong_shape"));
    w.engine().complete_json(id, "null");
    w.settle();
    CHECK(run.result() == "printed");
}

TEMPLATE_LIST_TEST_CASE("what was completed before a cancel was taken counts, also where nobody ran when both came", "[engine][begin_step][cancel]", every_store)
{
    TestType place;
    world w(place.store, [](flow::engine& e) { e.add<render>("render"); });
    begun_so_far.clear();
    auto const id = w.engine().start<render>(2).id();
    w.settle();
    w.pass(10s);
    REQUIRE(begun_so_far.size() == 1);
    w.stop();
    flow::client anybody(place.store);
    anybody.complete(begun_so_far[0].ends_by, 7);
    CHECK(anybody.cancel(id) == flow::request_fate::taken);
    w.restart();
    w.settle();
    CHECK(w.status(id) == flow::run_status::cancelled);
    CHECK(w.entries(id, flow::entry_kind::step) == 1);
    CHECK(w.entries(id, flow::entry_kind::abandoned) == 0);
}
