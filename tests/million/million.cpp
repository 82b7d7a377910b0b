// CO-03: writes a run of a million steps into the memory store, replays it twice, and watches the memory.
#include <unistd.h>

#include <cstdio>
#include <deque>
#include <fstream>

#include "flow/detail/body.hpp"
#include "flow/step.hpp"
#include "flow/stores.hpp"
#include "flow/token.hpp"
#include "src/host.hpp"
#include "src/plans.hpp"
#include "src/run.hpp"

namespace {

constexpr int steps = 1'000'000;

// Once is enough where a step costs ten times as much; and ASan keeps up to 256 MB of freed memory back.
#if defined(__SANITIZE_ADDRESS__)
constexpr int rounds = 1;
constexpr long most_kb = 512 * 1024;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr int rounds = 1;
constexpr long most_kb = 512 * 1024;
#else
constexpr int rounds = 2;
constexpr long most_kb = 64 * 1024;
#endif
#else
constexpr int rounds = 2;
constexpr long most_kb = 64 * 1024;
#endif

flow::workflow<int> one_of_two(int i)
{
    auto const x = co_await flow::step("inner", flow::replayable, [&] { return i; }, {.inline_ = true});
    co_return x;
}

flow::workflow<long> counts(int n)
{
    long sum = 0;
    for (int i = 0; i < n; i += 2) {
        sum += co_await flow::step("one", flow::replayable, [&] { return i; }, {.inline_ = true});
        sum += co_await one_of_two(i + 1);
    }
    co_await flow::wait_for_token<int>("end");
    co_return sum;
}

/// Writes at once, tells later: what an engine does, without threads.
class direct_host final : public flow::detail::host {
public:
    explicit direct_host(flow::store& s) : store_(s) {}

    flow::clock const& clock() const override { return flow::system_clock(); }
    void fill_random(std::span<std::uint8_t> bytes) override
    {
        for (auto& b : bytes) b = ++random_;
    }
    void write(flow::group g) override { groups_.push_back(std::move(g)); }
    void call_out(flow::detail::call_order) override {}
    std::shared_ptr<void> join_line(flow::detail::ticket, flow::limit const&) override { return nullptr; }
    void arm_at(flow::detail::ticket, flow::time_point) override {}
    void arm_in(flow::detail::ticket, flow::duration) override {}
    void disarm(flow::detail::ticket) override {}
    flow::outcome<std::string> load_blob(flow::digest const& hash) override { return store_.load_blob(hash); }
    flow::outcome<std::optional<flow::waitpoint_row>> find_waitpoint(flow::waitpoint_id id) override { return store_.waitpoint(id); }
    flow::outcome<std::uint32_t> version_for(std::string_view, std::uint32_t v, flow::encoding, std::string_view) override { return v; }
    std::shared_ptr<flow::detail::outside_access> outside() override { return {}; }
    flow::outcome<flow::workflow_version> workflow_of(flow::detail::workflow_functions const&) override
    {
        return flow::error(flow::errc::unknown_workflow, "no workflows here");
    }
    void warn(std::string_view text) override { std::fprintf(stderr, "%.*s\n", static_cast<int>(text.size()), text.data()); }

    /// Commits what was written and tells the run; false: there was nothing.
    bool pump(flow::detail::run& r)
    {
        if (groups_.empty()) return false;
        std::vector<flow::group> batch(std::make_move_iterator(groups_.begin()), std::make_move_iterator(groups_.end()));
        groups_.clear();
        for (auto const& a : store_.apply(batch, {}).value())
            if (a.kind != flow::answer_kind::applied) return false;
        r.applied(batch.back().entries.back().seq);
        return true;
    }

private:
    flow::store& store_;
    std::deque<flow::group> groups_;
    std::uint8_t random_ = 0;
};

long resident_kb()
{
    long pages = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> pages >> resident;
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

std::unique_ptr<flow::detail::body> body()
{
    return flow::detail::functions_of<counts>::make(flow::encoding::json, "[" + std::to_string(steps) + "]").value();
}

}  // namespace

int main()
{
    auto const store = flow::memory();
    auto const owner = store->add_owner({"million", ::getpid(), flow::system_clock().now()}).value();
    flow::new_run n;
    n.id = flow::run_id{flow::uuid{{1}}};
    n.workflow = "counts";
    n.arguments = "[" + std::to_string(steps) + "]";
    n.at = flow::system_clock().now();
    if (!store->start(n)) return 1;
    flow::workflow_version const mine[] = {{"counts", 1}};
    if (store->claim({owner, mine, 1, n.at}).value().size() != 1) return 1;
    {
        direct_host host(*store);
        flow::detail::run r(store->load(n.id).value().value(), {}, host);
        r.enter([] { return flow::outcome<std::unique_ptr<flow::detail::body>>(body()); });
        while (host.pump(r)) {
        }
        if (r.status().run != flow::run_status::waiting) return std::fprintf(stderr, "the run did not reach its wait\n"), 1;
    }
    for (int round = 1; round <= rounds; ++round) {
        auto loaded = store->load(n.id).value().value();
        auto const before = resident_kb();
        direct_host host(*store);
        flow::detail::run r(std::move(loaded), {}, host);
        r.replay_only();
        r.enter([] { return flow::outcome<std::unique_ptr<flow::detail::body>>(body()); });
        auto const grown = resident_kb() - before;
        std::printf("replay %d: %s, %ld KB grown over %d steps\n", round, r.would_go_on() ? "reached its end" : "HELD", grown, steps);
        if (!r.would_go_on() || grown > most_kb) return 1;  // a byte a step would show, a kilobyte a step is a gigabyte
    }
    return 0;
}
