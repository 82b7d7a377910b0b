// What an outside asks for when it is asked too often: Retry-After (mechanism AT-W7).
#include <catch2/catch.hpp>

#include "flow/flow.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

flow::duration asked_for{};
int refusals = 0;

int model(flow::attempt& a)
{
    outside().note("call " + std::to_string(a.number()));
    if (refusals-- > 0) throw flow::retry_after(asked_for, "429 Too Many Requests");
    return 7;
}

flow::workflow<int> asks_model() { co_return co_await flow::step("model", flow::idempotent, model); }
flow::workflow<int> asks_model_once() { co_return co_await flow::step("model", flow::non_replayable, model); }

void add_all(flow::engine& e)
{
    e.add<asks_model>("asks_model");
    e.add<asks_model_once>("asks_model_once");
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("AT-W7 Retry-After is honoured, over a restart, and longer than the policy's own pause", "[engine][step]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    asked_for = 30s;
    refusals = 2;
    auto const id = w.engine().start<asks_model>().id();
    w.settle();
    w.pass(29s);
    w.restart();
    w.settle();
    CHECK(outside().count("call 2") == 0);
    CHECK(w.view(id).steps.at(0).error.find("429") != std::string::npos);
    w.pass(1s);
    CHECK(outside().count("call 2") == 1);
    w.pass(30s);
    CHECK(flow::run_handle<int>(w.engine().find(id)).result() == 7);
}

TEST_CASE("a Retry-After that is shorter than the policy's pause, or past, changes nothing", "[engine][step]")
{
    memory_stores place;
    world w(place.store, add_all);
    asked_for = GENERATE(as<flow::duration>(), 0s, -5s, 10ms);
    refusals = 1;
    auto const id = w.engine().start<asks_model>().id();
    w.settle();
    w.pass(999ms);
    CHECK(outside().count("call 2") == 0);
    w.pass(1ms);
    CHECK(flow::run_handle<int>(w.engine().find(id)).result() == 7);
}

TEST_CASE("a Retry-After without end is one of a hundred years", "[engine][step]")
{
    memory_stores place;
    world w(place.store, add_all);
    asked_for = flow::duration::max();
    refusals = 1;
    auto const id = w.engine().start<asks_model>().id();
    w.settle();
    CHECK(w.status(id) == flow::run_status::running);
    w.pass(24h * 365 * 100);
    CHECK(flow::run_handle<int>(w.engine().find(id)).result() == 7);
}

TEST_CASE("a call that was told to come back has not happened: also a non_replayable step is tried again", "[engine][step]")
{
    memory_stores place;
    world w(place.store, add_all);
    asked_for = 1h;
    refusals = 1;
    auto const id = w.engine().start<asks_model_once>().id();
    w.settle();
    CHECK(w.engine().inspect(id).open.empty());  // nobody is asked
    w.pass(1h);
    CHECK(flow::run_handle<int>(w.engine().find(id)).result() == 7);
}
