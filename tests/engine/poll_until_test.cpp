// poll_until: looks until it is so, writes the answer once, keeps its time limit over restarts, costs nothing while a pause is long.
#include <catch2/catch.hpp>

#include "dying.hpp"
#include "flow/flow.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

/// What the looks see; the test sets it.
struct scene {
    int so_after = 0;  ///< the look that says yes; 0: none
    int looks = 0;
    int throws_at = 0, throws_times = 0;
    std::vector<flow::duration> at;  ///< steady, of each look
    manual_clock* clock = nullptr;
};
scene here;

std::optional<int> look()
{
    ++here.looks;
    if (here.clock) here.at.push_back(here.clock->steady());
    if (here.throws_at > 0 && here.looks >= here.throws_at && here.looks < here.throws_at + here.throws_times)
        throw std::runtime_error("the sensor is away");
    if (here.so_after > 0 && here.looks >= here.so_after) return here.looks;
    return std::nullopt;
}

flow::workflow<int> arrives(int every_ms)
{
    auto const n = co_await flow::poll_until("arm", look, {.every = std::chrono::milliseconds{every_ms}});
    co_await flow::wait_for_token<void>("go on");
    co_return n;
}

flow::workflow<std::string> five_minutes(int every_ms)
{
    auto const n = co_await flow::as_outcome(flow::poll_until("arm", look, {.every = std::chrono::milliseconds{every_ms}, .timeout = 5min}));
    if (n) co_return std::to_string(*n);
    outside().note(n.error().message());
    co_return std::string(flow::row_of(n.error().code()).name);
}

flow::workflow<int> backs_off()
{
    co_return co_await flow::poll_until("arm", look, {.every = 100ms, .backoff = 2.0F, .cap = 500ms});
}

flow::workflow<int> inline_bool()
{
    co_await flow::poll_until("flag", [](flow::attempt& a) { return look().has_value() && a.number() == 1; }, {.every = 35ms, .inline_ = true});
    co_return here.looks;
}

flow::workflow<int> ticks()
{
    co_await flow::sleep_for(35ms);
    outside().note("timer");
    co_await flow::wait_for_token<void>("between");
    outside().note("token");
    co_return co_await flow::poll_until("arm", look, {.every = 35ms, .inline_ = true});
}

flow::workflow<std::string> beside_a_token(int every_ms)
{
    auto const first = co_await flow::any(flow::poll_until("arm", look, {.every = std::chrono::milliseconds{every_ms}}),
                                          flow::wait_for_token<void>("enough"));
    auto const won = first.index() == 0 ? "arm" : "token";
    co_await flow::wait_for_token<void>("go on");
    co_return won;
}

flow::workflow<int> two_side_by_side()
{
    auto const [a, b] = co_await flow::all(flow::poll_until("left", look, {.every = 10s}), flow::poll_until("right", look, {.every = 200ms, .inline_ = true}));
    co_await flow::wait_for_token<void>("go on");
    co_return a + b;
}

flow::workflow<int> heeds_its_limit()
{
    auto const r = co_await flow::as_outcome(flow::poll_until("arm", [](flow::attempt& a) {
        outside().note(a.time_left() <= 2s ? "limited" : "unlimited");
        here.clock->advance(3s);
        return false;
    }, {.every = 100ms, .timeout = 2s}));
    co_return r ? 0 : static_cast<int>(r.error().code());
}

flow::workflow<int> gives_up()
{
    co_await flow::poll_until("arm", []() -> bool { throw flow::permanent_error("no such arm"); });
    co_return 0;
}

void add_all(flow::engine& e)
{
    e.add<arrives>("arrives");
    e.add<five_minutes>("five_minutes");
    e.add<backs_off>("backs_off");
    e.add<inline_bool>("inline_bool");
    e.add<ticks>("ticks");
    e.add<beside_a_token>("beside_a_token");
    e.add<two_side_by_side>("two_side_by_side");
    e.add<heeds_its_limit>("heeds_its_limit");
    e.add<gives_up>("gives_up");
}

int timers_in(world& w, flow::waitpoint_status status)
{
    flow::waitpoint_filter which;
    which.purpose = flow::waitpoint_purpose::timer;
    which.status = status;
    return static_cast<int>(w.engine().waitpoints(which).size());
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a poll writes one entry when it begins and one when it is so, whatever it looked", "[engine][poll_until]", every_store)
{
    here = {};
    here.so_after = 200;
    TestType place;
    world w(place.store, add_all);
    auto run = w.engine().start<arrives>(100);
    w.pass(10s);
    CHECK(here.looks == 101);
    auto const before = w.journal(run.id()).size();
    w.pass(9s);
    CHECK(here.looks == 191);
    CHECK(w.journal(run.id()).size() == before);
    CHECK(w.view(run.id()).doing == "It runs step arm#0, attempt 1.");
    w.pass(1s);
    CHECK(here.looks == 200);
    CHECK(w.entries(run.id(), flow::entry_kind::started) == 1);
    CHECK(w.entries(run.id(), flow::entry_kind::step) == 1);
    CHECK(timers_in(w, flow::waitpoint_status::pending) == 0);

    w.restart();
    w.settle();
    w.engine().complete_json(w.open_token(), "null");
    w.settle();
    CHECK(run.result() == 200);
    CHECK(here.looks == 200);  // replay does not look
}

TEMPLATE_LIST_TEST_CASE("WT-19 a poll of five minutes ends five minutes after its first look, its process restarted every minute",
                        "[engine][poll_until]", every_store)
{
    int const every_ms = GENERATE(1000, 45'000);
    here = {};
    TestType place;
    world w(place.store, add_all);
    auto run = w.engine().start<five_minutes>(every_ms);
    w.settle();
    for (int minute = 1; minute <= 4; ++minute) {
        w.pass(40s);
        w.stop();
        w.clock().advance(20s);
        w.restart();
    }
    w.pass(1min - 1ms);
    CHECK_FALSE(is_terminal(w.status(run.id())));
    auto const looks = here.looks;
    w.pass(1ms);
    CHECK(run.result() == "wait_timeout");
    CHECK(here.looks == looks + 1);  // at the limit it looks once more
    CHECK(outside().count("what arm#0 waits for did not come within its time limit") == 1);
}

TEMPLATE_LIST_TEST_CASE("WT-19 a poll whose limit passed while nothing ran looks once more", "[engine][poll_until]", every_store)
{
    bool const is_so = GENERATE(true, false);
    here = {};
    TestType place;
    world w(place.store, add_all);
    auto run = w.engine().start<five_minutes>(60'000);
    w.pass(90s);
    CHECK(here.looks == 2);
    w.stop();
    w.clock().advance(1h);
    if (is_so) here.so_after = 3;
    w.restart();
    w.settle();
    CHECK(run.result() == (is_so ? "3" : "wait_timeout"));
    CHECK(here.looks == 3);
}

TEMPLATE_LIST_TEST_CASE("a killed process loses no time limit and no pause of a poll", "[engine][poll_until]", every_store)
{
    int const every_ms = GENERATE(1000, 45'000);
    here = {};
    dying_place<TestType> place;
    world w(place.open(), add_all);
    auto const id = w.engine().start<five_minutes>(every_ms).id();
    w.pass(100s);
    auto const looks = here.looks;
    place.die(w);
    w.pass(10s);
    CHECK(here.looks == (every_ms == 1000 ? looks + 11 : looks));  // a long pause is where it was: the next look is due at 135 s
    w.pass(190s - 1ms);
    CHECK_FALSE(is_terminal(w.status(id)));
    w.pass(1ms);
    CHECK(w.view(id).result == "\"wait_timeout\"");
}

TEMPLATE_LIST_TEST_CASE("WT-19 a poll whose process is killed again and again ends at its limit, and nobody is asked about the crashes",
                        "[engine][poll_until]", every_store)
{
    here = {};
    dying_place<TestType> place;
    world w(place.open(), add_all);
    auto const id = w.engine().start<five_minutes>(1000).id();
    w.settle();
    for (int i = 1; i <= 9; ++i) {
        w.pass(30s);
        place.die(w);
    }
    w.pass(30s - 1ms);
    CHECK(w.status(id) == flow::run_status::running);
    w.pass(1ms);
    CHECK(w.view(id).result == "\"wait_timeout\"");
}

TEMPLATE_LIST_TEST_CASE("a poll that pauses longer than the threshold stands on a timer, and leaves memory", "[engine][poll_until]", every_store)
{
    here = {};
    here.so_after = 4;
    TestType place;
    world w(place.store, add_all);
    auto run = w.engine().start<arrives>(20'000);
    w.pass(1s);
    CHECK(w.status(run.id()) == flow::run_status::waiting);
    CHECK(w.view(run.id()).doing.find("arm#0 says \"not yet\": it looks again at ") == 0);
    CHECK(timers_in(w, flow::waitpoint_status::pending) == 1);
    w.pass(10s);
    CHECK(w.view(run.id()).row.status.execution == flow::execution_status::suspended);
    CHECK(here.looks == 1);
    w.pass(9s);
    CHECK(here.looks == 2);
    w.stop();
    w.clock().advance(3h);
    w.restart();
    w.settle();
    CHECK(here.looks == 3);  // once, however many were missed
    w.pass(20s);
    CHECK(here.looks == 4);
    CHECK(timers_in(w, flow::waitpoint_status::pending) == 0);
    w.engine().complete_json(w.open_token(), "null");
    w.settle();
    CHECK(run.result() == 4);
    CHECK(w.entries(run.id(), flow::entry_kind::started) == 7);  // the first, and two for each pause
}

TEST_CASE("a poll's pauses grow up to their cap", "[engine][poll_until]")
{
    here = {};
    here.so_after = 6;
    memory_stores place;
    world w(place.store, add_all);
    here.clock = &w.clock();
    auto run = w.engine().start<backs_off>();
    w.pass(10s);
    CHECK(run.result() == 6);
    std::vector<flow::duration> pauses;
    for (std::size_t i = 1; i < here.at.size(); ++i) pauses.push_back(here.at[i] - here.at[i - 1]);
    CHECK(pauses == std::vector<flow::duration>{100ms, 200ms, 400ms, 500ms, 500ms});
}

TEST_CASE("RG-04 with ticks of 10 ms a pause of 35 ms ends on the fourth, a token counts on the next, nothing between", "[engine][poll_until]")
{
    here = {};
    here.so_after = 2;
    memory_stores place;
    world w(place.store, add_all);
    auto const tick = [&] {
        w.clock().advance(10ms);
        w.settle();
    };
    auto run = w.engine().start<ticks>();
    w.settle();
    for (int i = 1; i <= 3; ++i) tick();
    CHECK(outside().count("timer") == 0);
    tick();
    CHECK(outside().count("timer") == 1);
    w.engine().complete_json(w.open_token(), "null");
    CHECK(outside().count("token") == 0);
    tick();
    CHECK(outside().count("token") == 1);
    CHECK(here.looks == 1);
    for (int i = 1; i <= 3; ++i) tick();
    CHECK(here.looks == 1);
    tick();
    CHECK(here.looks == 2);
    CHECK(run.result() == 2);
}

TEST_CASE("a look in place takes an attempt and may return bool", "[engine][poll_until]")
{
    here = {};
    here.so_after = 3;
    sqlite_stores place;
    world w(place.store, add_all);
    auto run = w.engine().start<inline_bool>();
    w.pass(70ms);
    CHECK(run.result() == 3);
    CHECK(w.journal(run.id()).size() > 0);
    for (auto const& e : w.journal(run.id()))
        if (e.kind == flow::entry_kind::step) CHECK(e.payload == "null");
}

TEMPLATE_LIST_TEST_CASE("looks that throw three times in a row are the poll's failure; a look that says not yet parts two rows",
                        "[engine][poll_until]", every_store)
{
    here = {};
    here.throws_at = 3;
    TestType place;
    world w(place.store, add_all);
    auto run = w.engine().start<arrives>(1000);

    SECTION("twice: it goes on")
    {
        here.throws_times = 2;
        here.so_after = 8;
        w.pass(4s);
        CHECK(w.entries(run.id(), flow::entry_kind::attempt_failed) == 2);
        w.restart();  // what is behind it stays behind it
        here.throws_at = 6;
        w.pass(10s);
        CHECK(w.entries(run.id(), flow::entry_kind::attempt_failed) == 4);
        w.engine().complete_json(w.open_token(), "null");
        w.settle();
        CHECK(run.result() == 8);
    }
    SECTION("three times, a restart between them")
    {
        here.throws_times = 3;
        w.pass(2s);
        CHECK(w.entries(run.id(), flow::entry_kind::attempt_failed) == 1);
        w.restart();
        w.pass(10s);
        CHECK(here.looks == 5);
        CHECK_THROWS_WITH(run.result(), Catch::Contains("the sensor is away"));
    }
}

TEST_CASE("a poll that throws at its limit times out and says why", "[engine][poll_until]")
{
    here = {};
    memory_stores place;
    world w(place.store, add_all);
    auto run = w.engine().start<five_minutes>(1000);
    w.pass(4min + 59s);
    here.throws_at = here.looks + 1;
    here.throws_times = 1000;
    w.pass(2s);
    CHECK(run.result() == "wait_timeout");
    CHECK(outside().count("what arm#0 waits for did not come within its time limit; the last look failed: the sensor is away") == 1);
}

TEST_CASE("a look is told how long it has, and one that outlasts the limit is the last", "[engine][poll_until]")
{
    here = {};
    memory_stores place;
    world w(place.store, add_all);
    here.clock = &w.clock();
    auto run = w.engine().start<heeds_its_limit>();
    w.settle();
    CHECK(run.result() == static_cast<int>(flow::errc::wait_timeout));
    CHECK(outside().all() == std::vector<std::string>{"limited"});
}

TEST_CASE("a permanent error ends a poll at once", "[engine][poll_until]")
{
    here = {};
    memory_stores place;
    world w(place.store, add_all);
    auto run = w.engine().start<gives_up>();
    w.settle();
    CHECK_THROWS_WITH(run.result(), Catch::Contains("no such arm"));
}

TEMPLATE_LIST_TEST_CASE("a cancel ends a poll between two looks, in memory and out of it", "[engine][poll_until]", every_store)
{
    int const every_ms = GENERATE(1000, 60'000);
    bool const meanwhile = GENERATE(false, true);
    here = {};
    TestType place;
    world w(place.store, add_all);
    auto run = w.engine().start<arrives>(every_ms);
    w.pass(10s);
    auto const looks = here.looks;
    if (meanwhile) {
        w.stop();
        flow::client(place.store).cancel(run.id(), "enough");
        w.restart();
    } else {
        run.cancel("enough");
    }
    w.settle();
    CHECK(w.status(run.id()) == flow::run_status::cancelled);
    CHECK(here.looks == looks);
    CHECK(timers_in(w, flow::waitpoint_status::pending) == 0);
}

TEMPLATE_LIST_TEST_CASE("a poll races a token, and replay tells the same winner", "[engine][poll_until]", every_store)
{
    int const every_ms = GENERATE(1000, 60'000);
    bool const token_wins = GENERATE(false, true);
    here = {};
    TestType place;
    world w(place.store, add_all);
    auto run = w.engine().start<beside_a_token>(every_ms);
    w.pass(30s);
    if (token_wins) w.engine().complete_json(w.open_token("enough"), "null");
    else here.so_after = 1;
    w.pass(2min);
    w.restart();
    w.settle();
    w.engine().complete_json(w.open_token("go on"), "null");
    w.settle();
    CHECK(run.result() == (token_wins ? "token" : "arm"));
    CHECK(timers_in(w, flow::waitpoint_status::pending) == 0);
}

TEMPLATE_LIST_TEST_CASE("two polls side by side end in the order of the journal on replay", "[engine][poll_until]", every_store)
{
    here = {};
    here.so_after = 5;
    TestType place;
    world w(place.store, add_all);
    auto run = w.engine().start<two_side_by_side>();
    w.pass(11s);
    w.restart();
    w.settle();
    w.engine().complete_json(w.open_token("go on"), "null");
    w.settle();
    CHECK(run.result() == 5 + 6);
}

TEST_CASE("pauses that would spin, and backoffs that shrink, are refused at the call", "[poll_until]")
{
    CHECK_THROWS_WITH(flow::poll_until("arm", look, {.every = 0ms}), Catch::Contains("poll_until \"arm\"") && Catch::Contains("every"));
    CHECK_THROWS_WITH(flow::poll_until("arm", look, {.backoff = 0.5F}), Catch::Contains("backoff"));
    CHECK_THROWS_WITH(flow::poll_until("arm", look, {.backoff = std::numeric_limits<float>::quiet_NaN()}), Catch::Contains("backoff"));
}
