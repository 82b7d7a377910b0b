// What can be asked about a run, and that it is asked where nothing is old.
#include <catch2/catch.hpp>

#include <sqlite3.h>

#include "flow/flow.hpp"
#include "support/odd_stores.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

flow::workflow<int> three_steps()
{
    auto const a = co_await flow::step("first", flow::replayable, [] { return 1; });
    auto const b = co_await flow::step("second", flow::idempotent, [] { return 2; });
    co_await flow::wait_for_token<void>("go");
    auto const c = co_await flow::step("mail", [](flow::attempt& t) -> int {
        t.commit_ref("m-7");
        if (outside().count("works") == 0) throw std::runtime_error("connection lost");
        return 3;
    });
    co_return a + b + c;
}

flow::workflow<std::string> large_output(int size)
{
    auto const text = co_await flow::step("write", flow::idempotent, [&] { return std::string(static_cast<std::size_t>(size), 'x'); });
    co_await flow::sleep_for(1h);
    co_return text.substr(0, 1);
}

flow::workflow<std::string> asks()
{
    auto const token = co_await flow::make_token<std::string>("question");
    co_return co_await flow::wait_for_token(token);
}

void add_all(flow::engine& e)
{
    e.add<three_steps>("three_steps");
    e.add<large_output>("large_output");
    e.add<asks>("asks");
}

void spoil(std::string const& file, char const* sql)
{
    sqlite3* db = nullptr;
    REQUIRE(sqlite3_open(file.c_str(), &db) == SQLITE_OK);
    REQUIRE(sqlite3_exec(db, sql, nullptr, nullptr, nullptr) == SQLITE_OK);
    sqlite3_close(db);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("CK-02 CK-03 CK-06 CK-14 a view has what every step did, and what recovery would do", "[engine][inspect]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const id = w.engine().start<three_steps>().id();
    auto fresh = w.view(id);
    CHECK(fresh.steps.empty());  // nothing is known of a step before it is reached
    CHECK(std::get<flow::goes_on>(fresh.resume).step == 0);

    w.settle();
    auto v = w.view(id);
    REQUIRE(v.steps.size() == 2);
    auto const& second = v.steps[1];
    CHECK(second.place == "second#0");
    CHECK(second.name == "second");
    CHECK(second.status == flow::step_status::completed);
    CHECK(second.cls == flow::effect::idempotent);
    CHECK(second.output == "2");
    CHECK(second.output_hash == flow::sha256("2"));
    CHECK(second.attempts == 1);
    CHECK(second.begun_at <= second.ended_at);
    CHECK(v.recoveries == 0);
    CHECK(std::get<flow::goes_on>(v.resume).step == 2);
    CHECK(w.engine().output_of(id, "second#0") == "2");
    CHECK(w.engine().output_of(id, "mail#0") == std::nullopt);

    w.engine().complete_json(w.open_token(), "null");
    w.settle();
    v = w.view(id);
    auto const& asked = std::get<flow::asks_person>(v.resume);  // CK-11
    CHECK(asked.step == 2);
    CHECK_THAT(asked.why, Catch::Contains("mail#0") && Catch::Contains("connection lost"));
    CHECK(v.steps[2].commit_ref == "m-7");
    CHECK(v.steps[2].error == "connection lost");  // CK-09
    w.engine().decide(w.engine().intervention_of(id), "complete", "3");
    w.settle();
    CHECK(std::get<flow::stays>(w.view(id).resume).why == "it has ended: succeeded");
}

TEST_CASE("CK-15 CK-16 a stored output that does not match its hash is nobody's output", "[engine][inspect]")
{
    sqlite_stores place;
    world w(place.store, add_all);
    auto const small = w.engine().start<large_output>(10).id();
    auto const large = w.engine().start<large_output>(200'000).id();
    w.settle();
    CHECK(w.engine().output_of(small, "write#0") == '"' + std::string(10, 'x') + '"');
    CHECK(w.engine().output_of(large, "write#0")->size() == 200'002);
    CHECK(w.view(large).steps.at(0).output_in_blob);
    spoil(place.file, "update journal set payload = '\"y\"' where name = 'write' and payload <> ''");
    spoil(place.file, "update blobs set payload = '\"y\"'");
    CHECK(w.engine().output_of(small, "write#0") == std::nullopt);
    CHECK(w.engine().output_of(large, "write#0") == std::nullopt);
    auto const v = w.view(small);
    CHECK(v.steps.at(0).output_damaged);
    CHECK(v.steps.at(0).output.empty());
    CHECK(std::get<flow::goes_on>(v.resume).step == 0);  // CK-10: from the damaged step on
}

TEMPLATE_LIST_TEST_CASE("TD-10 what decides is read from the store itself, never from an old copy", "[engine][inspect]", every_store)
{
    TestType place;
    world w(std::make_shared<lagging_store>(place.store), add_all);
    auto const run = w.engine().start<asks>();
    w.settle();
    flow::client there(place.store);
    flow::waitpoint_filter const open{.run = run.id(), .status = flow::waitpoint_status::pending};
    auto const token = there.waitpoints(open).at(0).id;
    CHECK(w.engine().waitpoints(open).empty());  // the copy has not heard of it
    CHECK(w.engine().waitpoint(token).name == "question");
    CHECK_THROWS_WITH(w.engine().waitpoint({}), Catch::Contains("unknown_token"));
    CHECK(w.engine().complete_json(token, R"("yes")"));
    w.settle();
    CHECK(w.engine().waitpoint(token).output == R"("yes")");
    CHECK(run.result() == "yes");
}

TEST_CASE("TD-14 a wait on a token made before is named after the token", "[engine][inspect]")
{
    memory_stores place;
    world w(place.store, add_all);
    auto const run = w.engine().start<asks>();
    w.settle();
    if (GENERATE(false, true)) {
        w.restart();
        w.settle();
    }
    auto const v = w.view(run.id());
    CHECK(v.waits_for.name == "question#0");
    CHECK(v.doing == "It waits for somebody to complete question#0.");
}
