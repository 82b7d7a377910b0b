// Trouble below: damaged rows, full and locked stores, missing keys, runs that kill their process.
#include <catch2/catch.hpp>

#include <sqlite3.h>
#include <unistd.h>

#include "flow/flow.hpp"
#include "flow/store_reader.hpp"
#include "support/fault_store.hpp"
#include "support/fault_vfs.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

flow::workflow<int> four_kinds(int n)
{
    auto const a = co_await flow::step("pure", flow::replayable, [&] { return outside().note("pure " + std::to_string(n)), n; });
    auto const b = co_await flow::step("pay", flow::non_replayable, [&] { return outside().note("pay " + std::to_string(n)), 2 * n; });
    co_await flow::sleep_for(1h);
    co_return a + b;
}

flow::workflow<std::string> mails_a_secret()
{
    auto const token = co_await flow::make_token<int>("reply");
    co_await flow::sleep_for(1h);
    co_await flow::step("mail", flow::idempotent, [&] { outside().note(token.secret().text()); });
    co_return "sent";
}

flow::workflow<int> only_pays()
{
    co_return co_await flow::step("pay", flow::non_replayable, [] { return outside().note("pay"), 1; });
}

int made_again = 0;
flow::workflow<int> sleeps_on_a_value()
{
    auto const a = co_await flow::step("pure", flow::replayable, [] { return made_again; });
    co_await flow::sleep_for(1h);
    co_return a;
}

void add_all(flow::engine& e)
{
    e.add<sleeps_on_a_value>("sleeps_on_a_value");
    e.add<four_kinds>("four_kinds");
    e.add<mails_a_secret>("mails_a_secret");
    e.add<only_pays>("only_pays");
}

/// Somebody else's program, or a cosmic ray.
void spoil(std::string const& file, std::string const& sql)
{
    sqlite3* db = nullptr;
    REQUIRE(sqlite3_open(file.c_str(), &db) == SQLITE_OK);
    char* message = nullptr;
    int const code = sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &message);
    std::string const text = message ? message : "";
    sqlite3_free(message);
    sqlite3_close(db);
    INFO(text);
    REQUIRE(code == SQLITE_OK);
}

std::string of_run(flow::run_id id) { return " run = (select num from runs where id = x'" + [&] {
    auto text = to_string(id);
    std::erase(text, '-');
    return text;
}() + "')"; }

}  // namespace

TEST_CASE("P27 a run whose wait is void with the rest leaves memory when it waits again, and nothing of the old wait is left", "[engine][faults][evict]")
{
    sqlite_stores place;
    world w(place.store, add_all);
    made_again = 1;
    auto const id = w.engine().start<sleeps_on_a_value>().id();
    bool const over = GENERATE(false, true);  // the wait was over when the damage is found
    w.pass(10s);
    w.stop();
    spoil(place.file, "update journal set payload = '999' where kind = 6 and" + of_run(id));
    made_again = 2;
    if (over) w.clock().advance(2h);
    w.restart();
    w.engine().pause(id);
    w.settle();
    w.engine().resume(id);  // so that it is looked at
    w.pass(30s);
    REQUIRE(w.entries(id, flow::entry_kind::void_) == 1);
    CHECK(w.view(id).row.status == flow::status_pair{flow::execution_status::suspended, flow::run_status::waiting});
    CHECK(w.view(id).row.owner == flow::owner_id::nobody);
    flow::waitpoint_filter open;
    open.status = flow::waitpoint_status::pending;
    CHECK(w.engine().waitpoints(open).size() == 1);
    w.pass(2h);
    CHECK(w.engine().find(id).end().result == "2");
}

TEST_CASE("ST-09 one damaged run does not stop the others: each kind of damage has its own answer", "[engine][faults]")
{
    sqlite_stores place;
    world w(place.store, add_all);
    std::vector<flow::run_id> runs;
    for (int i = 0; i < 20; ++i) runs.push_back(w.engine().start<four_kinds>(i).id());
    w.settle();
    w.stop();
    spoil(place.file, "update journal set payload = '999' where kind = 6 and name = 'pay' and" + of_run(runs[0]));     // (a)
    spoil(place.file, "update journal set payload = '[77]' where kind = 1 and" + of_run(runs[1]));                      // (b)
    spoil(place.file, "update journal set at = at + 1 where kind = 6 and name = 'pure' and" + of_run(runs[2]));         // (c)
    spoil(place.file, "update journal set payload = '999' where kind = 6 and name = 'pure' and" + of_run(runs[3]));     // (d)
    w.restart();
    w.pass(2h);

    CHECK(w.view(runs[0]).waits_for.type == flow::wait_reason::kind::intervention);
    CHECK(outside().count("pay 0") == 1);
    for (int const quarantined : {1, 2}) {
        auto const v = w.view(runs[static_cast<std::size_t>(quarantined)]);
        CHECK(v.row.status.run == flow::run_status::held);
        CHECK(v.waits_for.id == "corrupt");
        CHECK(v.waits_for.detail.find("journal row") != std::string::npos);
    }
    CHECK(w.status(runs[3]) == flow::run_status::succeeded);
    CHECK(outside().count("pure 3") == 2);
    CHECK(w.entries(runs[3], flow::entry_kind::healed) == 1);
    for (std::size_t i = 4; i < runs.size(); ++i) {
        CHECK(w.engine().find(runs[i]).end().result == std::to_string(3 * i));
        CHECK(outside().count("pure " + std::to_string(i)) == 1);
    }
    // What was put back is whole again: the next replay runs nothing.
    w.engine().decide(w.engine().intervention_of(runs[0]), "complete", "0");
    w.settle();
    CHECK(w.engine().find(runs[0]).end().result == "0");
    CHECK(outside().count("pay 0") == 1);
}

TEST_CASE("ST-08 a full disk at the intent: the function is not called, nothing counts as a failure, and it goes on later", "[engine][faults]")
{
    int spoiled = 0;
    for (int n = 1; n <= 6; ++n) {  // one of them is the intent
        CAPTURE(n);
        auto faulty = std::make_shared<fault_store>(flow::memory());
        world w(faulty, add_all);
        auto run = w.engine().start<only_pays>();
        faulty->plan(n, fault::fail, flow::errc::store_full);
        w.settle();
        w.pass(1min);
        spoiled += faulty->reached();
        CHECK(run.result() == 1);
        CHECK(outside().count("pay") == 1);
        CHECK(w.entries(run.id(), flow::entry_kind::intent) == 1);
        CHECK(w.entries(run.id(), flow::entry_kind::attempt_failed) == 0);
        faulty->plan(1, fault::fail, flow::errc::store_full);
        CHECK_THROWS_WITH(w.engine().start<only_pays>(), Catch::Contains("disk is full"));
    }
    CHECK(spoiled >= 4);
}

TEST_CASE("ST-17 health names each cause", "[engine][faults]")
{
    auto const data = flow::memory();
    auto faulty = std::make_shared<fault_store>(data);
    world w(faulty, add_all);
    w.settle();
    CHECK(w.engine().health().healthy());
    using cause = flow::health_report::cause;
    std::pair<flow::errc, cause> const all[] = {{flow::errc::store_busy, cause::store_locked},
                                                {flow::errc::store_read_only, cause::store_read_only},
                                                {flow::errc::store_full, cause::store_full},
                                                {flow::errc::store_unavailable, cause::store_unreachable},
                                                {flow::errc::store_corrupt, cause::store_damaged}};
    for (auto const& [code, expected] : all) {
        faulty->plan(1, fault::fail, code);
        auto const h = w.engine().health();
        REQUIRE(h.findings.size() == 1);
        CHECK(h.findings.front().what == expected);
        CHECK(h.findings.front().text.find("fault:") == 0);
    }
    CHECK(w.engine().health().healthy());
}

TEST_CASE("PR-05 without the store's key a run that re-sends a secret is held; with it the secret is the same", "[engine][faults]")
{
    sqlite_stores place;
    world w(place.store, add_all);
    auto const id = w.engine().start<mails_a_secret>().id();
    w.settle();
    auto const token = w.open_token("reply");
    auto const secret = place.store->secret_of(token).value();
    w.stop();
    auto const key = place.file + ".key", aside = place.file + ".aside";
    REQUIRE(::rename(key.c_str(), aside.c_str()) == 0);
    w.restart(place.again());
    w.pass(2h);
    CHECK(w.status(id) == flow::run_status::held);
    CHECK(w.view(id).waits_for.id == "store_key");
    CHECK(outside().all().empty());
    w.stop();
    REQUIRE(::rename(aside.c_str(), key.c_str()) == 0);
    w.restart(place.again());
    w.settle();
    CHECK(w.engine().find(id).end().result == R"("sent")");
    REQUIRE(outside().all().size() == 1);
    CHECK(outside().all().front() == secret);
}
