// A schedule whose firings overlap, in a process that dies at every write of the store. Each new process begins with its clock set back.
#include "crash/sweep.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

flow::workflow<void> report()
{
    co_await flow::step("begin", flow::replayable, [] {});
    co_await flow::sleep_for(90s);
    co_await flow::step("end", flow::replayable, [] { outside().note("end"); });
}

void add(flow::engine& e) { e.add<report>("report"); }

bool advance(world& w)
{
    try {
        w.engine().schedule<report>("pulse", flow::every(1min), {.overlap = flow::overlap_policy::buffer_one, .limit = 4});
        w.pass(1min);
        return w.store()->change_counter().has_value();
    } catch (flow::error const&) {
        return false;
    }
}

/// Four runs for four instants, whatever died: no instant was fired twice, none that was counted is missing.
bool has_ended(world& w)
{
    try {
        auto const s = w.engine().schedule_of("pulse");
        flow::run_filter fired;
        fired.tag = "schedule:pulse";
        auto const runs = w.engine().runs(fired);
        CHECK(runs.size() <= 4);
        if (s.status.run != flow::run_status::succeeded || s.fired != 4 || runs.size() != 4) return false;
        return std::all_of(runs.begin(), runs.end(), [](auto const& r) { return r.status.run == flow::run_status::succeeded; });
    } catch (flow::error const&) {
        return false;
    }
}

bool run_to_end(world& w) { return step_to_end(w, 40, advance, has_ended); }

scenario const every_firing{add, run_to_end, [] { CHECK(outside().count("end") >= 4); }, 40};

}  // namespace

TEST_CASE("a schedule, dying before any write lands: memory", "[crash][schedule]") { sweep<memory_place>(every_firing, fault::lose); }
TEST_CASE("a schedule, dying after any write, its answer lost: memory", "[crash][schedule]") { sweep<memory_place>(every_firing, fault::crash); }
TEST_CASE("a schedule, dying after any write: SQLite", "[crash][schedule][slow]") { sweep<sqlite_place>(every_firing, fault::crash); }
