// flow show of parents and children.
#include <catch2/catch.hpp>

#include "calls.hpp"
#include "flow/flow.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace flow::test;
using Catch::Contains;

namespace {

flow::workflow<int> asks() { co_return co_await flow::wait_for_token<int>("answer"); }
flow::workflow<int> ends() { co_return 1; }
flow::workflow<int> parent()
{
    auto const a = co_await flow::start_run<ends>();
    auto const b = co_await flow::start_run<asks>({.on_close = flow::close_policy::abandon});
    auto const x = co_await a;
    co_return x + co_await b;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("show lists a run's children with their statuses, and names a child's parent", "[cli][child]", every_store)
{
    TestType place;
    world w(place.store, [](flow::engine& e) {
        e.add<asks>("asks");
        e.add<ends>("ends");
        e.add<parent>("parent");
    });
    auto const id = w.engine().start<parent>().id();
    w.settle();
    auto const children = w.engine().children(id);
    REQUIRE(children.size() == 2);
    auto const first = to_string(children[0].run.id), second = to_string(children[1].run.id);

    auto const shown = call(w.engine(), {"show", to_string(id)});
    CHECK(shown.code == 0);
    CHECK_THAT(shown.out, Contains("Children") && Contains(first + "  ends  succeeded  cancel") && Contains(second + "  asks  waiting    abandon"));
    CHECK_THAT(shown.out, Contains("It waits for the end of run " + second + ".") && Contains("unblocked by  the end of run " + second));
    CHECK_THAT(shown.out, Contains("ends#0 was started as run " + first + ".") && !Contains("parent  "));
    CHECK_THAT(call(w.engine(), {"show", to_string(id), "--limit", "1"}).out, Contains("Children (the first 1)") && !Contains(second + "  asks"));
    CHECK_THAT(call(w.engine(), {"show", second}).out, Contains("parent        " + to_string(id)) && !Contains("Children"));

    auto const document = call(w.engine(), {"show", to_string(id), "--json"}).json().as_object();
    auto const& listed = document.at("children").as_array();
    REQUIRE(listed.size() == 2);
    CHECK(listed[1].at("id").as_string() == second);
    CHECK(listed[1].at("status") == "waiting");
    CHECK(listed[1].at("on_close") == "abandon");
    CHECK_THAT(call(w.engine(), {"tokens"}).out, Contains("answer#0") && !Contains("ends#0"));
}
