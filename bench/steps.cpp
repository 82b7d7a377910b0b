// One step after another, as a body sees it.
#include "bench/bench.hpp"
#include "flow/flow.hpp"

namespace flow::bench {

namespace {

struct sample {
    int count = 0;
    double mean = 0;
};

std::vector<double> gaps;
steady::time_point last;

void mark()
{
    auto const now = steady::now();
    gaps.push_back(microseconds(now - last));
    last = now;
}

workflow<int> idempotent_steps(int n)
{
    int sum = 0;
    for (int i = 0; i < n; ++i) {
        auto const s = co_await step("step", idempotent, [&] {
            mark();
            return sample{i, 0.5 * i};
        });
        sum += s.count;
    }
    co_return sum;
}

workflow<int> replayable_steps(int n)
{
    int sum = 0;
    for (int i = 0; i < n; ++i) {
        auto const s = co_await step("step", replayable, [&] { return sample{i, 0.5 * i}; }, {.inline_ = true});
        mark();
        sum += s.count;
    }
    co_return sum;
}

template <auto Fn>
double run_steps(std::string const& file, int n)
{
    gaps.clear();
    last = steady::now();
    flow::engine engine(flow::sqlite(file));
    engine.add<Fn>("bench");
    engine.template start<Fn>(n).result();
    return median(gaps);
}

}  // namespace

row step_latency()
{
    scratch dir;
    constexpr int n = 2000;
    raw_commits raw(dir.file("raw.db"));
    for (int i = 0; i < n; ++i) raw.once();
    return {"step-latency", run_steps<idempotent_steps>(dir.file("flow.db"), n), "us", raw.median(), 1.15, bar_of::ratio};
}

row replayable_latency()
{
    scratch dir;
    // Without a journal: the same function, and the hash that the journal needs.
    std::vector<double> calls;
    std::string payload = R"({"count":1,"mean":0.5})";
    for (int i = 0; i < 20'000; ++i) {
        auto const begin = steady::now();
        payload[9] = static_cast<char>('0' + i % 10);
        if (sha256(payload).is_none()) return {};
        calls.push_back(microseconds(steady::now() - begin));
    }
    return {"replayable-latency", run_steps<replayable_steps>(dir.file("flow.db"), 100'000), "us", median(calls), 2.0};
}

}  // namespace flow::bench
