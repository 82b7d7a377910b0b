// TD-46: a hundred thousand runs that wait cost their rows, and nothing else.
#include <catch2/catch.hpp>
#include <unistd.h>

#include <atomic>
#include <fstream>

#include "flow/flow.hpp"
#include "flow/store_reader.hpp"
#include "support/stores.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

constexpr int runs = 100'000, woken = 500;

std::atomic<int> alive{0}, most_alive{0};
struct counted {
    counted() { most_alive = std::max(most_alive.load(), ++alive); }
    counted(counted const&) = delete;
    ~counted() { --alive; }
};

flow::workflow<int> waits(int n)
{
    counted const c;
    co_return n + co_await flow::wait_for_token<int>("answer");
}

long resident_kb()
{
    long pages = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> pages >> resident;
    return resident * (::sysconf(_SC_PAGESIZE) / 1024);
}

bool holds_within(std::chrono::seconds limit, std::function<bool()> const& what)
{
    auto const end = std::chrono::steady_clock::now() + limit;
    while (!what() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(20ms);
    return what();
}

}  // namespace

TEST_CASE("TD-46 a hundred thousand runs wait: no frame of them is in memory, and any of them goes on when it is answered", "[engine][evict][slow]")
{
    temp_dir dir;
    flow::sqlite_options o;
    o.synchronous = flow::sqlite_options::sync::normal;  // what is at stake here is memory
    auto const store = flow::sqlite(dir.file("flow.db"), o);
    std::vector<flow::run_id> ids;
    {
        flow::client client(store);
        for (int i = 0; i < runs; ++i) ids.push_back(client.start("waits", flow::args(i)).id());
    }
    auto const before = resident_kb();
    flow::engine engine(store, {.threads = 2, .evict_after = 0s, .log = nullptr});
    engine.add<waits>("waits");
    auto const parked = [&] {
        flow::run_filter f;
        f.status = flow::run_status::waiting;
        f.limit = runs;
        return store->reader().runs(f).value();
    };
    // The newest is begun last; then all that are still in memory leave.
    REQUIRE(holds_within(300s, [&] { return engine.find(ids.back()).status().execution == flow::execution_status::suspended; }));
    REQUIRE(holds_within(60s, [&] { return alive == 0; }));
    CHECK(parked().size() == runs);
    CHECK(most_alive < 5000);  // most_running, and those on their way out: none stays until the whole backlog is claimed
    CHECK(resident_kb() - before < 100'000);

    flow::waitpoint_filter f;
    f.status = flow::waitpoint_status::pending;
    for (int i = 0; i < woken; ++i) {
        auto const at = static_cast<std::size_t>(i) * (runs / woken);
        f.run = ids[at];
        engine.complete_json(engine.waitpoints(f).at(0).id, "1");
    }
    std::vector<flow::any_run_handle> answered;
    for (int i = 0; i < woken; ++i) answered.push_back(engine.find(ids[static_cast<std::size_t>(i) * (runs / woken)]));
    REQUIRE(engine.wait_for_all(answered, 60s));
    for (std::size_t i = 0; i < answered.size(); ++i) CHECK(answered[i].end().result == std::to_string(static_cast<int>(i) * (runs / woken) + 1));
    CHECK(parked().size() == runs - woken);
}
