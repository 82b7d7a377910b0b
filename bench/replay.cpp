// Replay of 10,000 recorded steps, every hash verified.
#include <stdexcept>

#include "bench/bench.hpp"
#include "flow/flow.hpp"
#include "src/host.hpp"
#include "src/run.hpp"

namespace flow::bench {

namespace {

struct sample {
    int count = 0;
    double mean = 0;
};

workflow<int> recorded_steps(int n)
{
    int sum = 0;
    for (int i = 0; i < n; ++i) {
        auto const s = co_await step("step", replayable, [&] { return sample{i, 0.5 * i}; }, {.inline_ = true});
        sum += s.count;
    }
    co_await wait_for_token<int>("never");
    co_return sum;
}

constexpr int steps = 10'000;

/// A body that only replays asks for nothing.
class silent_host final : public detail::host {
public:
    flow::clock const& clock() const override { return system_clock(); }
    void fill_random(std::span<std::uint8_t>) override {}
    void write(group) override {}
    void call_out(detail::call_order) override {}
    std::shared_ptr<void> join_line(detail::ticket, limit const&) override { return nullptr; }
    void arm_at(detail::ticket, time_point) override {}
    void arm_in(detail::ticket, duration) override {}
    void disarm(detail::ticket) override {}
    outcome<std::string> load_blob(digest const&) override { return error(errc::usage, "no blobs here"); }
    outcome<std::optional<waitpoint_row>> find_waitpoint(waitpoint_id) override { return std::optional<waitpoint_row>{}; }
    outcome<std::uint32_t> version_for(std::string_view, std::uint32_t v, encoding, std::string_view) override { return v; }
    std::shared_ptr<detail::outside_access> outside() override { return {}; }
    outcome<workflow_version> workflow_of(detail::workflow_functions const&) override { return error(errc::unknown_workflow, "no workflows here"); }
    void warn(std::string_view) override {}
};

/// Runs of so many steps, written at the same time; the id of one in the middle.
run_id record(store_ptr const& store, int runs)
{
    flow::engine engine(store);
    engine.add<recorded_steps>("bench");
    std::vector<any_run_handle> all;
    for (int i = 0; i < runs; ++i) all.push_back(engine.start<recorded_steps>(steps));
    for (auto const& run : all)
        while (run.status().run != run_status::waiting) std::this_thread::sleep_for(std::chrono::milliseconds{2});
    return all[static_cast<std::size_t>(runs / 2)].id();
}

/// Enters the body and replays to the end of its history; the microseconds it took, taking the run down again not counted.
double replay(loaded_run loaded, steady::time_point begin)
{
    silent_host host;
    auto const how = loaded.entries.front().encoding;
    auto const arguments = loaded.entries.front().payload;
    detail::run r(std::move(loaded), {}, host);
    r.replay_only();
    r.enter([&] { return detail::functions_of<recorded_steps>::make(how, arguments); });
    auto const end = steady::now();
    if (!r.would_go_on()) throw std::runtime_error("the replay was held: " + r.would_be_held_by());
    return microseconds(end - begin);
}

}  // namespace

row replay_memory()
{
    auto const store = memory();
    auto const id = record(store, 1);
    std::vector<double> ours, raw;
    for (int i = 0; i < 20; ++i) {
        auto loaded = store->load(id).value();
        auto const begin = steady::now();
        for (auto const& e : loaded->entries)
            if (!e.hash.is_none() && sha256(e.payload) != e.hash) return {};
        raw.push_back(microseconds(steady::now() - begin) / steps);
        ours.push_back(replay(*std::move(loaded), steady::now()) / steps);
    }
    return {"replay-memory", median(ours), "us/step", median(raw), 0.5};
}

row replay_sqlite()
{
    scratch dir;
    auto const id = record(sqlite(dir.file("flow.db")), 8);
    raw_sqlite bare(dir.file("raw.db"));
    bare.run("begin");
    for (int s = 1; s <= steps; ++s)
        for (int r = 1; r <= 8; ++r) bare.insert(r, s, R"({"count":1234,"mean":617.0})");
    bare.run("commit");
    std::vector<double> ours, raw;
    for (int i = 0; i < 9; ++i) {
        auto begin = steady::now();
        bare.read(4, [](std::string_view payload) {
            if (sha256(payload).is_none()) throw std::runtime_error("never");
        });
        raw.push_back(microseconds(steady::now() - begin) / 1000);
        auto const store = sqlite(dir.file("flow.db"));
        begin = steady::now();
        ours.push_back(replay(*store->load(id).value(), begin) / 1000);
    }
    return {"replay-sqlite", median(ours), "ms", median(raw), 15.0};
}

}  // namespace flow::bench
