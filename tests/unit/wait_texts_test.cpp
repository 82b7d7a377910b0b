// AT-53, AT-54: every wait in words, and whom it concerns when it is late.
#include <catch2/catch.hpp>

#include "src/wait_texts.hpp"

using namespace flow::detail;
using flow::wait_reason;

namespace {

std::string plain(flow::time_point) { return "THEN"; }

}  // namespace

TEST_CASE("AT-53 each kind of wait has a row of its own, with a text and what to do", "[wait_texts]")
{
    using enum wait_reason::kind;
    flow::run_row run;
    run.workflow = "ship";
    run.version = 3;
    for (auto const k : {queue, approval, input, tool, external, timer, child, acceptance, rate_limit, intervention, code}) {
        CAPTURE(to_string(k));
        auto const& words = words_of(k);
        REQUIRE(words.type == k);
        wait_reason w;
        w.type = k;
        w.id = "ID", w.name = "NAME", w.detail = "DETAIL";
        for (auto const text : {words.brief, words.doing, words.action}) {
            auto const whole = filled(text, w, &run, plain);
            CHECK_FALSE(whole.empty());
            CHECK(whole.find('{') == whole.npos);  // every name in it is known
        }
        CHECK(filled(words.brief, w, nullptr, plain).find('{') == std::string::npos);
    }
    CHECK(words_of(external, true).brief == "event {name}");
    wait_reason q;
    q.type = queue;
    CHECK(filled(words_of(queue).doing, q, &run, plain) ==
          "It stands in the queue: an engine that has registered \"ship\" version 3 will take it.");
    CHECK(filled("{what} {until", q, &run, plain) == "{what} {until");
}

TEST_CASE("AT-54 a slow approval is for the process's owner, a slow tool for the tool's, a limit for the platform's duty", "[wait_texts]")
{
    using enum wait_reason::kind;
    CHECK(words_of(approval).late == alert_route::process_owner);
    CHECK(words_of(tool).late == alert_route::tool_owner);
    CHECK(words_of(rate_limit).late == alert_route::platform_duty);
    CHECK(words_of(timer).late == alert_route::nobody);
    CHECK(name_of(words_of(approval).late) == "the process's owner");
}
