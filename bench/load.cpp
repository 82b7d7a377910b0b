#include "bench/load.hpp"

#include <stdexcept>
#include <thread>
#include <vector>

#include "bench/bench.hpp"
#include "flow/flow.hpp"

namespace flow::bench {

namespace {

struct sample {
    int count = 0;
    double mean = 0;
};

std::atomic<int> bodies_left{0};

workflow<int> many_steps(int n)
{
    int sum = 0;
    for (int i = 0; i < n; ++i) {
        auto const s = co_await step("step", idempotent, [&] { return sample{i, 0.5 * i}; });
        sum += s.count;
    }
    --bodies_left;
    co_return sum;
}

constexpr std::chrono::minutes limit{5};

}  // namespace

flow::probe commit_counter::probe()
{
    return [this](std::string_view call, probe_point p) {
        if (p == probe_point::after_commit && counting_) ++(call == "apply" ? applied_ : others_);
    };
}

void queue(store_ptr const& store, load const& l)
{
    client c(store);
    for (int i = 0; i < l.runs; ++i) c.start("bench", args(l.steps));
}

double execute(store_ptr const& store, load const& l, commit_counter& counter)
{
    bodies_left = l.runs;
    engine_options o;
    o.most_running = static_cast<std::size_t>(l.at_once);
    flow::engine engine(store, o);
    counter.start();
    auto const begin = steady::now();
    engine.add<many_steps>("bench");
    while (bodies_left > 0) {
        if (steady::now() - begin > limit) throw std::runtime_error("the runs do not end");
        std::this_thread::sleep_for(std::chrono::microseconds{200});
    }
    // Which is last is the store's order; of those that were in hand together, the newest are among the last.
    std::vector<any_run_handle> last;
    run_filter newest;
    newest.limit = static_cast<std::size_t>(l.at_once);
    for (auto const& r : engine.runs(newest)) last.push_back(engine.find(r.id));
    if (!engine.wait_for_all(last, limit)) throw std::runtime_error("the last runs do not end");
    auto const seconds = microseconds(steady::now() - begin) / 1e6;
    run_filter open;
    for (auto const s : {run_status::running, run_status::waiting, run_status::held}) {
        open.status = s;
        if (!engine.runs(open).empty()) throw std::runtime_error("runs were left behind");
    }
    return static_cast<double>(l.runs) * l.steps / seconds;
}

}  // namespace flow::bench
