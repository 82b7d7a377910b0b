// Records v1/: run once for each version of the format, by hand (README.md). What it writes is never changed.
#include <catch2/catch.hpp>

#include "flow/flow.hpp"
#include "flow/store_reader.hpp"
#include "journals/recorder.hpp"
#include "journals/workflows.hpp"

using namespace std::chrono_literals;
using namespace flow::test;
using namespace flow::test::journals;

namespace {

class recording {
public:
    recording(place& p) : place_(p), w_(p.open(), add_first, recording_options()) {}

    flow::time_point all()
    {
        start_first();
        answer_first();
        damage();
        change_the_code();
        start_last();
        die_at_last();
        return w_.clock().now();
    }

private:
    flow::engine& engine() { return w_.engine(); }
    flow::run_id id_of(std::string_view key) { return engine().find_by_key(key).id(); }
    void start(std::string_view workflow, flow::args const& a, std::string_view key, flow::start_options o = {})
    {
        o.idempotency_key = key;
        engine().start(workflow, a, o);
    }
    flow::waitpoint_id open(std::string_view key, std::string_view token)
    {
        for (auto const& o : w_.view(id_of(key)).open)
            if (o.row.name == token) return o.row.id;
        FAIL("no open token " << token << " of " << key << ": " << w_.view(id_of(key)).doing);
        return {};
    }
    void answer(std::string_view key, std::string_view token, std::string_view json, std::string_view by = "alice")
    {
        engine().complete_json(open(key, token), json, std::nullopt, "it was asked for", by);
        w_.settle();
    }
    void decide(std::string_view key, std::string_view choice, std::optional<std::string_view> output = std::nullopt)
    {
        engine().decide(engine().intervention_of(id_of(key)), choice, output, "looked it up", "alice");
        w_.settle();
    }
    void by_seconds(int seconds)
    {
        for (int i = 0; i < seconds; ++i) w_.pass(1s);
    }

    void start_first()
    {
        start("three_classes", flow::args::json(R"([{"id":"o-1","lines":[{"item":"bolt","count":3,"price":0.1},{"item":"nut","count":2,"price":1.25}],"note":null},2])"),
              "three-classes", {.tags = "first,with args", .priority = 3, .by = "alice", .why = "it was ordered"});
        start("draws", flow::args(), "draws");
        start("binary_types", flow::args(), "binary-types");
        start("binary_result", flow::args(), "binary-result");
        start("blobs", flow::args(std::string(100'010, 'a')), "blobs");
        start("fails", flow::args(), "fails");
        for (auto const* who : {"open", "completed", "failed", "skipped", "cancelled", "abandoned"})
            start("paying", flow::args(who), std::string("paying-") + who);
        start("paying_void", flow::args(), "paying-void");
        start("reconciles", flow::args(), "reconciles");
        start("returns_too_much", flow::args(), "returns-too-much");
        start("heals", flow::args(), "heals");
        start("forecasts", flow::args(), "forecasts");
        start("overridden", flow::args(), "overridden");
        start("sleeps", flow::args(), "sleeps");
        start("tokens", flow::args(), "tokens");
        start("limits", flow::args(), "limits");
        start("tells", flow::args(), "tells");
        start("groups", flow::args(), "groups");
        start("groups_midway", flow::args(), "groups-midway");
        start("counts", flow::args(), "counts");
        start("rounds", flow::args(1, ""), "rounds");
        start("shop", flow::args(), "shop-old");
        start("tolerant", flow::args(), "tolerant");
        start("renamed", flow::args(), "renamed");
        start("waits", flow::args("nobody's key"), "", {.tags = "no-key"});
        start("waits", flow::args("tenant"), "tenant", {.tenant = "acme"});
        start("waits", flow::args("delayed first"), "delayed-first", {.delay = 1min});
        start("waits", flow::args("in time"), "deadline-in-time", {.deadline = 2400h});
        start("waits", flow::args("done"), "done");
        start("tidies", flow::args("expired", false), "deadline-expired", {.deadline = 1h});
        start("tidies", flow::args("cancelled", false), "cancelled");
        start("tidies", flow::args("deadline", false), "deadline-to-come", {.deadline = 200h});
        start("tidies", flow::args("cancelling", true), "cancelling");
        w_.settle();
    }

    void answer_first()
    {
        decide("paying-completed", "complete", R"("paid by hand")");
        decide("paying-failed", "fail");
        decide("paying-skipped", "skip");
        decide("paying-cancelled", "cancel");
        decide("paying-void", "skip");
        decide("returns-too-much", "complete", R"("small")");
        engine().cancel(id_of("paying-abandoned"), "no longer wanted", "bob");
        engine().cancel(id_of("cancelled"), "no longer wanted", "bob");
        engine().cancel(id_of("cancelling"), "no longer wanted", "bob");
        w_.settle();
        answer("done", "finish", R"("done")");
        answer("blobs", "long answer", "\"" + std::string(3000, 'l') + "\"");
        answer("tokens", "early", "11");
        answer("groups-midway", "turn 1", "7");
        w_.pass(2min);
        REQUIRE(w_.status(id_of("paying-abandoned")) == flow::run_status::cancelled);

        start("slow", flow::args(), "slow");
        w_.settle();
        w_.pass(2s);
        REQUIRE(w_.entries(id_of("slow"), flow::entry_kind::started) == 1);
        end_the_slow_step();
        w_.pass(1s);
        REQUIRE(w_.entries(id_of("slow"), flow::entry_kind::step) == 1);

        // The process dies: while an attempt is pending, and inside a call.
        start("fragile", flow::args("first"), "fragile");
        w_.settle();
        place_.die(w_);
        w_.settle();
        inside_the_call = [this] { place_.cut_off(); };
        start("paying", flow::args("interrupted"), "paying-interrupted");
        w_.settle();
        place_.die(w_);
        w_.pass(1h);
        REQUIRE(w_.entries(id_of("fragile"), flow::entry_kind::recovered) >= 1);
        REQUIRE(w_.entries(id_of("fragile"), flow::entry_kind::step) == 1);
        decide("paying-interrupted", "complete", R"("the bank says so")");
    }

    void damage()
    {
        auto const of = [this](std::string_view key) {
            return " and run = " + std::to_string(w_.view(id_of(key)).row.num);
        };
        auto const heals = of("heals"), forecasts = of("forecasts"), overridden = of("overridden");
        w_.stop();
        place_.spoil("update journal set payload = '999' where kind = 6" + heals);
        place_.spoil("update journal set payload = '999' where kind = 6" + forecasts);
        place_.spoil("update journal set payload = '999' where kind = 6" + overridden);
        tomorrow = 2;
        w_.restart(place_.open());
        w_.pass(6h);
        decide("overridden", "complete", "44");
        w_.pass(6h);
        REQUIRE(w_.entries(id_of("heals"), flow::entry_kind::healed) == 1);
        REQUIRE(w_.entries(id_of("forecasts"), flow::entry_kind::void_) == 1);
        REQUIRE(w_.entries(id_of("overridden"), flow::entry_kind::override_) == 1);
        REQUIRE(w_.entries(id_of("paying-skipped"), flow::entry_kind::step_failed) == 0);
        // What is spoiled is put right: the file holds what was written, and each payload fits its hash.
        w_.stop();
        place_.spoil("update journal set payload = '1' where kind = 6" + forecasts + " and payload = '999'");
        place_.spoil("update journal set payload = '43' where kind = 6" + overridden + " and payload = '999'");
        w_.restart(place_.open());
        w_.settle();
    }

    void change_the_code()
    {
        answer("tokens", "typed", R"({"id":"o-2","lines":[],"note":"none","more":[1]})", "bob");
        answer("tokens", "nothing", "null");
        answer("tokens", "shared", R"("at last")");
        for (auto const* who : {"asked", "restarted", "adopted", "held", "cancelled"}) start("moves", flow::args(who), std::string("moves-") + who);
        start("looks", flow::args(), "looks");
        w_.pass(1s);
        w_.restart(place_.open(), add_now);
        by_seconds(60);
        decide("moves-restarted", "restart");
        decide("moves-adopted", "adopt");
        decide("moves-held", "wait");
        decide("moves-cancelled", "cancel");
        by_seconds(60);
        REQUIRE(w_.status(id_of("moves-asked")) == flow::run_status::held);
        REQUIRE(w_.status(id_of("moves-held")) == flow::run_status::held);
        REQUIRE(w_.status(id_of("looks")) == flow::run_status::waiting);
    }

    void start_last()
    {
        start("json_types", flow::args::json("[" + every_type_json() + "]"), "json-types");
        start("shop", flow::args(), "shop-fresh");
        start("retries", flow::args(), "retries");
        w_.pass(2min);
        start("waits", flow::args("resumed"), "resumed");
        start("waits", flow::args("paused"), "paused");
        start("waits", flow::args("delayed"), "delayed", {.delay = 240h});
        w_.settle();
        answer("json-types", "every type", every_type_json());
        engine().pause(id_of("paused"), "wait for me", "bob");
        engine().pause(id_of("resumed"), "wait for me", "bob");
        w_.settle();
        engine().resume(id_of("resumed"), "go on", "bob");
        w_.pass(10s);  // what waits leaves memory
    }

    void die_at_last()
    {
        start("naps", flow::args(), "naps");
        start("fragile", flow::args("last"), "fragile-last");
        w_.settle();
        inside_the_call = [this] { place_.cut_off(); };
        start("paying", flow::args("last"), "paying-last");
        w_.settle();
        w_.stop();
        flow::client(flow::sqlite(place_.file), "carol").start("waits", flow::args("queued"), {.idempotency_key = "queued"});
    }

    /// As the payload of a step says it, which is what this version writes.
    std::string every_type_json()
    {
        if (every_type_.empty()) {
            start("json_types", flow::args::json("[" + minimal_ + "]"), "json-types-minimal");
            w_.settle();
            for (auto const& e : w_.journal(id_of("json-types-minimal")))
                if (e.kind == flow::entry_kind::step && e.name == "all json") every_type_ = e.payload;
            INFO(w_.view(id_of("json-types-minimal")).doing);
            REQUIRE_FALSE(every_type_.empty());
            answer("json-types-minimal", "every type", minimal_);
        }
        return every_type_;
    }

    place& place_;
    world w_;
    std::string every_type_;
    /// Only what is not optional.
    std::string const minimal_ =
        R"({"yes":false,"small":1,"lowest":2,"beyond_double":3,"largest":4,"half":0.25,"doubles":[],"text":"t","empty":"","bytes":{"$bytes":""},)"
        R"("choices":[],"paint":"red","both":[1,"x"],"two":["y",true],"by_name":{},"by_number":[],"unordered":{},"names":[],"three":[0,0,0],)"
        R"("queue":[],"colours":[],"when":1796000000000000,"length":0,"id":"00000000-0000-0000-0000-000000000000"})";
};

}  // namespace

TEST_CASE("record the journals of version 1", "[.record]")
{
    record("v1", add_now, [](place& p) { return recording(p).all(); }, finish_all);
}
