// RG-08: what a loop of somebody's costs that drives an engine with nothing to do.
#include <thread>

#include <catch2/catch.hpp>

#include "allocations/counted.hpp"
#include "flow/flow.hpp"
#include "support/eventually.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

constexpr int runs = 1000, polls = 1000;

flow::workflow<int> waits(int how)
{
    if (how % 4 == 0) co_await flow::sleep_for(24h * 365);
    else co_await flow::wait_for_token<int>("answer");
    co_return how;
}

/// Allocations of a thousand polls, with as much time between them as a loop has.
std::size_t spent_in_polls(world& w)
{
    auto const before = allocations();
    for (int i = 0; i < polls; ++i) {
        w.engine().poll(2ms);
        w.clock().advance(10ms);
        std::this_thread::sleep_for(500us);
    }
    return allocations() - before;
}

std::size_t suspended(world& w)
{
    std::size_t n = 0;
    flow::run_filter which;
    which.status = flow::run_status::waiting;
    which.limit = 2 * runs;
    for (auto const& row : w.engine().runs(which)) n += row.status.execution == flow::execution_status::suspended;
    return n;
}

/// An engine with a thousand runs that wait and nothing that is due: `in_memory`, or written out.
template <class Stores>
struct idle_world {
    idle_world(bool in_memory, bool io_thread)
        : w(place.store, [](flow::engine& e) { e.add<waits>("waits"); }, [&] {
              flow::engine_options o;
              o.io_thread = io_thread;
              o.evict_after = in_memory ? flow::duration(24h * 365) : flow::duration(1s);
              return o;
          }())
    {
        for (int i = 0; i < runs; ++i) w.engine().template start<waits>(i);
        auto const all_wait = [&] {
            w.pass(2s);
            flow::run_filter which;
            which.status = flow::run_status::waiting;
            which.limit = 2 * runs;
            return w.engine().runs(which).size() == runs && suspended(w) == (in_memory ? 0U : runs);
        };
        REQUIRE(eventually(all_wait));
        spent_in_polls(w);  // what is made once: statements, buffers
    }
    Stores place;
    world w;
};

using local_stores = std::tuple<memory_stores, sqlite_stores>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("RG-08 a poll with a thousand waiting runs and nothing due allocates nothing", "[allocations][poll]", local_stores)
{
    bool const in_memory = GENERATE(true, false), io_thread = GENERATE(false, true);
    CAPTURE(in_memory, io_thread);
    idle_world<TestType> idle(in_memory, io_thread);
    // A statement is made once a connection, and which of two a look takes is chance: that may be later than the first rounds.
    std::size_t rounds = 0, spent = 0;
    while (rounds < 5 && (spent = spent_in_polls(idle.w)) != 0 && spent < 3) ++rounds;
    CHECK(spent == 0);
    // It was idle, not dead.
    flow::waitpoint_filter open;
    open.status = flow::waitpoint_status::pending;
    open.purpose = flow::waitpoint_purpose::token;
    idle.w.engine().complete_json(idle.w.engine().waitpoints(open).at(0).id, "1");
    CHECK(eventually([&] {
        idle.w.pass(10ms);
        flow::run_filter done;
        done.status = flow::run_status::succeeded;
        return idle.w.engine().runs(done).size() == 1;
    }));
}

#if FLOW_POSTGRES
TEST_CASE("what a poll with a thousand waiting runs and nothing due allocates on PostgreSQL", "[.][allocations][poll]")
{
    bool const io_thread = GENERATE(false, true);
    idle_world<postgres_stores> idle(false, io_thread);
    WARN((io_thread ? "with an io_thread: " : "in the poll: ") << spent_in_polls(idle.w) << " for " << polls << " polls");
}
#endif
