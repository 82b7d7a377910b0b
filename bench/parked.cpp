// What runs that wait take of the process's memory (design, section 13).
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "bench/bench.hpp"
#include "flow/flow.hpp"

namespace flow::bench {

namespace {

workflow<int> waits(int n) { co_return n + co_await wait_for_token<int>("answer"); }

double resident_mb()
{
    long pages = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> pages >> resident;
    return static_cast<double>(resident * ::sysconf(_SC_PAGESIZE)) / 1e6;
}

row park(std::string const& name, int runs)
{
    scratch dir;
    sqlite_options o;
    o.synchronous = sqlite_options::sync::normal;  // what is measured is memory
    auto const store = sqlite(dir.file("flow.db"), o);
    run_id newest;
    auto const begin = steady::now();
    {
        client c(store);
        for (int i = 0; i < runs; ++i) newest = c.start("waits", args(i)).id();
    }
    auto const started = steady::now();
    ::malloc_trim(0);  // what earlier rows have left
    row r{name, 0, "MB", resident_mb(), 100, bar_of::value};
    engine_options options;
    options.evict_after = std::chrono::seconds{0};
    flow::engine engine(store, options);
    engine.add<waits>("waits");
    auto const last = engine.find(newest);  // begun last: the store gives runs out in the order of their start
    double highest = 0;
    while (last.status().execution != execution_status::suspended) {
        if (steady::now() - started > std::chrono::hours{1}) throw std::runtime_error("the runs do not come to rest");
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
        highest = std::max(highest, resident_mb());
    }
    auto const parked = steady::now();
    std::this_thread::sleep_for(std::chrono::seconds{1});
    r.value = resident_mb();
    ::malloc_trim(0);
    char note[200];
    std::snprintf(note, sizeof note,
                  "%d runs; the most on the way %.1f MB, without what malloc keeps %.1f MB; raw: before the engine; started in %.0f s, parked in %.0f s",
                  runs, highest, resident_mb(), microseconds(started - begin) / 1e6, microseconds(parked - started) / 1e6);
    r.note = note;
    return r;
}

}  // namespace

row parked_200k() { return park("parked-200k", 200'000); }
row parked() { return park("parked", 1'000'000); }

}  // namespace flow::bench
