// A frame that a slow disk must not hold up: poll at 60 Hz beside commits of 200 ms (design, section 13).
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <thread>

#include "bench/bench.hpp"
#include "flow/flow.hpp"

namespace flow::bench {

namespace {

constexpr auto budget = std::chrono::milliseconds{2};
constexpr auto frame_time = std::chrono::microseconds{16'667};
constexpr auto sync_time = std::chrono::milliseconds{200};
constexpr int frames = 300;

workflow<int> patrols()
{
    int n = 0;
    for (;;) {
        n += co_await step("look", idempotent, [] { return 1; });
        n += co_await step("note", replayable, [] { return 1; }, {.inline_ = true});
        co_await sleep_for(std::chrono::milliseconds{20});
    }
}

/// Milliseconds beyond the budget of the longest of all calls, one a frame.
template <class Call>
double longest_over_budget(Call const& call)
{
    steady::duration longest{};
    auto next = steady::now();
    for (int i = 0; i < frames; ++i) {
        auto const begin = steady::now();
        call();
        longest = std::max(longest, steady::now() - begin);
        next += frame_time;
        std::this_thread::sleep_until(next);
    }
    return std::max(0.0, microseconds(longest - budget) / 1000);
}

}  // namespace

row frame_slow_sync()
{
    scratch dir;
    std::atomic<bool> slow{false};
    std::atomic<int> syncs{0};
    sqlite_options slow_disk;
    slow_disk.probe = [&](std::string_view, probe_point p) {
        // Here the store's lock is held and the disk is about to be waited for, as in a sync that takes so long.
        if (!slow || p != probe_point::before_commit) return;
        std::this_thread::sleep_for(sync_time);
        ++syncs;
    };
    row r{"frame-slow-sync", 0, "ms", 0, 2.0};
    {
        engine_options o;
        o.threads = 0;
        o.io_thread = true;
        flow::engine engine(flow::sqlite(dir.file("flow.db"), slow_disk), o);
        engine.add<patrols>("patrols");
        for (int i = 0; i < 16; ++i) engine.start<patrols>();
        slow = true;
        r.value = longest_over_budget([&] { engine.poll(budget); });
        slow = false;
    }
    if (syncs < 5) return {};
    r.raw = longest_over_budget([] {
        for (auto const end = steady::now() + budget; steady::now() < end;) {
        }
    });
    char note[120];
    std::snprintf(note, sizeof note, "beyond a budget of 2 ms, over %d frames and %d syncs of 200 ms; raw: a bare loop of 2 ms", frames,
                  syncs.load());
    r.note = note;
    return r;
}

}  // namespace flow::bench
