// Records v2/: run once, by hand (README.md). What it writes is never changed.
#include <catch2/catch.hpp>

#include "flow/flow.hpp"
#include "journals/recorder.hpp"
#include "journals/v2_hands.hpp"
#include "journals/v2_workflows.hpp"

using namespace std::chrono_literals;
using namespace flow::test;
using namespace flow::test::journals;
using flow::close_policy;

namespace {

class recording : v2::hands {
public:
    recording(place& p) : hands(p.open(), v2::add_all, recording_options()), place_(p) {}

    flow::time_point all()
    {
        v2::has_come = {"poll-done", "poll-seldom-done"};
        start_what_goes_on();
        w_.pass(10s);  // what waits leaves memory
        act();
        start_children();
        act_on_children();
        start_what_takes_long();
        act_on_what_takes_long();
        die_in_the_middle();
        w_.pass(3h);
        die_at_last();
        return w_.clock().now();
    }

private:
    // ---- events and questions ----------------------------------------------------------------------------------------------------------

    void start_what_goes_on()
    {
        // Events kept for who comes: one before its run, one whose run begins after the recording.
        REQUIRE(tell("payment", "event-early", "40") == flow::delivery_answer::kept);
        REQUIRE(tell("payment", "event-kept", "41") == flow::delivery_answer::kept);
        start("pays", "event-kept", {.delay = 240h});
        for (auto const* key : {"event-early", "event-live", "event-given", "event-unfit", "event-open", "event-done"}) start("pays", key);
        start("pays_in_time", "event-late", flow::args("event-late", 1));
        start("pays_in_time", "event-late-to-come", flow::args("event-late-to-come", 200));
        start("races", "race", flow::args("race"));
        start("races", "race-for-the-rest", flow::args("race"), {.delay = 240h});
        start("collects", "words-first", flow::args("words-first", "word"), {.event = {"word", R"("a")", "1"}});
        start("collects", "words-open", flow::args("words-open", "word"));
        start("collects", "words-sent", flow::args("words-sent", "nobody tells"));  // but the run `sender`
        for (auto const* key : {"commands-done", "commands-open"}) start("obeys", key);
        start("three_at_once", "three-at-once", flow::args());
        w_.settle();

        for (auto const* key : {"quorum-open", "quorum-half", "quorum-decided", "quorum-rejected"}) start("refunds", key, flow::args(key, 12'000));
        for (auto const* key : {"all-half", "all-decided"}) start("asks_all", key);
        for (auto const* key : {"anybody-open", "anybody-decided"}) start("asks_anybody", key);
        start("chooses", "choice-made", flow::args("way", 1));
        start("chooses", "choice-default", flow::args("nobody chooses", 1));
        start("chooses", "choice-open", flow::args("way", 1000));
        start("chooses", "choice-default-to-come", flow::args("nobody chooses", 240));
        start("asks_number", "number-given", flow::args("number", 1));
        start("asks_number", "number-late", flow::args("nobody counts", 1));
        start("asks_number", "number-open", flow::args("number", 1000));
        start("asks_number", "number-late-to-come", flow::args("nobody counts", 240));
        start("expires", "expired", flow::args("nobody goes", 1));
        start("expires", "expires-not", flow::args("go", 1));
        start("expires", "expires-to-come", flow::args("nobody goes", 240));
        start("same_thrice", "same-thrice");
        start("asks_in_vain", "asked-in-vain");
        start("expires", "question-cancelled", flow::args("go", 1000));
        w_.settle();
    }

    void act()
    {
        for (auto const* key : {"event-live", "event-done"}) REQUIRE(tell("payment", key, "42") == flow::delivery_answer::matched);
        REQUIRE(tell("payment", "event-unfit", R"("much")") == flow::delivery_answer::unfit);
        w_.settle();
        finish("event-done");
        engine().pause(id_of("event-given"), "not now", "bob");
        w_.settle();
        REQUIRE(tell("payment", "event-given", "44") == flow::delivery_answer::matched);
        // Both are over before the run hears of either: one wins, the other event is there for who comes.
        REQUIRE(tell("payment", "race", "45") == flow::delivery_answer::matched);
        REQUIRE(tell("refund", "race", "46") == flow::delivery_answer::matched);
        w_.settle();
        REQUIRE(kept("race") == 1);
        tell_run("words-first", "word", R"("b")");
        tell_run("words-open", "word", R"("a")");
        start("tells", "sender", flow::args(id_of("words-sent"), "nobody tells", 240));
        start("tells", "sender-in-vain", flow::args(id_of("event-done"), "word", 0));
        for (auto const* key : {"commands-done", "commands-open"}) {
            tell_run(key, "command", R"("a")");
            tell_run(key, "command", R"("b")");
        }
        tell_run("three-at-once", "same", "1");
        tell_run("three-at-once", "same", "2");
        w_.settle();
        tell_run("commands-done", "command", R"("c")");
        tell_run("commands-done", "stop", "1");
        w_.settle();

        respond("quorum-half", "refund", true, "bob", {}, "he is right");
        respond("quorum-decided", "refund", true, "cy");
        respond("quorum-decided", "refund", true, "ann");
        respond("quorum-rejected", "refund", true, "bob");
        respond("quorum-rejected", "refund", false, "cy", {}, "too much");
        finish("quorum-rejected");
        respond("all-half", "all agree", true, "ann");
        respond("all-decided", "all agree", true, "bob");
        respond("all-decided", "all agree", true, "ann");
        respond("anybody-decided", "confirm", true, "eve", {}, "I saw it");
        respond("choice-made", "way", true, "ann", R"("right")");
        respond("number-given", "number", true, "dan", "7");
        respond("expires-not", "go", true, "dan");
        respond("same-thrice", "prompt", true, "ann");
        engine().cancel(id_of("question-cancelled"), "nobody asks any more", "bob");
        w_.pass(2h);
        REQUIRE(is("expired", flow::run_status::expired));
        REQUIRE(is("question-cancelled", flow::run_status::cancelled));
        REQUIRE(is("event-given", flow::run_status::paused));
    }

    // ---- children ------------------------------------------------------------------------------------------------------------------

    void start_children()
    {
        for (auto const* key : {"child-result", "child-result-done"}) start("takes_result", key);
        for (auto const* key : {"child-failed", "child-failed-done"}) start("takes_failure", key);
        for (auto const* key : {"child-open", "child-answered"}) start("takes_answer", key, flow::args(key, close_policy::cancel));
        start("takes_answer", "parent-cancelled", flow::args("parent-cancelled", close_policy::cancel));
        start("takes_answer", "parent-asks", flow::args("parent-asks", close_policy::request_cancel));
        start("takes_answer", "parent-abandons", flow::args("parent-abandons", close_policy::abandon));
        start("waits_so_long", "child-late");
        start("gives_deadline", "child-in-time");
        start("waits_for_what_begins_later", "child-delayed");
        start("fans_out", "fan-out");
        start("first_of_two", "child-race", flow::args("child-race", close_policy::cancel));
        start("first_of_two", "child-race-goes-on", flow::args("child-race-goes-on", close_policy::abandon));
        start("takes_key", "key-refused", flow::args("key-refused", "child-result"));
        start("takes_key", "key-free", flow::args("key-free", "key-free-child"));
        for (auto const* key : {"long-values", "long-values-done"}) start("takes_long_values", key);
        start("detaches", "detached");
        start("keeps_over_checkpoint", "child-checkpoint");
        start("starts_later", "child-later");
        start("cleans_up_with_a_child", "clean-up");
        w_.settle();
    }

    void act_on_children()
    {
        w_.pass(2h);
        finish("child-result-done");
        finish("child-failed-done");
        complete("child-answered-child", "answer", "6");
        std::string text(2502, 'l');
        text.front() = text.back() = '"';
        tell("long", "long-values-done", text);
        w_.settle();
        respond("long-values-done", "long", true, "ann", text);
        complete("fan-out-child-2", "answer", "5");
        for (auto const* key : {"parent-cancelled", "parent-asks", "parent-abandons", "clean-up"}) engine().cancel(id_of(key), "no longer wanted", "bob");
        w_.pass(10s);
        REQUIRE(is("parent-cancelled-child", flow::run_status::cancelled));
        REQUIRE(is("parent-asks-child", flow::run_status::cancelled));
        REQUIRE(is("parent-abandons-child", flow::run_status::waiting));
        REQUIRE(is("child-race-slow", flow::run_status::cancelled));
        REQUIRE(is("clean-up", flow::run_status::cancelling));
        REQUIRE(is("fan-out-child-4", flow::run_status::waiting));
    }

    // ---- polls, steps that end elsewhere, graphs --------------------------------------------------------------------------------------

    void start_what_takes_long()
    {
        for (auto const* key : {"poll-done", "poll-open", "poll-broken"}) start("looks_often", key);
        start("looks_seldom", "poll-seldom-done", flow::args("poll-seldom-done", 4));
        start("looks_seldom", "poll-seldom-open", flow::args("poll-seldom-open", 240));
        start("looks_seldom", "nobody-poll-over", flow::args("nobody-poll-over", 1));
        start("looks_seldom", "nobody-poll-to-come", flow::args("nobody-poll-to-come", 240));
        for (auto const* key : {"begun-open", "begun-done"}) start("renders", key);
        for (auto const* key : {"begun-replayable", "begun-replayable-done"}) start("renders_replayable", key);
        for (auto const* key : {"begun-elsewhere", "begun-again", "begun-failed"}) start("renders_elsewhere", key);
        for (auto const* key : {"begun-once", "begun-once-done"}) start("renders_once", key, flow::args(key, 1000));
        start("renders_once", "begun-once-in-doubt", flow::args("begun-once-in-doubt", 1));
        start("renders_in_time", "begun-late");
        start("prints_beside", "begun-beside");
        start("renders_elsewhere", "begun-cancelled");
        start("looks_seldom", "poll-cancelled", flow::args("poll-cancelled", 240));
        for (auto const* key : {"token-failed", "token-open"}) start("is_told_of_failure", key);
        for (auto const* key : {"graph-open", "graph-done"}) start("reviews", key);
        for (auto const* key : {"graph-wrong", "graph-wrong-done"}) start("goes_wrong", key);
        w_.settle();
    }

    void act_on_what_takes_long()
    {
        complete("begun-done", "render begun-done", "1");
        complete("begun-replayable-done", "render begun-replayable-done", "2");
        complete("begun-once-done", "render begun-once-done", "3");
        fail("begun-again", "render begun-again");
        fail("begun-failed", "render begun-failed");
        fail("token-failed", "may fail");
        for (auto const* key : {"begun-cancelled", "poll-cancelled"}) engine().cancel(id_of(key), "no longer wanted", "bob");
        complete("begun-beside", "print left begun-beside", "null");
        complete("graph-done", "answer", "9");
        complete("graph-wrong-done", "answer", "8");
        finish("graph-done");
        w_.pass(50h);
        fail("begun-failed", "render begun-failed");
        REQUIRE(w_.entries(id_of("begun-failed"), flow::entry_kind::step_failed) == 1);
        REQUIRE(w_.entries(id_of("begun-once-in-doubt"), flow::entry_kind::intervention) == 1);
        for (auto const* key : {"begun-cancelled", "poll-cancelled"}) REQUIRE(is(key, flow::run_status::cancelled));
        REQUIRE(w_.entries(id_of("nobody-poll-over"), flow::entry_kind::step_failed) == 1);
    }

    // ---- the process dies ----------------------------------------------------------------------------------------------------------

    /// One run of each family, that its process held.
    void start_held(std::string const& suffix)
    {
        auto const key = [&](std::string_view of) { return std::string(of) + suffix; };
        for (auto const* of : {"event", "event-told"}) start("pays", key(of));
        start("refunds", key("quorum"), flow::args(key("quorum"), 7));
        start("takes_answer", key("child"), flow::args(key("child"), close_policy::cancel));
        start("fans_out", key("fan-out"));
        start("looks_often", key("poll"));
        start("renders", key("begun"));
        start("renders_once", key("begun-once"), flow::args(key("begun-once"), 1000));
        start("reviews", key("graph"));
        w_.settle();
        tell("payment", key("event-told"), "47");
        respond(key("quorum"), "refund", true, "ann");
        complete(key("fan-out") + "-child-1", "answer", "1");
    }
    void die_in_the_middle()
    {
        start_held("-survived");
        place_.die(w_);
        w_.pass(10s);
        for (auto const* key : {"poll-survived", "begun-survived"}) REQUIRE(w_.entries(id_of(key), flow::entry_kind::recovered) == 1);
        for (auto const* key : {"event-survived", "quorum-survived", "child-survived", "graph-survived"}) REQUIRE(is(key, flow::run_status::waiting));
    }
    void die_at_last()
    {
        start_held("-orphaned");
        // The run is claimed, its claim written, its event told: that it was told is not in its journal.
        start("tells", "sender-orphaned", flow::args(id_of("words-open"), "word", 0));
        place_.cut_off_after(3);
        w_.settle();
        w_.stop();
    }

    place& place_;
};

}  // namespace

TEST_CASE("record the journals of version 2", "[.record]")
{
    record("v2", v2::add_all, [](place& p) { return recording(p).all(); }, v2::finish_all);
}
