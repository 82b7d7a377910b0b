// What it costs to leave a run to a waitpoint instead of sleeping in place: where the suspend threshold should stand (TD-18).
#include <cstdio>

#include "bench/bench.hpp"
#include "flow/flow.hpp"

namespace flow::bench {

namespace {

workflow<int> sleeps(int n)
{
    for (int i = 0; i < n; ++i) co_await sleep_for(std::chrono::seconds{1});
    co_return n;
}

/// Time passes when the engine has nothing else to do: what remains is the work.
class skipping_clock final : public clock {
public:
    time_point now() const noexcept override { return time_point(std::chrono::days{20'000}) + passed_; }
    duration steady() const noexcept override { return passed_; }
    void skip(duration d) { passed_ += d; }

private:
    duration passed_{};
};

/// Microseconds a sleep.
double run_sleeps(std::string const& file, int n, duration threshold)
{
    skipping_clock clock;
    engine_options o;
    o.threads = 0;
    o.clock = &clock;
    o.suspend_threshold = threshold;
    flow::engine engine(flow::sqlite(file), o);
    engine.add<sleeps>("bench");
    auto const run = engine.start<sleeps>(n);
    auto const begin = steady::now();
    while (!is_terminal(run.status().run)) {
        auto const r = engine.poll(std::chrono::seconds{1});
        if (!r.work_left) clock.skip(r.next_due);
    }
    return microseconds(steady::now() - begin) / n;
}

}  // namespace

row suspend_resume()
{
    scratch dir;
    constexpr int n = 500;
    raw_sqlite raw(dir.file("raw.db"));
    std::vector<double> pairs;
    for (int i = 0; i < n; ++i) {
        auto const begin = steady::now();
        for (int half = 0; half < 2; ++half) {
            raw.run("begin immediate");
            raw.insert(1, 2 * i + half + 1, "1");
            raw.run("commit");
        }
        pairs.push_back(microseconds(steady::now() - begin));
    }
    auto const suspended = run_sleeps(dir.file("suspended.db"), n, duration::zero());
    auto const in_place = run_sleeps(dir.file("in_place.db"), n, std::chrono::hours{1});
    row r{"suspend-resume", suspended, "us", median(pairs), 2.0, bar_of::ratio};
    char note[120];
    std::snprintf(note, sizeof note, "in place %.0f us; the difference is 1%% of a sleep of %.0f ms", in_place,
                  (suspended - in_place) / 10);
    r.note = note;
    return r;
}

}  // namespace flow::bench
