// Questions to people.
#include <catch2/catch.hpp>

#include "flow/flow.hpp"
#include "flow/store_reader.hpp"
#include "support/invariants.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace std::chrono_literals;
using namespace flow::test;
using Catch::Contains;

namespace {

struct refund {
    std::string to;
    int cents = 0;
};

flow::workflow<std::string> refunds(int cents)
{
    refund const what{"alice", cents};
    auto const v = co_await flow::ask("refund", flow::question("Refund " + std::to_string(cents) + " to alice?").about(what).to("ann", "bob", "cy").quorum(2));
    if (!v.approved) co_return "rejected by " + v.votes.back().by + ": " + v.votes.back().why;
    co_await flow::step("pay", flow::idempotent, [&] { outside().note("pay " + std::to_string(what.cents)); });
    std::string who;
    for (auto const& one : v.votes) who += one.by + " ";
    co_return who;
}

flow::workflow<std::string> chooses()
{
    auto const v = co_await flow::ask<std::string>("way", flow::question("Left or right?").choices("left", "right").deadline(1h).otherwise(true, "left"));
    co_return *v.value + (v.by_default ? " by default" : " by " + v.votes.at(0).by);
}

flow::workflow<int> asks_in_time()
{
    auto const v = co_await flow::ask<int>("number", flow::question("How many?").subject(flow::ask_subject::input).deadline(1h).sla(10min));
    co_return *v.value;
}

flow::workflow<int> expires()
{
    auto const v = co_await flow::ask("go", flow::question("Go?").deadline(1h).expires());
    co_return v.approved ? 1 : 0;
}

flow::workflow<int> three_prompts()
{
    auto const one = [](int) -> flow::workflow<bool> {
        auto const v = co_await flow::ask("prompt", flow::question("The same prompt"));
        co_await flow::step("said", flow::idempotent, [] { outside().note("said"); });
        co_return v.approved;
    };
    auto const [a, b, c] = co_await flow::all(one(0), one(1), one(2));
    co_return (a ? 100 : 0) + (b ? 10 : 0) + (c ? 1 : 0);
}

flow::workflow<std::string> badly(int how)
{
    try {
        flow::question q(how == 0 ? "" : "Well?");
        if (how == 1) q = std::move(q).all();
        if (how == 2) q = std::move(q).to("ann").quorum(2);
        if (how == 3) q = std::move(q).quorum(0);
        if (how == 4) q = std::move(q).expires();
        if (how == 5) q = std::move(q).to("ann", "ann");
        if (how == 6) q = std::move(q).deadline(1h).otherwise(true, 2.5);
        auto const v = co_await flow::ask("well", std::move(q));
        co_return v.approved ? "yes" : "no";
    } catch (flow::error const& e) {
        co_return e.what();
    }
}

namespace changed {
flow::workflow<std::string> refunds_more(int cents)
{
    refund const what{"alice", cents + 1};
    auto const v = co_await flow::ask("refund", flow::question("Refund?").about(what).to("ann", "bob", "cy").quorum(2));
    if (v.approved) co_await flow::step("pay", flow::idempotent, [&] { outside().note("pay " + std::to_string(what.cents)); });
    co_return "";
}
}  // namespace changed

void add_all(flow::engine& e)
{
    e.add<refunds>("refunds");
    e.add<chooses>("chooses");
    e.add<asks_in_time>("asks_in_time");
    e.add<expires>("expires");
    e.add<three_prompts>("three_prompts");
    e.add<badly>("badly");
}

flow::open_wait only_question(world& w)
{
    auto const all = w.engine().questions_for();
    REQUIRE(all.size() == 1);
    return all[0];
}

template <class T>
T result_of(world& w, flow::run_id id)
{
    REQUIRE(is_terminal(w.status(id)));
    return flow::run_handle<T>(w.engine().find(id)).result();
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("AT-48: two of three approve, over restarts and from another process", "[engine][people]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const id = w.engine().start<refunds>(120).id();
    w.settle();
    auto const q = only_question(w);
    CHECK(q.asks->text == "Refund 120 to alice?");
    CHECK(q.asks->about == R"({"to":"alice","cents":120})");
    CHECK(w.view(id).waits_for.type == flow::wait_reason::kind::approval);
    CHECK(w.view(id).doing == "It asks 2 of ann, bob, cy: Refund 120 to alice?");
    flow::client bob(place.again(), "bob");
    CHECK(bob.respond(q.row.id, true, {.about = q.asks->about_hash}).answer == flow::response_answer::counted);
    w.settle();
    CHECK(w.status(id) == flow::run_status::waiting);
    w.pass(10s);
    w.restart();
    w.settle();
    CHECK(bob.respond(q.row.id, true).answer == flow::response_answer::already_same);  // AT-49
    CHECK(w.engine().respond(q.row.id, true, {.by = "ann"}).answer == flow::response_answer::decided);
    w.settle();
    CHECK(result_of<std::string>(w, id) == "bob ann ");
    CHECK(outside().count("pay 120") == 1);
    CHECK_THROWS_WITH(w.engine().respond(q.row.id, true, {.by = "cy"}), Contains("token_conflict") && Contains("decided before, by ann"));
    w.restart();
    w.settle();
    CHECK(outside().count("pay 120") == 1);
    check_invariants(*place.store);
}

TEMPLATE_LIST_TEST_CASE("one who rejects decides, and says why", "[engine][people]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const id = w.engine().start<refunds>(120).id();
    w.settle();
    auto const q = only_question(w).row.id;
    w.engine().respond(q, true, {.by = "bob"});
    CHECK_FALSE(w.engine().respond(q, false, {.why = "too much", .by = "cy"}).approved);
    w.settle();
    CHECK(result_of<std::string>(w, id) == "rejected by cy: too much");
    CHECK(outside().all().empty());
}

TEST_CASE("SE-08: who answered is the caller, whatever the value says", "[engine][people]")
{
    world w(flow::memory(), add_all);
    auto const id = w.engine().start<refunds>(1).id();
    w.settle();
    auto const q = only_question(w).row.id;
    flow::client eve(w.store(), "eve");
    CHECK_THROWS_WITH(eve.respond(q, true, {.why = "approved by ann"}), Contains("not_asked") && Contains("eve"));
    CHECK_THROWS_WITH(eve.complete_json(q, R"({"approved":true,"votes":[{"by":"ann"}]})"), Contains("unknown_token"));
    CHECK_THROWS_WITH(flow::client(w.store(), "ann").respond(q, true, {.about = std::string(64, '0')}), Contains("something else"));
    CHECK_THROWS_WITH(eve.respond({}, true), Contains("unknown_request"));
    CHECK(w.status(id) == flow::run_status::waiting);
    CHECK(flow::client(w.store()).responses(q).empty());
    CHECK(w.engine().questions_for("ann").size() == 1);
    CHECK(w.engine().questions_for("eve").empty());
}

TEMPLATE_LIST_TEST_CASE("AT-50: at its deadline a question has its default answer, fails, or lets the run expire", "[engine][people]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    bool const evicted = GENERATE(true, false), down = GENERATE(true, false);
    auto const way = w.engine().start<chooses>().id(), number = w.engine().start<asks_in_time>().id(), go = w.engine().start<expires>().id();
    w.settle();
    if (evicted) w.pass(10s);
    if (down) {
        w.stop();
        w.clock().advance(2h);
        w.restart();
        w.settle();
    } else {
        w.pass(2h);
    }
    CHECK(result_of<std::string>(w, way) == "left by default");
    CHECK(w.status(number) == flow::run_status::failed);
    CHECK(w.view(number).failure->code == flow::errc::wait_timeout);
    CHECK(w.status(go) == flow::run_status::expired);
    CHECK(w.view(go).row.terminal_reason == "approval");
    CHECK(w.engine().questions_for().empty());
    w.restart();
    w.settle();
    CHECK(result_of<std::string>(w, way) == "left by default");
    check_invariants(*place.store);
}

TEMPLATE_LIST_TEST_CASE("an arbitration takes one of its choices, an input a value of its type", "[engine][people]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const way = w.engine().start<chooses>().id();
    w.settle();
    auto const q = only_question(w).row.id;
    CHECK_THROWS_WITH(w.engine().respond(q, true, {.value = R"("up")"}), Contains("wrong_shape"));
    CHECK_THROWS_WITH(w.engine().respond(q, true), Contains("wrong_shape") && Contains("wants a value"));
    CHECK_THROWS_WITH(w.engine().respond(q, true, {.value = "\"left"}), Contains("bad_payload"));
    w.engine().respond(q, true, {.value = R"("right")", .by = "dan"});
    w.settle();
    CHECK(result_of<std::string>(w, way) == "right by dan");
    auto const number = w.engine().start<asks_in_time>().id();
    w.settle();
    CHECK(w.view(number).waits_for.type == flow::wait_reason::kind::input);
    CHECK(only_question(w).asks->sla_at.has_value());
    w.engine().respond(only_question(w).row.id, true, {.value = "7"});
    w.settle();
    CHECK(result_of<int>(w, number) == 7);
}

TEMPLATE_LIST_TEST_CASE("WT-14, WT-16: the same prompt in three branches is three questions; those answered are not shown again", "[engine][people][group]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const id = w.engine().start<three_prompts>().id();
    w.settle();
    auto open = w.engine().questions_for();
    REQUIRE(open.size() == 3);
    auto const of_branch = [&](std::string_view branch) {
        for (auto const& o : open)
            if (o.row.place.starts_with(branch)) return o.row.id;
        FAIL("no question of " << branch);
        return flow::waitpoint_id{};
    };
    w.engine().respond(of_branch("all#0.1/"), true);
    w.settle();
    CHECK(outside().count("said") == 1);
    for (int i = 0; i < 2; ++i) {
        auto const left = w.engine().questions_for();
        CHECK(left.size() == 2);
        for (auto const& o : left) CHECK_FALSE(o.row.place.starts_with("all#0.1/"));
        w.restart();
        w.settle();
    }
    w.engine().respond(of_branch("all#0.0/"), false);
    w.engine().respond(of_branch("all#0.2/"), true);
    w.settle();
    CHECK(result_of<int>(w, id) == 11);
}

TEMPLATE_LIST_TEST_CASE("code that asks about something else on replay is held: nobody has decided on that", "[engine][people][replay]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const id = w.engine().start<refunds>(120).id();
    w.settle();
    auto const q = only_question(w).row.id;
    w.engine().respond(q, true, {.by = "ann"});
    w.restart(nullptr, [](flow::engine& e) { e.add<changed::refunds_more>("refunds"); });
    w.engine().respond(q, true, {.by = "bob"});
    w.settle();
    CHECK(w.status(id) == flow::run_status::held);
    CHECK_THAT(w.view(id).waits_for.detail, Contains("nobody has decided on this"));
    CHECK(outside().all().empty());
    w.restart(nullptr, add_all);
    w.settle();
    CHECK(result_of<std::string>(w, id) == "ann bob ");
    CHECK(outside().count("pay 120") == 1);
}

TEST_CASE("a question that nobody could decide is refused at its await", "[engine][people]")
{
    world w(flow::memory(), add_all);
    char const* const says[] = {"has a text", "name them", "needs 2 people and is asked of 1", "1 or more", "has none", "twice", "no such value"};
    for (int how = 0; how < 7; ++how) {
        auto const id = w.engine().start<badly>(how).id();
        w.settle();
        CHECK_THAT(result_of<std::string>(w, id), Contains("bad_argument") && Contains(says[how]));
    }
}
