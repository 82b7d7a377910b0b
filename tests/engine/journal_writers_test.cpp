// An engine that divides its runs among several writers, as a store may ask for: each run's groups stay in order, nothing is left behind.
#include <catch2/catch.hpp>

#include <thread>

#include "flow/flow.hpp"
#include "flow/store_reader.hpp"
#include "support/fault_store.hpp"
#include "support/invariants.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

/// Says that it gains by three, and counts how many come at once.
class wide_store final : public fault_store {
public:
    using fault_store::fault_store;
    std::size_t writers() const noexcept override { return 3; }
    flow::outcome<std::vector<flow::answer>> apply(std::span<flow::group const> groups, flow::time_limit limit) override
    {
        int const now = ++at_once;
        for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
        }
        std::this_thread::sleep_for(200us);
        auto answers = fault_store::apply(groups, limit);
        --at_once;
        return answers;
    }

    std::atomic<int> at_once{0}, most{0};
};

flow::workflow<int> adds(int n)
{
    int sum = 0;
    for (int i = 0; i < n; ++i) {
        sum += co_await flow::step("add", flow::idempotent, [] { return 1; });
        sum += co_await flow::step("add more", flow::replayable, [] { return 1; });
    }
    co_return sum;
}

}  // namespace

TEST_CASE("runs are divided among as many writers as the store gains by, and each run's groups stay in order", "[engine][writers]")
{
    auto const store = std::make_shared<wide_store>(flow::memory());
    std::vector<flow::any_run_handle> all;
    {
        flow::engine_options o;
        o.threads = 4;
        flow::engine e(store, o);
        e.add<adds>("adds");
        for (int i = 0; i < 90; ++i) all.push_back(e.start<adds>(10));
        REQUIRE(e.wait_for_all(all, 30s));
        CHECK(e.stop(10s));
    }
    CHECK(store->most >= 2);
    CHECK(store->most <= 3);
    check_invariants(*store);
    flow::client c(store);
    for (auto const& run : all) CHECK(c.find(run.id()).status().run == flow::run_status::succeeded);
}

TEST_CASE("what several writers have left at a stop, the next engine goes on with", "[engine][writers]")
{
    auto const store = std::make_shared<wide_store>(flow::memory());
    std::vector<flow::any_run_handle> all;
    {
        flow::engine_options o;
        o.threads = 4;
        flow::engine e(store, o);
        e.add<adds>("adds");
        for (int i = 0; i < 90; ++i) all.push_back(e.start<adds>(25));
        std::this_thread::sleep_for(20ms);
        CHECK(e.stop(10s));
    }
    check_invariants(*store);
    flow::engine e(store);
    e.add<adds>("adds");
    for (auto& run : all) run = e.find(run.id());
    REQUIRE(e.wait_for_all(all, 30s));
    check_invariants(*store);
}
