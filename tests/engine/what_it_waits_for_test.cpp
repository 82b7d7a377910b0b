// OB-01: one call says of any run what it waits for, since when, until when and what lets it go on.
#include <catch2/catch.hpp>

#include <set>

#include <sqlite3.h>

#include "flow/flow.hpp"
#include "support/fault_store.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace std::chrono_literals;
using namespace flow::test;
using Catch::Contains;

namespace {

flow::workflow<int> token() { co_return co_await flow::wait_for_token<int>("answer", {.timeout = 24h}); }
flow::workflow<int> hears() { co_return co_await flow::wait_for_event<int>("go"); }
flow::workflow<int> asks()
{
    auto const v = co_await flow::ask("pay", flow::question("Pay?").to("ann").deadline(24h));
    co_return v.approved ? 1 : 0;
}
flow::workflow<int> sleeps()
{
    co_await flow::sleep_for(24h);
    co_return 1;
}
flow::workflow<int> parent()
{
    auto const c = co_await flow::start_run<sleeps>();
    co_return co_await c;
}
flow::workflow<int> retries()
{
    co_return co_await flow::step("flaky", flow::idempotent, []() -> int { throw std::runtime_error("not yet"); }, {.retry = {.first_delay = 1h}});
}
flow::workflow<int> in_doubt()
{
    co_return co_await flow::step("charge", []() -> int { throw std::runtime_error("lost"); });
}
std::function<void()> during_step;
flow::workflow<int> works()
{
    co_await flow::step("work", flow::idempotent, [] { during_step(); });
    co_return 1;
}
flow::workflow<int> version_1()
{
    co_await flow::step("paid", flow::idempotent, [] {});
    co_return co_await flow::wait_for_event<int>("later");
}
flow::workflow<int> version_2() { co_return 2; }

void add_most(flow::engine& e)
{
    e.add<token>("token");
    e.add<hears>("hears");
    e.add<asks>("asks");
    e.add<sleeps>("sleeps");
    e.add<parent>("parent");
    e.add<retries>("retries");
    e.add<in_doubt>("in_doubt");
    e.add<works>("works");
}
void add_first(flow::engine& e)
{
    add_most(e);
    e.add<version_1>("versions");
}
void add_second(flow::engine& e)
{
    add_most(e);
    e.add<version_2>("versions", flow::version{2});
}

void damage_the_arguments(std::string const& file, flow::run_id run)
{
    auto hex = to_string(run);
    std::erase(hex, '-');
    sqlite3* db = nullptr;
    REQUIRE(sqlite3_open(file.c_str(), &db) == SQLITE_OK);
    auto const sql = "update journal set payload = '[77]' where kind = 1 and run = (select num from runs where id = x'" + hex + "')";
    CHECK(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
    sqlite3_close(db);
}

}  // namespace

TEST_CASE("OB-01: twelve runs that stand still for twelve reasons, and a store that is gone, are told apart by one call", "[engine][inspect]")
{
    sqlite_stores place;
    world w(place.store, add_first);
    auto& clock = w.clock();
    auto const began = clock.now();
    auto const on_token = w.engine().start<token>().id(), on_event = w.engine().start<hears>().id(), on_people = w.engine().start<asks>().id(),
               on_timer = w.engine().start<sleeps>().id(), on_child = w.engine().start<parent>().id(), in_pause = w.engine().start<retries>().id(),
               doubtful = w.engine().start<in_doubt>().id(), versioned = w.engine().start<version_1>().id(), damaged = w.engine().start<token>().id(),
               paused = w.engine().start<token>().id();
    w.settle();
    w.engine().pause(paused, "lunch", "ann");
    w.settle();
    auto const unheard = flow::client(place.again()).start("nowhere", flow::args()).id();
    w.stop();
    damage_the_arguments(place.file, damaged);
    w.restart(nullptr, add_second);
    w.engine().send(versioned, "later", 1);
    w.engine().complete_json(w.view(damaged).open.at(0).row.id, "1");  // so that it is looked at
    w.pass(3min);

    std::set<std::string> said;
    auto const tells = [&](flow::run_id id, flow::wait_reason::kind type, std::string_view doing, std::string_view unblocked_by) {
        auto const v = w.view(id);
        CAPTURE(v.doing, v.unblocked_by);
        said.insert(v.doing);
        CHECK(v.waits_for.type == type);
        CHECK_THAT(v.doing, Contains(std::string(doing)));
        CHECK_THAT(v.unblocked_by, Contains(std::string(unblocked_by)));
        return v;
    };
    using enum flow::wait_reason::kind;
    auto v = tells(on_token, external, "somebody to complete answer#0", "flow complete ");
    CHECK(v.waits_for.since == began);
    CHECK(v.waits_for.until == began + 24h);
    tells(on_event, external, "event \"go\" for this run", "flow send go JSON --run");
    v = tells(on_people, approval, "asks ann: Pay?", "flow approve ");
    CHECK(v.waits_for.until == began + 24h);
    v = tells(on_timer, timer, "sleeps at", "the time ");
    CHECK(v.waits_for.until == began + 24h);
    tells(on_child, child, "", "");
    v = tells(in_pause, none, "Attempt 1 of step flaky#0 failed; the next is due", "");
    CHECK(v.steps.at(0).next_at >= began + 3min);
    tells(doubtful, intervention, "charge", "flow decide ");
    v = tells(versioned, intervention, "", "flow decide ");
    CHECK_THAT(v.open.at(0).question, Contains("version 1"));
    tells(damaged, code, "held", "flow resume ");
    tells(paused, external, "paused", "flow resume ");
    tells(unheard, queue, "stands in the queue", "an engine that has registered \"nowhere\"");

    // A step in progress, seen from another process.
    during_step = [&] {
        auto const all = flow::client(place.again()).runs({.workflow = "works"});
        REQUIRE(all.size() == 1);
        auto const seen = flow::client(place.again()).inspect(all[0].id);
        said.insert(seen.doing);
        CHECK(seen.row.owner != flow::owner_id::nobody);
    };
    w.engine().start<works>();
    w.settle();
    CHECK(said.size() == 12);

    // And where the store cannot be reached, that is what is said.
    auto const gone = std::make_shared<fault_store>(place.again());
    flow::client far(gone);
    gone->plan(1, fault::lose);
    flow::ignore(gone->ping(flow::owner_id::nobody, 0ms), "to be lost is what it is for");
    CHECK_THROWS_WITH(far.inspect(on_token), Contains("store_unavailable"));
}
