// flow approve, flow reject, and what show and tokens say of questions.
#include <catch2/catch.hpp>

#include "calls.hpp"
#include "flow/flow.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace flow::test;
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

}  // namespace

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
    CHECK(call(on, {"approve", id, "--by", "cy"}).code == 1);  // the run asks nothing any more

    CHECK(call(on, {"approve", to_string(number), "--value", "\"x\""}).code == 3);
    CHECK(call(on, {"approve", to_string(number), "--value", "{"}).code == 2);
    CHECK_THAT(call(on, {"reject", to_string(number)}).out, Contains("is rejected"));
    w.settle();
    CHECK(on.find(number).end().result == "-1");
    CHECK(call(on, {"approve", "ffffffff"}).code == 1);
}
