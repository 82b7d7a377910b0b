// Durable steps a second with many runs at once, on SQLite (design, section 13).
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "bench/bench.hpp"
#include "bench/journal_copy.hpp"
#include "bench/load.hpp"
#include "flow/stores.hpp"

namespace flow::bench {

namespace {

row steps_a_second(std::string const& name, load const& l)
{
    scratch dir;
    commit_counter counter;
    sqlite_options o;
    o.probe = counter.probe();
    {
        sqlite_options fast;
        fast.synchronous = sqlite_options::sync::normal;  // the backlog is not measured
        queue(sqlite(dir.file("flow.db"), fast), l);
    }
    auto const store = sqlite(dir.file("flow.db"), o);
    journal_copy const copy(dir.file("flow.db"));
    row r{name, execute(store, l, counter), "steps/s", 0, 0.5, bar_of::least_ratio};
    auto const rows = static_cast<double>(copy.rows());
    auto const steps = static_cast<double>(l.runs) * l.steps;
    auto const mean = rows / static_cast<double>(counter.applied() + counter.others());
    r.raw = steps / copy.seconds(dir.file("raw.db"), static_cast<std::size_t>(std::lround(std::max(mean, 1.0))));
    auto const full = steps / copy.seconds(dir.file("raw_full.db"), static_cast<std::size_t>(l.at_once));
    char note[200];
    std::snprintf(note, sizeof note,
                  "%.2f rows a step, %.0f a commit (%zu commits of the writer, %zu claims and others); raw with %d a commit: %.0f, ratio %.2f",
                  rows / steps, mean, counter.applied(), counter.others(), l.at_once, full, r.value / full);
    r.note = note;
    return r;
}

}  // namespace

// As many runs as make some seconds: the first claims and the last ends, when fewer are at once, count little.
row steps_64() { return steps_a_second("steps-64", {64, 4'000, 10}); }
row steps_256() { return steps_a_second("steps-256", {256, 8'000, 10}); }
row steps_long_256() { return steps_a_second("steps-long-256", {256, 256, 1'000}); }

}  // namespace flow::bench
