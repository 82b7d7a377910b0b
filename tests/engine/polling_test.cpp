// RG-01: the engine inside somebody else's loop. DW-02, TS-09: what waits costs no thread, and is taken over as a whole.
#include <catch2/catch.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "engine/dying.hpp"
#include "engine/process_facts.hpp"
#include "flow/asio.hpp"
#include "flow/flow.hpp"
#include "support/eventually.hpp"
#include "support/stores.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

constexpr auto frame_time = std::chrono::microseconds{16'667};

flow::workflow<int> a_bit_of_everything()
{
    auto n = co_await flow::step("pure", flow::replayable, [] { return 1; });
    n += co_await flow::step("in place", flow::replayable, [] { return 10; }, {.inline_ = true});
    n += co_await flow::step("act", flow::non_replayable, [] { return outside().note("act"), 100; });
    n += co_await flow::step("coroutine", flow::idempotent, []() -> boost::asio::awaitable<int> { co_return 1'000; });
    n += co_await flow::step("again", flow::idempotent,
                             [](flow::attempt& a) {
                                 if (a.number() == 1) throw std::runtime_error("once");
                                 return 10'000;
                             },
                             {.timeout = 1h, .retry = {.first_delay = 200ms}});
    co_await flow::sleep_for(35ms);
    co_await flow::sleep_for(10s);
    outside().note("asks");
    n += co_await flow::wait_for_token<int>("answer");
    co_return n;
}

flow::workflow<int> counts()
{
    co_return co_await flow::step("count", flow::idempotent, [] { return outside().note("count"), 1; });
}

flow::workflow<int> waits(int how)
{
    if (how % 2 == 0) co_await flow::sleep_for(24h);
    else co_await flow::wait_for_token<int>("answer");
    co_return how;
}

void add_all(flow::engine& e)
{
    e.add<a_bit_of_everything>("a_bit_of_everything");
    e.add<counts>("counts");
    e.add<waits>("waits");
}

/// One turn of somebody's loop; false when the run is over.
bool frame(world& w, flow::run_id id)
{
    w.engine().poll(2ms);
    w.clock().advance(frame_time);
    if (w.status(id) == flow::run_status::waiting && outside().count("asks") == 1 && outside().count("answered") == 0) {
        w.engine().complete_json(w.open_token("answer"), "100000");
        outside().note("answered");
    }
    return !is_terminal(w.status(id));
}

std::size_t how_many(flow::client& c, flow::run_status status)
{
    flow::run_filter which;
    which.status = status;
    which.limit = 1'000;
    return c.runs(which).size();
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("RG-01 a loop of 60 frames a second drives steps, sleeps and tokens by poll alone, without a thread",
                        "[engine][poll]", every_store)
{
    TestType place;
    auto const before = threads_now();
    world w(place.store, add_all);
    auto const id = w.engine().template start<a_bit_of_everything>().id();
    int most = 0;
    int frames = 0;
    SECTION("a bare loop")
    {
        while (frame(w, id) && ++frames < 100'000) most = std::max(most, new_threads_since(before));
    }
    SECTION("an io_context of one's own")
    {
        boost::asio::io_context io;
        std::function<void()> next = [&] {
            most = std::max(most, new_threads_since(before));
            if (frame(w, id) && ++frames < 100'000) boost::asio::post(io, next);
        };
        boost::asio::post(io, next);
        io.run();
    }
    CHECK(w.view(id).result == "111111");
    CHECK(outside().all() == std::vector<std::string>{"act", "asks", "answered"});
    CHECK(frames >= 10s / frame_time);  // nothing was waited for but by frames
    CHECK(most == TestType::threads);
}

TEST_CASE("RG-01 poll keeps to its limit, says what is left, and when to come back", "[engine][poll]")
{
    memory_stores place;
    world w(place.store, add_all);
    w.settle();
    for (int i = 0; i < 50; ++i) w.engine().start<counts>();
    int polls = 0;
    while (w.engine().poll(0ms).work_left) ++polls;
    CHECK(polls > 10);  // one turn's worth at a time
    CHECK(outside().count("count") == 50);
    CHECK(w.engine().poll(1s).next_due == flow::duration::max());

    w.engine().start<waits>(0);
    w.settle();
    w.clock().advance(1h);
    auto const idle = w.engine().poll(1s);
    CHECK_FALSE(idle.work_left);
    CHECK(idle.next_due == 23h);
    w.clock().advance(idle.next_due);
    w.settle();
    CHECK(how_many(w.engine(), flow::run_status::waiting) == 0);
}

TEMPLATE_LIST_TEST_CASE("DW-02 two hundred waiting runs cost no thread and no open file", "[engine][wait]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    for (int i = 0; i < 2; ++i) w.engine().template start<waits>(i);
    w.settle();
    auto const before = threads_now();
    auto const files = open_files_now();
    for (int i = 2; i < 200; ++i) w.engine().template start<waits>(i);
    w.settle();
    REQUIRE(how_many(w.engine(), flow::run_status::waiting) == 200);
    CHECK(new_threads_since(before) == 0);
    CHECK(open_files_now() == files);
}

TEMPLATE_LIST_TEST_CASE("TS-09 DW-02 two hundred waiting runs make no thread of an engine's own, and another engine takes them over",
                        "[engine][wait][recovery]", every_store)
{
    dying_place<TestType> place;
    manual_clock clock;
    flow::engine_options o;
    o.threads = o.most_threads = 2;
    o.clock = &clock;
    o.log = nullptr;
    {
        flow::engine first(place.open(), o);
        auto const before = threads_now();
        add_all(first);
        for (int i = 0; i < 200; ++i) first.start<waits>(i);
        REQUIRE(eventually([&] { return how_many(first, flow::run_status::waiting) == 200; }));
        CHECK(new_threads_since(before) == 0);
        place.cut_off();
    }
    place.bury();
    clock.advance(24h);
    flow::engine second(place.open(), o);
    auto const before = threads_now();
    add_all(second);
    REQUIRE(eventually([&] { return how_many(second, flow::run_status::succeeded) == 100; }));
    CHECK(how_many(second, flow::run_status::waiting) == 100);
    flow::waitpoint_filter open;
    open.status = flow::waitpoint_status::pending;
    open.purpose = flow::waitpoint_purpose::token;
    open.limit = 1'000;
    for (auto const& token : second.waitpoints(open)) second.complete_json(token.id, "1");
    CHECK(eventually([&] { return how_many(second, flow::run_status::succeeded) == 200; }));
    CHECK(new_threads_since(before) == 0);
}
