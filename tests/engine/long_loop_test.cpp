// A million steps in one run, with a checkpoint every thousand: memory stays flat, and coming back reads one turn.
#include <catch2/catch.hpp>
#include <unistd.h>

#include <fstream>

#include "flow/flow.hpp"
#include "support/stores.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

constexpr int turns = 1000, steps = 1000;

struct loop_state {
    int turn = 0;
    std::int64_t sum = 0;
};

flow::workflow<std::int64_t> counts()
{
    auto s = co_await flow::state<loop_state>();
    bool const over = s.turn == turns;
    if (over) co_return s.sum;
    bool const half = s.turn == turns / 2;
    if (half) co_await flow::wait_for_token<int>("half");
    for (int i = 0; i < steps; ++i) s.sum += co_await flow::step("count", flow::replayable, [] { return 1; }, {.inline_ = true});
    ++s.turn;
    co_await flow::checkpoint(s);
    co_return 0;
}

long resident_kb()
{
    long pages = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> pages >> resident;
    return resident * (::sysconf(_SC_PAGESIZE) / 1024);
}

}  // namespace

TEST_CASE("a run of a million steps with checkpoints: memory is flat, and it comes back to its newest turn", "[engine][segment][slow]")
{
    temp_dir dir;
    flow::sqlite_options o;
    o.synchronous = flow::sqlite_options::sync::normal;  // what is at stake here is memory
    auto const file = dir.file("flow.db");
    flow::run_id id;
    auto const wait_for = [](flow::engine& e, flow::run_id run, flow::run_status status) {
        for (int i = 0; i < 30'000 && e.find(run).status().run != status; ++i) std::this_thread::sleep_for(10ms);
        return e.find(run).status().run == status;
    };
    auto const options = [] {
        flow::engine_options e;
        e.threads = 2;
        e.log = nullptr;
        return e;
    };
    auto const before = resident_kb();
    {
        flow::engine engine(flow::sqlite(file, o), options());
        engine.add<counts>("counts");
        id = engine.start<counts>().id();
        REQUIRE(wait_for(engine, id, flow::run_status::waiting));
    }
    flow::engine engine(flow::sqlite(file, o), options());
    engine.add<counts>("counts");
    CHECK(engine.data().load(id).value()->entries.size() < 20);  // of half a million
    CHECK(engine.inspect(id).entries > turns / 2 * steps);
    flow::waitpoint_filter open;
    open.run = id;
    open.status = flow::waitpoint_status::pending;
    engine.complete_json(engine.waitpoints(open).at(0).id, "1");
    REQUIRE(wait_for(engine, id, flow::run_status::succeeded));
    CHECK(engine.find(id).end().result == std::to_string(turns * steps));
    CHECK(resident_kb() - before < 60'000);  // a window that is not durable yet, and SQLite's pages: not a million entries
}
