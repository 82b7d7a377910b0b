// flow schedule, flow schedules, flow backfill.
#include <catch2/catch.hpp>

#include "calls.hpp"
#include "flow/flow.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace flow::test;
using namespace std::chrono_literals;
using Catch::Contains;

namespace {

flow::workflow<void> report(std::string about)
{
    co_await flow::step("report", flow::idempotent, [&] { outside().note("report " + about); });
}

}  // namespace

TEST_CASE("a schedule is made, listed, changed, filled back and paused from the command line", "[cli][schedule]")
{
    memory_stores place;
    world w(place.store, [](flow::engine& e) { e.add<report>("report"); });
    auto& on = w.engine();

    CHECK_THAT(call(on, {"schedules"}).out, Contains("No schedules."));
    auto const made = call(on, {"schedule", "sales", "report", "[\"sales\"]", "--cron", "0 9 * * MON-FRI", "--zone", "Europe/Berlin", "--by", "ann"});
    CHECK_THAT(made.out, Contains("Schedule sales starts report cron \"0 9 * * MON-FRI\" (Europe/Berlin)"));
    w.settle();
    auto all = call(on, {"schedules", "--json"}).json().as_object().at("schedules").as_array();
    REQUIRE(all.size() == 1);
    CHECK(all[0].at("fired") == 0);
    CHECK(all[0].at("next") == "2027-01-18T08:00:00.000000Z");
    CHECK(all[0].at("arguments").as_array()[0] == "sales");

    call(on, {"schedule", "sales", "report", "[\"sales\"]", "--every", "1h"});
    w.settle();
    auto const start = w.clock().now();
    w.pass(3h);
    CHECK(outside().count("report sales") == 3);
    CHECK_THAT(call(on, {"schedules"}).out, Contains("every 1h") && Contains("sales") && Contains("waiting"));
    CHECK_THAT(call(on, {"backfill", "sales", "--since", "8h", "--until", flow::to_string(start)}, {.clock = &w.clock()}).out, Contains("6 instants"));
    w.settle();
    CHECK(outside().count("report sales") == 9);

    CHECK(call(on, {"pause", "schedule:sales"}).code == 0);
    w.settle();
    CHECK_THAT(call(on, {"schedules"}).out, Contains("paused"));
}

TEST_CASE("what is no schedule is said so on the command line", "[cli][schedule]")
{
    memory_stores place;
    world w(place.store, [](flow::engine& e) { e.add<report>("report"); });
    auto& on = w.engine();
    CHECK_THAT(call(on, {"schedule", "sales", "report"}).err, Contains("--cron") && Contains("--every"));
    CHECK_THAT(call(on, {"schedule", "sales", "report", "--every", "soon"}).err, Contains("soon"));
    CHECK_THAT(call(on, {"schedule", "sales", "report", "--every", "1h", "--overlap", "maybe"}).err, Contains("skip, buffer_one, allow"));
    CHECK_THAT(call(on, {"schedule", "sales", "report", "--cron", "0 25 * * *"}).err, Contains("hour"));
    CHECK_THAT(call(on, {"schedule", "sales", "report", "--every", "1h", "--until", "2h"}).err, Contains("instant"));
    CHECK_THAT(call(on, {"backfill", "sales", "--since", "1h"}).err, Contains("no schedule \"sales\""));
    CHECK_THAT(call(on, {"pause", "schedule:sales"}).err, Contains("no schedule \"sales\""));
}
