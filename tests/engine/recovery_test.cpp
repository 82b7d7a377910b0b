// Compensate, `started` entries, and runs that end their process again and again.
#include <catch2/catch.hpp>

#include "engine/dying.hpp"
#include "flow/flow.hpp"
#include "flow/store_reader.hpp"
#include "support/fault_store.hpp"
#include "support/invariants.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

int throws_left = 0;
bool undo_works = true;

flow::workflow<int> pays_and_undoes()
{
    co_return co_await flow::step("pay", [] {
        outside().note("pay");
        if (throws_left-- > 0) throw std::runtime_error("connection lost");
        return 7;
    }).compensate([](flow::attempt& a) {
        outside().note(a.key() == a.step_key() ? "same key" : "undo");
        if (!undo_works) throw flow::permanent_error("the bank refuses");
    });
}

flow::workflow<int> dies_early()
{
    auto const a = co_await flow::step("first", flow::replayable,
                                       []() -> int {
                                           outside().note("first");
                                           throw std::runtime_error("again");
                                       },
                                       {.retry = {.max_attempts = 200, .first_delay = 1h, .factor = 1.0F, .cap = 1h}});
    co_return a;
}

flow::workflow<int> dies_sooner()
{
    co_return co_await flow::step("sooner", flow::replayable,
                                  [](flow::attempt& a) {
                                      if (a.number() == 1) throw std::runtime_error("again");
                                      return 1;
                                  },
                                  {.retry = {.first_delay = 1min}});
}

flow::workflow<int> waits()
{
    co_return co_await flow::wait_for_token<int>("answer");
}

flow::workflow<int> takes_long()
{
    co_return co_await flow::step("long", flow::replayable, [] {
        std::this_thread::sleep_for(120ms);
        return 1;
    });
}

flow::workflow<int> draws_many(int n)
{
    int sum = 0;
    for (int i = 0; i < n; ++i) sum += co_await flow::random<int>(1, 1);
    co_return sum;
}

void add_all(flow::engine& e)
{
    e.add<pays_and_undoes>("pays_and_undoes");
    e.add<dies_early>("dies_early");
    e.add<dies_sooner>("dies_sooner");
    e.add<waits>("waits");
    e.add<takes_long>("takes_long");
    e.add<draws_many>("draws_many");
}

void die(flow::store& data)
{
    for (auto const& o : data.reader().owners().value())
        if (o.alive) data.retire_owner(o.id);
}

}  // namespace

TEST_CASE("TS-10 a step in doubt is undone by compensate and then run again", "[engine][step]")
{
    memory_stores place;
    world w(place.store, add_all);
    throws_left = 1;
    undo_works = true;
    auto run = w.engine().start<pays_and_undoes>();
    w.settle();
    CHECK(outside().all() == std::vector<std::string>{"pay", "undo"});
    w.pass(1min);  // the policy's delay
    CHECK(run.result() == 7);
    CHECK(outside().all() == std::vector<std::string>{"pay", "undo", "pay"});
    w.restart();
    w.settle();
    CHECK(outside().all().size() == 3);
}

TEST_CASE("a compensate that fails leaves the doubt to a person", "[engine][step]")
{
    memory_stores place;
    world w(place.store, add_all);
    throws_left = 1;
    undo_works = false;
    auto run = w.engine().start<pays_and_undoes>();
    w.pass(1h);
    CHECK(w.view(run.id()).waits_for.type == flow::wait_reason::kind::intervention);
    CHECK(outside().count("pay") == 1);
    w.restart();
    w.settle();
    CHECK(outside().count("undo") == 1);
    w.engine().decide(w.engine().intervention_of(run.id()), "complete", "9");
    w.settle();
    CHECK(w.engine().find(run.id()).end().result == "9");
}

TEST_CASE("an attempt that was pending when its process died is made at its time by the next", "[engine][recovery]")
{
    dying_place<sqlite_stores> place;
    world w(place.open(), add_all);
    auto const id = w.engine().start<dies_early>().id();
    w.settle();
    REQUIRE(outside().count("first") == 1);
    int const deaths = GENERATE(1, 2, 3);
    for (int i = 0; i < deaths; ++i) {
        place.die(w);
        w.settle();
    }
    CAPTURE(deaths, w.view(id).doing);
    w.pass(61min);
    CHECK(outside().count("first") == 2);
}

TEST_CASE("a suspect run that waits for its next attempt does not hold up the others", "[engine][recovery]")
{
    dying_place<sqlite_stores> place;
    world w(place.open(), add_all);
    auto const pauses = w.engine().start<dies_early>().id();
    auto const other = w.engine().start<dies_sooner>().id();
    w.settle();
    for (int i = 0; i < 2; ++i) {
        place.die(w);
        w.settle();
    }
    w.pass(10min);
    CHECK(w.status(pauses) == flow::run_status::running);
    CHECK(w.status(other) == flow::run_status::succeeded);
}

TEST_CASE("P31 a run found executing by four dead processes without progress asks a person; one that waits is untouched", "[engine][recovery]")
{
    auto const data = flow::memory();
    flow::run_id dying, waiting;
    for (int life = 1; life <= 5; ++life) {
        CAPTURE(life);
        auto faulty = std::make_shared<fault_store>(data);
        {
            world w(faulty, add_all);
            if (life == 1) {
                dying = w.engine().start<dies_early>().id();
                waiting = w.engine().start<waits>().id();
            }
            w.settle();
            auto const v = w.view(dying);
            CHECK((v.waits_for.type == flow::wait_reason::kind::intervention) == (life == 5));
            CHECK(w.status(waiting) == flow::run_status::waiting);
            CHECK(w.entries(waiting, flow::entry_kind::recovered) == 0);
            if (life == 5) {
                w.engine().decide(w.engine().intervention_of(dying), "retry", std::nullopt, "a new machine");
                w.settle();
                CHECK(w.status(dying) == flow::run_status::running);
                w.engine().complete_json(w.open_token("answer"), "1");
                w.settle();
                CHECK(w.status(waiting) == flow::run_status::succeeded);
            }
            faulty->plan(1, fault::lose);  // the process dies: nothing more is written
        }
        die(*data);
    }
}

TEST_CASE("P23 a step still running after a while has an entry that says so", "[engine][step]")
{
    memory_stores place;
    flow::engine_options o;
    o.threads = 1;
    o.announce_after = 20ms;
    flow::engine engine(place.store, o);
    add_all(engine);
    auto run = engine.start<takes_long>();
    CHECK(run.result() == 1);
    int started = 0;
    for (auto const& e : engine.journal(run.id())) started += e.kind == flow::entry_kind::started;
    CHECK(started == 1);
}

TEST_CASE("P22 a body that only draws values does not run ahead of the journal without bound", "[engine]")
{
    memory_stores place;
    world w(place.store, add_all);
    auto run = w.engine().start<draws_many>(20'000);
    w.settle();
    CHECK(run.result() == 20'000);
    CHECK(w.entries(run.id(), flow::entry_kind::value) == 20'000);
}
