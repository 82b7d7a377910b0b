// What a run tells the outside while it runs.
#include <catch2/catch.hpp>

#include "flow/flow.hpp"
#include "support/invariants.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

struct progress {
    int done = 0, of = 0;
    friend bool operator==(progress const&, progress const&) = default;
};

flow::workflow<int> renders(int pages)
{
    for (int i = 0; i < pages; ++i) {
        co_await flow::step("page", flow::idempotent, [&] { outside().note("page " + std::to_string(i)); });
        progress const now{i + 1, pages};
        co_await flow::publish("progress", now);
    }
    co_await flow::publish("phase", "proof");
    co_await flow::wait_for_token<int>("accepted");
    co_return pages;
}

flow::workflow<int> tells_in_branches()
{
    auto tell = [](std::string who, int n) -> flow::workflow<int> {
        for (int i = 0; i < n; ++i) {
            co_await flow::publish("count", i);
            co_await flow::step(who, flow::replayable, [] {});
        }
        co_return n;
    };
    auto [a, b] = co_await flow::all(tell("a", 3), tell("b", 2));
    co_await flow::wait_for_token<int>("accepted");
    co_return a + b;
}

flow::workflow<int> tells_too_much(int n)
{
    std::string const big(static_cast<std::size_t>(n), 'x');
    auto const told = co_await flow::as_outcome(flow::publish("big", big));
    if (!told) co_return static_cast<int>(told.error().code());
    co_return 0;
}

flow::workflow<int> tells_all_the_time(int n)
{
    for (int i = 0; i < n; ++i) co_await flow::publish("i", i);
    co_await flow::step("end", flow::idempotent, [] {});
    co_return n;
}

flow::workflow<int> tells_in_segments(int from)
{
    co_await flow::publish("turn", from);
    if (from < 3) co_await flow::continue_as_new(from + 1);
    co_return from;
}

void add_all(flow::engine& e)
{
    e.add<renders>("renders");
    e.add<tells_in_branches>("tells_in_branches");
    e.add<tells_too_much>("tells_too_much");
    e.add<tells_all_the_time>("tells_all_the_time");
    e.add<tells_in_segments>("tells_in_segments");
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("what a run publishes is seen while it runs, in order, and once across restarts", "[engine][publish]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const id = w.engine().start<renders>(3).id();
    w.settle();
    flow::client outsider(place.again());
    auto const check = [&] {
        CHECK(outsider.published<progress>(id, "progress") == progress{3, 3});
        CHECK(outsider.published<std::string>(id, "phase") == "proof");
        CHECK_FALSE(outsider.published<int>(id, "nothing").has_value());
        auto const newest = outsider.published(id);
        REQUIRE(newest.size() == 2);
        CHECK(newest[0].key == "phase");
        CHECK(newest[1].value == R"({"done":3,"of":3})");
        auto const first = outsider.publications(id, flow::seq_no::none, 2);
        REQUIRE(first.size() == 2);
        CHECK(first[0].value == R"({"done":1,"of":3})");
        auto const rest = outsider.publications(id, first.back().cursor);
        REQUIRE(rest.size() == 2);
        CHECK(rest[0].value == R"({"done":3,"of":3})");
        CHECK(rest[1].key == "phase");
    };
    check();
    w.restart(place.again());
    w.settle();
    w.engine().complete_json(w.open_token(), "1");
    w.settle();
    REQUIRE(w.status(id) == flow::run_status::succeeded);
    check();
    CHECK(w.entries(id, flow::entry_kind::published) == 4);
    check_invariants(*w.store());
}

TEMPLATE_LIST_TEST_CASE("branches publish under one key: the newest is the last that came", "[engine][publish]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const id = w.engine().start<tells_in_branches>().id();
    w.settle();
    auto const all = w.engine().publications(id);
    REQUIRE(all.size() == 5);
    CHECK(w.engine().published(id).at(0).cursor == all.back().cursor);
    w.restart(place.again());
    w.engine().complete_json(w.open_token(), "1");
    w.settle();
    CAPTURE(w.view(id).doing);
    REQUIRE(w.status(id) == flow::run_status::succeeded);
    CHECK(w.engine().publications(id).size() == 5);
    check_invariants(*w.store());
}

TEMPLATE_LIST_TEST_CASE("what is published may be large, but not above the limit", "[engine][publish]", every_store)
{
    TestType place;
    flow::engine_options o;
    o.max_payload = 500'000;
    world w(place.store, add_all, o);
    auto const fits = w.engine().start<tells_too_much>(300'000);
    auto const not_so = w.engine().start<tells_too_much>(600'000);
    w.settle();
    CHECK(fits.result() == 0);
    CHECK(w.engine().published<std::string>(fits.id(), "big") == std::string(300'000, 'x'));
    CHECK(not_so.result() == static_cast<int>(flow::errc::payload_too_large));
    CHECK(w.engine().published(not_so.id()).empty());
}

TEMPLATE_LIST_TEST_CASE("P22 publishing without pause waits for room in the journal, live as on replay", "[engine][publish]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const id = w.engine().start<tells_all_the_time>(10'000).id();
    w.settle();
    REQUIRE(w.status(id) == flow::run_status::succeeded);
    CHECK(w.engine().published<int>(id, "i") == 9'999);
    auto const some = w.engine().publications(id, flow::seq_no::none, 5'000);
    REQUIRE(some.size() == 5'000);
    CHECK(some.back().value == "4999");
}

TEMPLATE_LIST_TEST_CASE("P21 what was published stays when a run continues as new", "[engine][publish][segments]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const id = w.engine().start<tells_in_segments>(1).id();
    w.settle();
    REQUIRE(w.status(id) == flow::run_status::succeeded);
    auto const all = w.engine().publications(id);
    REQUIRE(all.size() == 3);
    CHECK(all[0].value == "1");
    CHECK(w.engine().published<int>(id, "turn") == 3);
}

TEST_CASE("publish refuses a bad key at the call, and an unknown run has published nothing", "[engine][publish]")
{
    CHECK_THROWS_WITH(flow::publish("", 1), Catch::Contains("bad_name"));
    flow::client c(flow::memory());
    CHECK_THROWS_WITH(c.published(flow::run_id{}), Catch::Contains("unknown_run"));
    CHECK_THROWS_WITH(c.publications(flow::run_id{}), Catch::Contains("unknown_run"));
}
