// flow policies, flow runs --late, and what show says of a wait's policy.
#include <catch2/catch.hpp>

#include <fstream>

#include "calls.hpp"
#include "flow/flow.hpp"
#include "support/stores.hpp"
#include "support/temp_dir.hpp"
#include "support/world.hpp"

using namespace flow::test;
using namespace std::chrono_literals;
using Catch::Contains;

namespace {

flow::workflow<bool> asks()
{
    auto const v = co_await flow::ask("order", flow::question("Order?").to("ann"));
    co_return v.approved;
}
flow::workflow<int> waits() { co_return co_await flow::wait_for_token<int>("callback"); }

}  // namespace

TEST_CASE("wait policies by hand: set, listed, rolled back; what is late is listed with whom it concerns", "[cli][policy]")
{
    memory_stores place;
    world w(place.store, [](flow::engine& e) {
        e.add<asks>("asks");
        e.add<waits>("waits");
    });
    auto& on = w.engine();
    temp_dir const folder;
    auto const file = folder.file("waits.json");
    auto const write = [&](std::string_view text) { std::ofstream(file) << text; };

    CHECK_THAT(call(on, {"policies"}).out, Contains("No wait policies"));
    write(R"({"approval":{"sla_s":600,"timeout_s":3600,"on_timeout":[{"action":"escalate","to":["boss\u001b[31m"],"channel":"desk"},{"action":"expire"}]},
              "external":{"resumable":false}})");
    CHECK_THAT(call(on, {"policies", "--set", file, "--by", "ops", "--why", "as agreed"}).out, Contains("Version 1") && Contains("is in force"));
    CHECK_THAT(call(on, {"policies", "--set", file}).out, Contains("Version 1") && Contains("was already in force"));
    auto const asked = to_string(on.start<asks>().id()), waiting = to_string(on.start<waits>().id());
    w.settle();
    write("{}");
    CHECK(call(on, {"policies", "--set", file, "--json"}).json().as_object().at("version") == 2);
    CHECK(call(on, {"policies", "--roll-back", "1", "--json"}).json().as_object().at("is_new") == true);

    auto const listed = call(on, {"policies", "--json"}).json().as_object().at("versions").as_array();
    REQUIRE(listed.size() == 3);
    CHECK(listed[0].at("by") == "ops");
    CHECK(listed[2].at("why") == "back to version 1");
    CHECK(listed[2].at("policies") == listed[0].at("policies"));
    CHECK_THAT(call(on, {"policies"}).out, Contains("as agreed") && Contains("In force: {\"approval\"") && !Contains("\x1b"));

    CHECK(call(on, {"policies", "--roll-back", "9"}).code == 2);
    CHECK(call(on, {"policies", "--roll-back", "0"}).code == 2);
    CHECK(call(on, {"policies", "--set", file, "--roll-back", "1"}).code == 2);
    CHECK(call(on, {"policies", "--set", file + ".missing"}).code == 2);
    write(R"({"external":{"timeout_s":5,"on_timeout":[{"action":"expire"}]}})");
    auto const refused = call(on, {"policies", "--set", file});
    CHECK(refused.code == 2);
    CHECK_THAT(refused.err, Contains("wait policy \"external\": \"expire\" ends no wait of this type"));

    CHECK_THAT(call(on, {"show", waiting}, {.clock = &w.clock()}).out, Contains("wait policy") && Contains("resumable = false"));
    CHECK_THAT(call(on, {"show", asked}, {.clock = &w.clock()}).out, Contains("version 1") && Contains("look by") && Contains("escalates") && !Contains("asked as well"));
    CHECK_THAT(call(on, {"runs", "--late"}).out, Contains("No run waits longer"));
    w.pass(61min);
    CHECK_THAT(call(on, {"show", asked}, {.clock = &w.clock()}).out, Contains("late by 51 min") && Contains("escalated") && Contains("on desk") && Contains("asked as well: boss") &&
                                                                         !Contains("\x1b"));
    auto const late = call(on, {"runs", "--late", "--json"}).json().as_object().at("late").as_array();
    REQUIRE(late.size() == 1);
    CHECK(late[0].at("concerns") == "the process's owner");
    CHECK_THAT(call(on, {"runs", "--late"}).out, Contains("asks") && Contains("the process's owner"));
    CHECK(call(on, {"runs", "--late", "--status", "waiting"}).code == 2);
}
