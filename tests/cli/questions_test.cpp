// flow approve, flow reject, flow secret, and what show and tokens say of questions.
#include <catch2/catch.hpp>

#include <set>

#include "calls.hpp"
#include "flow/flow.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace flow::test;
using namespace std::chrono_literals;
using Catch::Contains;

namespace {

flow::workflow<bool> asks()
{
    int const cents = 12000;
    auto const v = co_await flow::ask("refund", flow::question("Refund\x1b[31m?").about(cents).to("ann", "bob", "cy").quorum(2));
    co_return v.approved;
}
flow::workflow<int> how_many()
{
    auto const v = co_await flow::ask<int>("number", flow::question("How many?"));
    co_return v.approved ? *v.value : -1;
}
flow::workflow<bool> asks_by_letter()
{
    auto const v = co_await flow::ask("refund", flow::question("Refund?").to("ann", "bob").all().secrets());
    co_return v.approved;
}
flow::workflow<bool> asks_everybody()
{
    auto const v = co_await flow::ask("all", flow::question("Well?").secrets());
    co_return v.approved;
}
flow::workflow<bool> asks_soon()
{
    auto const v = co_await flow::ask("soon", flow::question("Now?").sla(1h));
    co_return v.approved;
}

}  // namespace

TEST_CASE("AT-53, AT-54 a question past its time names whom that concerns, a run in the queue its place", "[cli][people]")
{
    memory_stores place;
    world w(place.store, [](flow::engine& e) { e.add<asks_soon>("asks_soon"); });
    auto& on = w.engine();
    auto const run = to_string(on.start<asks_soon>().id());
    w.pass(59min);
    CHECK_THAT(call(on, {"show", run}, {.clock = &w.clock()}).out, !Contains("late by"));
    w.pass(2h);
    CHECK_THAT(call(on, {"show", run}, {.clock = &w.clock()}).out, Contains("late by 1 h 59 min") && Contains("for the process's owner"));

    flow::client other(w.store());
    auto const nothing = flow::args();
    other.start("elsewhere", nothing);
    w.clock().advance(1s);
    auto const second = to_string(other.start("elsewhere", nothing).id());
    w.clock().advance(1s);
    auto const third = to_string(other.start("elsewhere", nothing, {.priority = 7}).id());
    CHECK_THAT(call(on, {"show", second}).out, Contains("2 runs ahead") && Contains("an engine that has registered \"elsewhere\""));
    CHECK_THAT(call(on, {"show", third}).out, Contains("0 runs ahead"));
}

TEMPLATE_LIST_TEST_CASE("questions are shown with what was answered, and answered by approve and reject", "[cli][people]", every_store)
{
    TestType place;
    world w(place.store, [](flow::engine& e) {
        e.add<asks>("asks");
        e.add<how_many>("how_many");
    });
    auto& on = w.engine();
    auto const run = on.start<asks>().id(), number = on.start<how_many>().id();
    w.settle();
    auto const id = to_string(run);
    CHECK_THAT(call(on, {"tokens"}).out, Contains("QUESTION") && Contains("2 of ann, bob, cy") && Contains("How many?") && !Contains("\x1b"));
    auto const listed = call(on, {"tokens", "--json"}).json().as_object().at("questions").as_array();
    REQUIRE(listed.size() == 2);
    CHECK(listed[1].at("asks").at("needed") == 2);

    CHECK_THAT(call(on, {"approve", id, "--by", "ann", "--why", "fine"}).out, Contains("1 more are needed"));
    CHECK_THAT(call(on, {"approve", id, "--by", "ann", "--why", "fine"}).out, Contains("nothing was changed"));
    CHECK(call(on, {"reject", id, "--by", "ann"}).code == 3);
    CHECK(call(on, {"approve", id, "--by", "eve"}).code == 3);
    CHECK(call(on, {"approve", id, "--by", "bob", "--about", std::string(64, '0')}).code == 2);
    auto const shown = call(on, {"show", id});
    CHECK_THAT(shown.out, Contains("question of refund#0") && Contains("ann approved") && Contains("fine") && Contains("12000") &&
                              Contains("decided by 2 of ann, bob, cy") && Contains("approve ") && !Contains("\x1b"));
    auto const answered = call(on, {"approve", id, "--by", "bob", "--json"}).json().as_object();
    CHECK(answered.at("decided") == true);
    w.settle();
    CHECK(on.find(run).end().result == "true");
    // Who answered before it was decided is part of what happened.
    CHECK_THAT(call(on, {"show", id}).out, Contains("refund#0 was approved by ann") && Contains("bob"));
    CHECK(call(on, {"approve", id, "--by", "cy"}).code == 1);  // the run asks nothing any more

    CHECK(call(on, {"approve", to_string(number), "--value", "\"x\""}).code == 3);
    CHECK(call(on, {"approve", to_string(number), "--value", "{"}).code == 2);
    CHECK_THAT(call(on, {"reject", to_string(number)}).out, Contains("is rejected"));
    w.settle();
    CHECK(on.find(number).end().result == "-1");
    CHECK(call(on, {"approve", "ffffffff"}).code == 1);
}

TEMPLATE_LIST_TEST_CASE("secret prints what to send to a person, and approve and reject take it for that person's answer", "[cli][people][secrets]", every_store)
{
    TestType place;
    world w(place.store, [](flow::engine& e) {
        e.add<asks>("asks");
        e.add<asks_by_letter>("asks_by_letter");
        e.add<asks_everybody>("asks_everybody");
    });
    auto& on = w.engine();
    auto const run = on.start<asks_by_letter>().id(), all = on.start<asks_everybody>().id(), plain = on.start<asks>().id();
    w.settle();
    auto const question = [&](flow::run_id id) { return to_string(w.view(id).open.at(0).row.id); };
    auto const id = question(run), of_all = question(all);

    auto const printed = call(on, {"secret", to_string(run), "--for", "ann"});
    CHECK(printed.code == 0);
    auto const ann = printed.out.substr(0, 64);
    CHECK(printed.out == ann + "\n");
    CHECK(ann == on.secret_for({*flow::parse_uuid(id)}, "ann").text());
    auto const document = call(on, {"secret", id, "--for", "bob", "--json"}).json().as_object();
    CHECK(document.at("question").as_string() == id);
    CHECK(document.at("run").as_string() == to_string(run));
    CHECK(document.at("for").as_string() == "bob");
    std::string const bob(document.at("secret").as_string());
    CHECK_THAT(call(on, {"secret", id}).err, Contains("not_asked") && Contains("say for whom"));
    CHECK(call(on, {"secret", id, "--for", "eve"}).code == 3);
    CHECK(call(on, {"secret", to_string(plain), "--for", "ann"}).code == 3);
    CHECK(call(on, {"secret", "ffffffff", "--for", "ann"}).code == 1);

    // Whoever types: it is ann who answers.
    CHECK_THAT(call(on, {"approve", id, "--secret", ann}).out, Contains("refund#0") && Contains("1 more are needed"));
    CHECK_THAT(call(on, {"show", to_string(run)}).out, Contains("ann approved") && !Contains(ann) && !Contains(bob));
    CHECK_THAT(call(on, {"tokens", "--json"}).out, !Contains(ann));
    std::set<std::string> refusals;
    for (auto const& words : std::vector<std::vector<std::string>>{{id, "--secret", "wrong"},
                                                                   {id, "--secret", bob, "--by", "ann"},
                                                                   {of_all, "--secret", bob},
                                                                   {question(plain), "--secret", bob},
                                                                   {to_string(run), "--secret", bob},  // the run's id is not the question's
                                                                   {"6f1d3a52-0c4e-4a6b-9d7e-1b2c3d4e5f60", "--secret", bob}})
        for (std::string const verb : {"approve", "reject"}) {
            auto typed = words;
            typed.insert(typed.begin(), verb);
            auto const r = call(on, typed);
            CHECK(r.code == 1);
            CHECK(r.out.empty());
            refusals.insert(r.err);
        }
    REQUIRE(refusals.size() == 1);
    CHECK_THAT(*refusals.begin(), Contains("unknown_request: no such question, or not its secret"));
    CHECK(call(on, {"approve", id.substr(0, 8), "--secret", bob}).code == 2);  // nothing is looked up for who shows a secret
    auto const empty = call(on, {"approve", id, "--secret", "", "--by", "bob"});
    CHECK(empty.code == 2);  // and is not taken for an operator
    CHECK_THAT(empty.err, Contains("--secret"));
    CHECK(on.responses({*flow::parse_uuid(id)}).size() == 1);

    CHECK_THAT(call(on, {"reject", id, "--secret", bob, "--why", "too much"}).out, Contains("is rejected"));
    auto const everybodys = call(on, {"secret", of_all}).out.substr(0, 64);
    CHECK(call(on, {"approve", of_all, "--secret", everybodys, "--by", "dora", "--json"}).json().at("decided") == true);
    w.settle();
    CHECK(on.find(run).end().result == "false");
    CHECK(on.find(all).end().result == "true");
    CHECK(on.waitpoint({*flow::parse_uuid(of_all)}).by == "dora");
}
