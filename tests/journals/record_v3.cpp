// Records v3/: run once, by hand (README.md). What it writes is never changed.
#include <catch2/catch.hpp>

#include "flow/flow.hpp"
#include "journals/recorder.hpp"
#include "journals/v2_hands.hpp"
#include "journals/v2_workflows.hpp"
#include "journals/v3_workflows.hpp"

using namespace std::chrono_literals;
using namespace flow::test;
using namespace flow::test::journals;

namespace {

class recording : v2::hands {
public:
    recording(place& p) : hands(p.open(), v3::add_all, recording_options()), place_(p) {}

    flow::time_point all()
    {
        start_all();
        w_.pass(10s);  // what waits, and can, leaves memory
        act();
        die_in_the_middle();
        w_.pass(1h);
        die_at_last();
        return w_.clock().now();
    }

private:
    void picks(std::string_view key, int seen = 1) { start("picks", key, flow::args(key, seen)); }

    void start_all()
    {
        for (auto const* key : {"parked", "squeezed", "done", "cancelled", "moved", "moved-done", "moving", "moving-done"}) picks(key);
        for (auto const* key : {"much-seen", "much-seen-squeezed"}) picks(key, 3000);
        start("picks", "delayed", flow::args("delayed", 1), {.delay = 240h});
        for (auto const* key : {"absent", "absent-done", "present"}) start("tries", key);
        for (auto const* key : {"talk-done", "talk-lost"}) start("talks", key);
        for (auto const* key : {"two", "one-of-two"}) start("sets_two", key);
        for (auto const* key : {"turn-0", "turn-1"}) start("turns", key);
        w_.settle();
    }

    void act()
    {
        for (auto const* key : {"squeezed", "done", "cancelled", "moved-done", "moving-done", "much-seen-squeezed", "turn-1"}) complete(key, "squeeze by", "1");
        // What cannot come back has failed.
        for (auto const* key : {"moved-done", "moving-done"}) REQUIRE(is(key, flow::run_status::failed));
        complete("done", "let go", "1");
        w_.pass(10s);
        complete("one-of-two", "squeeze by", "5");
        engine().cancel(id_of("cancelled"), "no longer wanted", "bob");
        for (auto const* key : {"done", "absent-done", "talk-done"}) finish(key);
        w_.pass(10s);
        REQUIRE(is("cancelled", flow::run_status::cancelled));
        for (auto const* key : {"done", "absent-done", "talk-done"}) REQUIRE(is(key, flow::run_status::succeeded));
    }

    /// Runs that their process held.
    void start_held(std::string const& suffix)
    {
        picks("held" + suffix);
        picks("held-squeezed" + suffix);
        start("talks", "talk" + suffix);
        w_.settle();
        complete("held-squeezed" + suffix, "squeeze by", "2");
    }
    void die_in_the_middle()
    {
        start_held("-survived");
        place_.die(w_);
        w_.pass(10s);
        REQUIRE(is("held-survived", flow::run_status::waiting));
        for (auto const* key : {"talk-lost", "talk-survived"}) REQUIRE(is(key, flow::run_status::failed));
    }
    void die_at_last()
    {
        start_held("-orphaned");
        // Claimed, opened, squeezed; that it was squeezed is not in the journal.
        picks("squeezed-unheard");
        place_.cut_off_after(3);
        w_.settle();
        w_.stop();
    }

    place& place_;
};

}  // namespace

TEST_CASE("record the journals of version 3", "[.record]")
{
    record("v3", v3::add_all, [](place& p) { return recording(p).all(); }, v2::finish_all);
}
