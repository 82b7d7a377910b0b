// Schedules: firings, overlaps, what is missed, pauses, changes, ends; over restarts, on every store.
#include <catch2/catch.hpp>

#include "flow/flow.hpp"
#include "support/eventually.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace std::chrono_literals;
using namespace flow::test;
using Catch::Contains;

namespace {

flow::workflow<void> report(std::string about)
{
    co_await flow::step("report", flow::idempotent, [&] { outside().note("report " + about); });
}
flow::workflow<void> long_report(std::string about)
{
    co_await flow::step("begin", flow::idempotent, [&] { outside().note("begin " + about); });
    co_await flow::sleep_for(150s);
    co_await flow::step("end", flow::idempotent, [&] { outside().note("end " + about); });
}
flow::workflow<void> fails()
{
    outside().note("failing");
    throw std::runtime_error("no paper");
    co_return;
}

flow::workflow<void> two_numbers(int a, int b)
{
    outside().note("numbers");
    static_cast<void>(a + b);
    co_return;
}

void add_all(flow::engine& e)
{
    e.add<report>("report");
    e.add<long_report>("long_report");
    e.add<fails>("fails");
}

int fired() { return outside().count("report sales"); }

/// To the first half minute of a minute, so that what fires at whole minutes is half a minute away.
void to_half_minute(world& w)
{
    auto const now = w.clock().now();
    w.pass(std::chrono::ceil<std::chrono::minutes>(now) + 30s - now);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a schedule fires by its clock, each firing a run of its own with a key and a tag", "[engine][schedule]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    to_half_minute(w);
    auto const it = w.engine().schedule<report>("sales", flow::cron("* * * * *"), {}, "sales");
    w.settle();
    auto row = w.engine().schedule_of("sales");
    CHECK(row.run == it.id());
    CHECK(row.workflow == "report");
    CHECK(row.arguments == R"(["sales"])");
    CHECK(row.next == w.clock().now() + 30s);
    CHECK(row.fired == 0);
    CHECK(fired() == 0);
    w.pass(30s);
    CHECK(fired() == 1);
    auto const first = w.clock().now();
    w.pass(10min);
    CHECK(fired() == 11);
    row = w.engine().schedule_of("sales");
    CHECK(row.fired == 11);
    CHECK(row.last == first + 10min);
    CHECK(row.trouble.empty());
    CHECK(w.engine().find_by_key("schedule/sales/" + flow::to_string(first)).status().run == flow::run_status::succeeded);
    flow::run_filter tagged;
    tagged.tag = "schedule:sales";
    CHECK(w.engine().runs(tagged).size() == 11);
    // However long it runs, the last turn only is read again.
    CHECK(w.store()->load(it.id()).value()->entries.size() < 60);
}

TEMPLATE_LIST_TEST_CASE("TI-03 after three days off a schedule of each minute fires once, and is back on the grid", "[engine][schedule][case]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    to_half_minute(w);
    w.engine().schedule<report>("sales", flow::every(1min), {}, "sales");
    w.pass(2min);
    REQUIRE(fired() == 2);
    w.stop();
    w.clock().advance(72h);
    w.restart();
    w.settle();
    CHECK(fired() == 3);
    auto const row = w.engine().schedule_of("sales");
    CHECK(row.left_out == 72 * 60 - 1);
    CHECK(row.next == w.clock().now() + 30s);
    w.pass(1min);
    CHECK(fired() == 4);
}

TEST_CASE("TI-03 the catch-up rule: none leaves out what is late, all fires each", "[engine][schedule][case]")
{
    memory_stores place;
    world w(place.store, add_all);
    to_half_minute(w);
    w.engine().schedule<report>("all", flow::every(1min), {.overlap = flow::overlap_policy::allow, .catch_up = flow::catch_up_policy::all}, "all");
    w.engine().schedule<report>("none", flow::every(1min), {.catch_up = flow::catch_up_policy::none, .grace = 10s}, "none");
    w.settle();
    w.stop();
    w.clock().advance(5h);
    w.restart();
    w.settle();
    CHECK(outside().count("report all") == 300);
    CHECK(outside().count("report none") == 0);
    w.pass(30s);
    CHECK(outside().count("report all") == 301);
    CHECK(outside().count("report none") == 1);
}

TEMPLATE_LIST_TEST_CASE("TI-12 a hundred firings wanted, restarted after forty: a hundred in all", "[engine][schedule][case]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    to_half_minute(w);
    auto const declare = [&] { return w.engine().schedule<report>("sales", flow::every(1min), {.limit = 100}, "sales"); };
    auto const it = declare();
    w.pass(40min);
    REQUIRE(fired() == 40);
    w.restart();
    CHECK(declare().id() == it.id());
    w.pass(50min);
    w.restart();
    w.pass(50min);
    CHECK(fired() == 100);
    CHECK(it.status().run == flow::run_status::succeeded);
    CHECK_FALSE(w.engine().schedule_of("sales").next);
    CHECK(declare().id() == it.id());  // a program that begins again does not begin the hundred again
    w.pass(5min);
    CHECK(fired() == 100);
}

TEST_CASE("overlap: skip leaves out, buffer_one fires one at the end, allow fires", "[engine][schedule]")
{
    memory_stores place;
    world w(place.store, add_all);
    to_half_minute(w);
    using enum flow::overlap_policy;
    w.engine().schedule<long_report>("skip", flow::every(1min), {.overlap = skip}, "skip");
    w.engine().schedule<long_report>("one", flow::every(1min), {.overlap = buffer_one}, "one");
    w.engine().schedule<long_report>("allow", flow::every(1min), {.overlap = allow}, "allow");
    w.pass(30s);  // all three begin; each takes 150 s
    w.pass(149s);
    CHECK(outside().count("begin skip") == 1);
    CHECK(outside().count("begin one") == 1);
    CHECK(outside().count("begin allow") == 3);
    CHECK(w.engine().schedule_of("one").buffered);
    CHECK(w.engine().schedule_of("skip").left_out == 2);
    w.pass(1s);  // they end
    CHECK(outside().count("begin skip") == 1);
    CHECK(outside().count("begin one") == 2);
    CHECK_FALSE(w.engine().schedule_of("one").buffered);
    w.pass(30s);  // the next minute
    CHECK(outside().count("begin skip") == 2);
    CHECK(w.engine().schedule_of("one").left_out == 1);
}

TEMPLATE_LIST_TEST_CASE("a run that ended while nobody looked does not count as an overlap", "[engine][schedule]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    to_half_minute(w);
    w.engine().schedule<long_report>("slow", flow::every(5min), {}, "slow");
    w.pass(5min);
    w.pass(1s);
    auto const begun = outside().count("begin slow");
    REQUIRE(begun == 1);
    w.stop();
    w.clock().advance(6min);
    w.restart();
    w.pass(1s);
    CHECK(outside().count("end slow") == 1);
    w.pass(5min);
    CHECK(outside().count("begin slow") >= 2);
}

TEST_CASE("a firing whose run fails does not stop the schedule; one that cannot be started says why", "[engine][schedule]")
{
    memory_stores place;
    world w(place.store, add_all);
    to_half_minute(w);
    w.engine().schedule<fails>("fails", flow::every(1min), {});
    w.engine().schedule("misfit", flow::every(1min), "report", flow::args(1, 2));
    w.pass(3min);
    CHECK(outside().count("failing") == 3);
    auto const misfit = w.engine().schedule_of("misfit");
    CHECK(misfit.fired == 0);
    CHECK(misfit.left_out == 3);
    CHECK_THAT(misfit.trouble, Contains("report") && Contains("takes"));
    // What it was refused is in its journal, whatever is registered when it is read again.
    w.restart(nullptr, [](flow::engine& e) { add_all(e), e.add<two_numbers>("report", flow::version{2}); });
    w.pass(1min);
    CHECK(outside().count("numbers") == 1);
    w.restart(nullptr, add_all);
    w.pass(1min);
    CHECK(w.engine().schedule_of("misfit").left_out == 4);
    // Put right, it goes on.
    w.engine().schedule("misfit", flow::every(1min), "report", flow::args("right"));
    w.pass(1min);
    CHECK(outside().count("report right") == 1);
    CHECK(w.engine().schedule_of("misfit").trouble.empty());
}

TEMPLATE_LIST_TEST_CASE("a schedule is changed in place by declaring it anew, also while it is paused", "[engine][schedule]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    to_half_minute(w);
    auto const it = w.engine().schedule<report>("sales", flow::every(1min), {}, "sales");
    w.pass(2min);
    REQUIRE(fired() == 2);
    CHECK(w.engine().schedule<report>("sales", flow::every(1h), {}, "more").id() == it.id());
    w.pass(30min);
    CHECK(fired() == 2);
    CHECK(w.engine().schedule_of("sales").when == flow::every(1h));
    w.pass(1h);
    CHECK(outside().count("report more") == 1);
    CHECK(w.engine().schedule_of("sales").fired == 3);

    w.engine().pause(it.id(), "holidays");
    w.settle();
    w.pass(5h);
    CHECK(outside().count("report more") == 1);
    w.engine().schedule<report>("sales", flow::every(2h), {}, "most");
    w.engine().resume(it.id());
    w.settle();
    w.pass(2h);
    CHECK(outside().count("report most") >= 1);
}

TEMPLATE_LIST_TEST_CASE("backfill fires what was left out, once, whoever asks and how often", "[engine][schedule]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    to_half_minute(w);
    auto const from = w.clock().now();
    w.engine().schedule<report>("sales", flow::every(1min), {}, "sales");
    w.pass(2min);
    w.stop();
    w.clock().advance(10min);
    w.restart();
    w.settle();
    REQUIRE(fired() == 3);
    CHECK(w.engine().backfill("sales", from, w.clock().now()) == 12);
    w.settle();
    CHECK(fired() == 12);
    CHECK(w.engine().backfill("sales", from, w.clock().now()) == 12);
    w.settle();
    CHECK(fired() == 12);
    CHECK(w.engine().schedule_of("sales").fired == 12);
    CHECK_THROWS_WITH(w.engine().backfill("sales", from, w.clock().now() + 1h), Contains("up to now"));
    CHECK_THROWS_WITH(w.engine().backfill("sales", from - std::chrono::days{30}, from), Contains("10000"));
    CHECK_THROWS_WITH(w.engine().backfill("sale", from, from), Contains("no schedule \"sale\""));
}

TEST_CASE("a schedule that was cancelled is begun anew by its declaration; all are listed", "[engine][schedule]")
{
    memory_stores place;
    world w(place.store, add_all);
    to_half_minute(w);
    auto const declare = [&] { return w.engine().schedule<report>("sales", flow::every(1min), {}, "sales"); };
    auto const it = declare();
    w.engine().schedule<report>("b/2", flow::every(1h), {}, "other");
    w.pass(1min);
    w.engine().cancel(it.id());
    w.settle();
    w.pass(5min);
    CHECK(fired() == 1);
    CHECK(w.engine().schedule_of("sales").status.run == flow::run_status::cancelled);
    auto const again = declare();
    CHECK(again.id() != it.id());
    w.pass(1min);
    CHECK(fired() == 2);
    auto const all = w.engine().schedules();
    REQUIRE(all.size() == 2);
    CHECK(all[0].name == "b/2");
    CHECK(all[1].run == again.id());
}

TEST_CASE("a firing that is buffered when the last instant has passed is fired, then the schedule ends", "[engine][schedule]")
{
    memory_stores place;
    world w(place.store, add_all);
    to_half_minute(w);
    auto const it = w.engine().schedule<long_report>("slow", flow::every(1min),
                                                     {.overlap = flow::overlap_policy::buffer_one, .until = w.clock().now() + 150s}, "slow");
    w.pass(3min + 10s);
    CHECK(outside().count("begin slow") == 2);
    CHECK(it.status().run == flow::run_status::succeeded);
}

TEST_CASE("a limit counts what was fired: not what could not be started, nor twice over changes and backfills", "[engine][schedule]")
{
    memory_stores place;
    world w(place.store, add_all);
    to_half_minute(w);
    auto const start = w.clock().now();
    auto const misfit = w.engine().schedule("misfit", flow::every(1min), "report", flow::args(1, 2), {.limit = 1});
    w.engine().schedule<report>("sales", flow::every(1min), {.limit = 2}, "sales");
    w.pass(5min);
    CHECK_FALSE(is_terminal(misfit.status().run));
    CHECK(fired() == 2);
    w.engine().schedule<report>("sales", flow::every(1min), {.limit = 2}, "others");  // it has come to its end
    w.pass(5min);
    CHECK(fired() == 2);
    w.engine().schedule<report>("sales", flow::every(1min), {.limit = 5}, "sales");  // three more
    w.pass(1min);
    CHECK(w.engine().schedule_of("sales").fired == 3);
    CHECK(w.engine().backfill("sales", start, w.clock().now()) == 11);
    w.settle();
    CHECK(fired() == 5);
    CHECK(w.engine().schedule_of("sales").status.run == flow::run_status::succeeded);
}

TEST_CASE("of changes that a paused schedule has not heard the last one counts, also at its end", "[engine][schedule]")
{
    memory_stores place;
    world w(place.store, add_all);
    to_half_minute(w);
    auto const declare = [&](flow::duration each, std::uint64_t limit) {
        return w.engine().schedule<report>("sales", flow::every(each), {.limit = limit}, "sales");
    };
    auto const it = declare(1min, 3);
    w.pass(2min);
    w.engine().pause(it.id());
    w.settle();
    declare(1h, 3);
    declare(1min, 3);
    declare(1min, 3);
    CHECK(w.engine().events({.run = it.id()}).size() == 2);
    declare(1min, 4);
    w.pass(5min);
    w.engine().resume(it.id());
    w.settle();
    CHECK(w.engine().schedule_of("sales").when == flow::every(1min));
    CHECK(fired() == 3);  // the latest of those that were missed
    w.pass(2min);
    CHECK(fired() == 4);
    CHECK(it.status().run == flow::run_status::succeeded);
}

TEST_CASE("a schedule that cannot keep up still hears what it is told", "[engine][schedule]")
{
    memory_stores place;
    flow::engine e(place.store, {.threads = 2});
    e.add<report>("report");
    auto const it = e.schedule<report>("busy", flow::every(1ms), {.overlap = flow::overlap_policy::allow, .catch_up = flow::catch_up_policy::all}, "busy");
    REQUIRE(eventually([&] { return e.schedule_of("busy").fired > 3; }));
    CHECK(e.schedule<report>("busy", flow::every(1h), {}, "calm").id() == it.id());
    CHECK(eventually([&] { return e.schedule_of("busy").when == flow::every(1h); }));
    e.cancel(it.id());
}

TEST_CASE("a backfill does not hide the run that is at work; a clock that was ahead once is forgotten with a change", "[engine][schedule]")
{
    memory_stores place;
    world w(place.store, add_all);
    to_half_minute(w);
    auto const start = w.clock().now();
    w.engine().schedule<long_report>("slow", flow::every(1min), {}, "slow");
    w.pass(40s);
    REQUIRE(outside().count("begin slow") == 1);
    w.engine().backfill("slow", start - 1min, start);
    w.settle();
    REQUIRE(outside().count("begin slow") == 2);
    w.pass(60s);  // the first is at work until 180 s
    CHECK(w.engine().schedule_of("slow").left_out == 1);
    CHECK(outside().count("begin slow") == 2);

    w.engine().schedule<report>("ahead", flow::every(1min), {}, "ahead");
    w.settle();
    w.stop();
    w.clock().jump(std::chrono::days{3650});
    w.restart();
    w.settle();
    w.stop();
    w.clock().jump(-std::chrono::days{3650});
    w.restart();
    auto const before = outside().count("report ahead");
    w.engine().schedule<report>("ahead", flow::every(2min), {}, "ahead");
    w.pass(2min);
    CHECK(outside().count("report ahead") == before + 1);
}

TEST_CASE("what is no schedule is refused, and leaves nothing", "[engine][schedule]")
{
    memory_stores place;
    world w(place.store, add_all);
    auto& e = w.engine();
    auto const one = flow::args("x");
    CHECK_THROWS_WITH(e.schedule("a b", flow::every(1min), "report", one), Contains("a b"));
    CHECK_THROWS_WITH(e.schedule("", flow::every(1min), "report", one), Contains("1 to 100"));
    CHECK_THROWS_WITH(e.schedule("a", flow::cron("61 * * * *"), "report", one), Contains("minute"));
    CHECK_THROWS_WITH(e.schedule("a", flow::cron("1 * * * *", "Mars/Base"), "report", one), Contains("Mars/Base"));
    CHECK_THROWS_WITH(e.schedule("a", flow::cron("0 0 30 2 *"), "report", one), Contains("never comes"));
    CHECK_THROWS_WITH(e.schedule("a", flow::every(1h, flow::duration::min()), "report", one), Contains("offset"));
    CHECK_THROWS_WITH(e.schedule("a", flow::every(1h), "report", one, {.grace = 0s}), Contains("grace"));
    CHECK_THROWS_WITH(e.schedule("a", flow::every(0s), "report", one), Contains("millisecond"));
    CHECK_THROWS_WITH(e.schedule("a", flow::every(1h), "report", one, {.until = w.clock().now()}), Contains("never comes"));
    CHECK_THROWS_WITH(e.schedule("a", flow::every(1h), "report", flow::args::json("[")), Contains("ends too early"));
    CHECK_THROWS_WITH(e.add<report>("flow.mine"), Contains("flow."));
    CHECK(e.schedules().empty());
    CHECK(e.runs().empty());
}
