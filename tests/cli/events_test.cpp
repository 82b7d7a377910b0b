// flow send, flow events, and what flow show says of them.
#include <catch2/catch.hpp>

#include "calls.hpp"
#include "flow/flow.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace flow::test;
using Catch::Contains;

namespace {

flow::workflow<int> order(std::string number)
{
    co_return co_await flow::wait_for_event<int>("payment", number);
}
flow::workflow<bool> asks()
{
    co_return co_await flow::wait_for_event<bool>("approve");
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("send tells who waits, keeps what nobody waits for, and events lists both", "[cli][event]", every_store)
{
    TestType place;
    world w(place.store, [](flow::engine& e) {
        e.add<order>("order");
        e.add<asks>("asks");
    });
    auto& on = w.engine();
    auto const run = on.start<order>("order 17").id(), own = on.start<asks>().id();
    w.settle();

    auto const shown = call(on, {"show", to_string(run)});
    CHECK_THAT(shown.out, Contains("event \"payment\" about order 17") && Contains("send payment JSON --about 'order 17'") && Contains("JSON: i32"));
    CHECK_THAT(call(on, {"show", to_string(own)}).out, Contains("send approve JSON --run " + to_string(own)));
    CHECK_THAT(call(on, {"runs"}).out, Contains("event payment#0"));

    CHECK_THAT(call(on, {"send", "payment", "\"x\"", "--about", "order 17", "--by", "shop"}).out, Contains("they want i32"));
    CHECK_THAT(call(on, {"show", to_string(run)}).out, Contains("Events that it has not taken") && Contains("payment from shop"));
    CHECK_THAT(call(on, {"send", "aprove", "true", "--run", to_string(own)}).out, Contains("Nobody waits for it now: it is kept."));
    CHECK_THAT(call(on, {"show", to_string(own)}).out, Contains("aprove from"));  // OB-04: beside the name that is awaited
    CHECK_THAT(call(on, {"show", to_string(own)}).out, Contains("approve#0"));

    auto const matched = call(on, {"send", "payment", "42", "--about", "order 17", "--id", "e1", "--json"}).json().as_object();
    CHECK(matched.at("answer") == "matched");
    CHECK(matched.at("run").as_string() == to_string(run));
    CHECK_THAT(call(on, {"send", "payment", "42", "--about", "order 17", "--id", "e1"}).out, Contains("sent before"));
    w.settle();
    CHECK(on.find(run).end().result == "42");

    auto const all = call(on, {"events", "--json", "--limit", "2"}).json().as_object();
    REQUIRE(all.at("events").as_array().size() == 2);
    CHECK(all.at("events").as_array()[0].at("fate") == "kept");
    auto const after = std::to_string(all.at("next_after").as_int64());
    auto const rest = call(on, {"events", "--after", after, "--json"}).json().as_object().at("events").as_array();
    REQUIRE(rest.size() == 1);
    CHECK(rest[0].at("fate") == "taken");
    CHECK(rest[0].at("taker").as_string() == to_string(run));
    CHECK(rest[0].at("value") == 42);
    CHECK_THAT(call(on, {"events", "--kept"}).out, Contains("aprove") && !Contains("42"));
    CHECK_THAT(call(on, {"events", "--run", to_string(own)}).out, Contains("aprove") && !Contains("order"));
    CHECK_THAT(call(on, {"events", "--topic", "nothing"}).out, Contains("No events."));

    CHECK(call(on, {"send", "payment", "42"}).code == 2);
    CHECK(call(on, {"send", "payment", "{", "--about", "x"}).code == 2);
    CHECK(call(on, {"send", "payment", "1", "--about", "x", "--run", to_string(run)}).code == 2);
    CHECK(call(on, {"send", "payment", "1", "--run", "ffffffff"}).code == 1);
    CHECK(call(on, {"send", "payment", "1", "--run", to_string(run)}).code == 3);  // it has ended
    CHECK(call(on, {"send", "payment", "43", "--about", "order 17", "--id", "e1"}).code == 3);
    CHECK(call(on, {"send", "paiment", "1", "--about", "x", "--if-awaited"}).code == 3);
}
