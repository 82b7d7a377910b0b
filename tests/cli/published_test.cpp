// flow published: what a run has told the outside.
#include <catch2/catch.hpp>

#include "calls.hpp"
#include "flow/flow.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace flow::test;
using Catch::Contains;

namespace {

flow::workflow<int> tells()
{
    for (int i = 1; i <= 3; ++i) co_await flow::publish("count", i);
    co_await flow::publish("phase", "a\x1b[31mred");
    co_return 3;
}
flow::workflow<int> says_nothing() { co_return 0; }

}  // namespace

TEMPLATE_LIST_TEST_CASE("published shows the newest of each key, or the history page by page", "[cli][publish]", every_store)
{
    TestType place;
    world w(place.store, [](flow::engine& e) {
        e.add<tells>("tells");
        e.add<says_nothing>("says_nothing");
    });
    auto const id = to_string(w.engine().start<tells>().id());
    auto const silent = to_string(w.engine().start<says_nothing>().id());
    w.settle();

    auto const newest = call(w.engine(), {"published", id});
    CHECK(newest.code == 0);
    CHECK_THAT(newest.out, Contains("count") && Contains("phase") && !Contains("\x1b"));
    auto const document = call(w.engine(), {"published", id, "--json"}).json().as_object();
    auto const& values = document.at("published").as_array();
    REQUIRE(values.size() == 2);
    CHECK(values[0].at("key") == "count");
    CHECK(values[0].at("value") == 3);
    CHECK(document.at("next_after").is_null());

    auto const first = call(w.engine(), {"published", id, "--history", "--limit", "2", "--json"}).json().as_object();
    REQUIRE(first.at("published").as_array().size() == 2);
    CHECK(first.at("published").as_array()[1].at("value") == 2);
    auto const after = std::to_string(first.at("next_after").as_int64());
    auto const rest = call(w.engine(), {"published", id, "--history", "--after", after, "--json"}).json().as_object();
    REQUIRE(rest.at("published").as_array().size() == 2);
    CHECK(rest.at("published").as_array()[0].at("value") == 3);
    CHECK_THAT(call(w.engine(), {"published", id, "--history", "--limit", "2"}).out, Contains("--after " + after));

    CHECK_THAT(call(w.engine(), {"published", silent}).out, Contains("It has published nothing."));
    CHECK(call(w.engine(), {"published", "ffffffff"}).code == 1);
    CHECK(call(w.engine(), {"published", id, "--after", "x"}).code == 2);
}
