// Tokens: completed early, late, twice, by others, with the wrong thing.
#include <catch2/catch.hpp>

#include "flow/flow.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

struct approval {
    bool approved = false;
    std::string by;
};

flow::workflow<std::string> asks()
{
    auto const answer = co_await flow::wait_for_token<approval>("approve");
    co_return answer.approved ? "yes, says " + answer.by : "no, says " + answer.by;
}

flow::workflow<std::string> asks_for_a_day()
{
    auto const answer = co_await flow::as_outcome(flow::wait_for_token<approval>("approve", {.timeout = 24h}));
    co_return answer ? answer->by : std::string(flow::row_of(answer.error().code()).name);
}

flow::workflow<std::string> sends_the_token()
{
    auto const token = co_await flow::make_token<std::string>("reply");
    co_await flow::step("send", flow::idempotent, [&] {
        outside().note("sent " + flow::to_string(token.id()));
        outside().note("secret " + token.secret().text());
    });
    co_return co_await flow::wait_for_token(token);
}

flow::engine* current = nullptr;

flow::workflow<std::string> answered_at_once()
{
    auto const token = co_await flow::make_token<std::string>("reply");
    co_await flow::step("ask outside", flow::idempotent, [&] { current->complete(token, token.secret(), std::string("quick")); });
    co_return co_await flow::wait_for_token(token);
}

flow::workflow<int> waits_with_lifetime()
{
    auto const token = co_await flow::make_token<int>("reply", {.lifetime = 1h});
    auto const r = co_await flow::as_outcome(flow::wait_for_token(token, {.timeout = 10h}));
    co_return r ? *r : -1;
}

flow::workflow<std::string> makes_tokens_under_a_key()
{
    auto const first = co_await flow::make_token<int>("ask", {.idempotency_key = "order-7", .idempotency_key_ttl = 1h});
    auto const again = co_await flow::make_token<int>("ask", {.idempotency_key = "order-7", .idempotency_key_ttl = 1h});
    auto const other = co_await flow::make_token<int>("ask", {.idempotency_key = "order-8"});
    auto const wrong = co_await flow::as_outcome(flow::make_token<std::string>("ask", {.idempotency_key = "order-8"}));
    co_await flow::sleep_for(2h);
    auto const later = co_await flow::make_token<int>("ask", {.idempotency_key = "order-7", .idempotency_key_ttl = 1h});
    auto const still = co_await flow::make_token<int>("ask", {.idempotency_key = "order-8"});
    outside().note(wrong ? "accepted" : wrong.error().message());
    std::string told;
    for (auto const& t : {again, other, later, still}) told += std::string(t == first ? "first" : "new") + (t.is_cached() ? " cached, " : ", ");
    co_return told + (still == other ? "other" : "new");
}

void add_all(flow::engine& e)
{
    current = &e;
    e.add<asks>("asks");
    e.add<asks_for_a_day>("asks_for_a_day");
    e.add<sends_the_token>("sends_the_token");
    e.add<answered_at_once>("answered_at_once");
    e.add<makes_tokens_under_a_key>("makes_tokens_under_a_key");
    e.add<waits_with_lifetime>("waits_with_lifetime");
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a completed token goes on with its value", "[engine][wait]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto run = w.engine().start<asks>();
    w.settle();
    CHECK(w.status(run.id()) == flow::run_status::waiting);
    CHECK(w.view(run.id()).waits_for.type == flow::wait_reason::kind::external);
    w.engine().complete_json(w.open_token("approve"), R"({"approved": true, "by": "alice"})");
    w.settle();
    CHECK(run.result() == "yes, says alice");
    CHECK(w.entries(run.id(), flow::entry_kind::waited) == 1);
}

TEMPLATE_LIST_TEST_CASE("a token is completed by another store object on the same data", "[engine][wait]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto run = w.engine().start<asks>();
    w.settle();
    flow::client other(place.again(), "bob");
    CHECK(other.complete_json(w.open_token(), R"({"approved":false,"by":"bob"})"));
    w.settle();
    CHECK(run.result() == "no, says bob");
    auto const entries = w.journal(run.id());
    auto const waited = std::find_if(entries.begin(), entries.end(), [](auto const& e) { return e.kind == flow::entry_kind::waited; });
    REQUIRE(waited != entries.end());
    CHECK(waited->by == "bob");
}

TEMPLATE_LIST_TEST_CASE("WT-10 the first completion counts, the same again is told so, another one is a conflict", "[engine][wait]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto run = w.engine().start<asks>();
    w.settle();
    auto const id = w.open_token();
    CHECK(w.engine().complete_json(id, R"({"approved":true,"by":"alice"})"));
    CHECK_FALSE(w.engine().complete_json(id, R"({ "approved": true, "by": "alice" })"));
    CHECK_THROWS_WITH(w.engine().complete_json(id, R"({"approved":false,"by":"eve"})"), Catch::Contains("token_conflict"));
    w.settle();
    CHECK(run.result() == "yes, says alice");
    CHECK_FALSE(w.engine().complete_json(id, R"({"approved":true,"by":"alice"})"));
    CHECK(w.entries(run.id(), flow::entry_kind::waited) == 1);
}

TEST_CASE("a completion with the wrong shape is refused with the field's name, and nothing is lost", "[engine][wait]")
{
    memory_stores place;
    world w(place.store, add_all);
    auto run = w.engine().start<asks>();
    w.settle();
    auto const id = w.open_token();
    CHECK_THROWS_WITH(w.engine().complete_json(id, R"({"approved":"maybe","by":"x"})"), Catch::Contains("approved"));
    CHECK_THROWS_WITH(w.engine().complete_json(id, R"({"approved":true)"), Catch::Contains("bad_payload"));
    CHECK_THROWS_WITH(w.engine().complete_json(flow::waitpoint_id{}, "1"), Catch::Contains("unknown_token"));
    w.engine().complete_json(id, R"({"approved":true,"by":"x","extra":1})");
    w.settle();
    CHECK(run.result() == "yes, says x");
}

TEMPLATE_LIST_TEST_CASE("a wait ends at its time limit, counted from when it was first reached", "[engine][wait]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto run = w.engine().start<asks_for_a_day>();
    w.pass(23h);
    w.restart();
    w.pass(59min);
    CHECK(w.status(run.id()) == flow::run_status::waiting);
    auto const id = w.open_token();
    w.pass(1min);
    CHECK(w.engine().find(run.id()).end().result == R"("wait_timeout")");
    CHECK_THROWS_WITH(w.engine().complete_json(id, R"({"approved":true,"by":"late"})"), Catch::Contains("token_ended"));
}

TEMPLATE_LIST_TEST_CASE("a wait whose time came while no engine ran ends when one starts", "[engine][wait]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto run = w.engine().start<asks_for_a_day>();
    w.settle();
    w.stop();
    w.clock().advance(48h);
    w.restart();
    w.settle();
    CHECK(w.engine().find(run.id()).end().result == R"("wait_timeout")");
}

TEMPLATE_LIST_TEST_CASE("WT-01 WT-23 a token completed before the run waits for it, from inside the step that asked, is taken at registration", "[engine][wait]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto run = w.engine().start<answered_at_once>();
    w.settle();
    CHECK(run.result() == "quick");
    CHECK(w.entries(run.id(), flow::entry_kind::waited) == 1);
}

TEMPLATE_LIST_TEST_CASE("WT-20 a token keeps its id over a restart and its secret opens it", "[engine][wait]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto run = w.engine().start<sends_the_token>();
    w.settle();
    REQUIRE(w.status(run.id()) == flow::run_status::waiting);
    auto const id = w.open_token("reply");
    CHECK(outside().count("sent " + to_string(id)) == 1);
    w.restart();
    w.settle();
    CHECK(w.open_token("reply") == id);
    CHECK(outside().all().size() == 2);
    auto const secret = outside().all()[1].substr(7);
    flow::token<std::string> const token(id);
    CHECK_THROWS_WITH(w.engine().complete(token, flow::token_secret("wrong"), std::string("x")), Catch::Contains("no such token, or not its secret"));
    w.engine().complete(token, flow::token_secret(secret), std::string("hello"));
    w.settle();
    CHECK(w.engine().find(run.id()).end().result == R"("hello")");
}

TEST_CASE("a token's own lifetime ends a longer wait for it", "[engine][wait]")
{
    memory_stores place;
    world w(place.store, add_all);
    auto run = w.engine().start<waits_with_lifetime>();
    w.pass(61min);
    CHECK(run.result() == -1);
}


TEMPLATE_LIST_TEST_CASE("TD-16 a token made again under its idempotency key is the same token, until the key's time is over", "[engine][wait]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const id = w.engine().start<makes_tokens_under_a_key>().id();
    w.settle();
    if (GENERATE(false, true)) w.restart();  // replayed: the same answers, from the journal
    w.pass(3h);
    CHECK(w.engine().find(id).end().result == R"("first cached, new, new, new cached, other")");
    CHECK_THAT(outside().all().at(0), Catch::Contains("order-8"));
    CHECK(w.entries(id, flow::entry_kind::token) == 5);
}
