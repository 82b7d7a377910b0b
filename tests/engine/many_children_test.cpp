// PC-13: children that end before their parent has parked.
#include <catch2/catch.hpp>

#include <atomic>
#include <thread>

#include "flow/flow.hpp"
#include "support/fault_store.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

constexpr int many = 500;

flow::workflow<int> ends_at_once(int x) { co_return x; }

flow::workflow<int> awaits_many(int n)
{
    std::vector<flow::child<int>> children;
    for (int i = 0; i < n; ++i) {
        auto const c = co_await flow::start_run<ends_at_once>(i);
        children.push_back(c);
    }
    auto const all = co_await flow::for_each(children, [](flow::child<int> const& c) { return c; });
    int sum = 0;
    for (auto const x : all) sum += x;
    co_return sum;
}

/// One after another: the parent parks, and is woken, each time.
flow::workflow<int> awaits_one_by_one(int n)
{
    int sum = 0;
    for (int i = 0; i < n; ++i) {
        auto const c = co_await flow::start_run<ends_at_once>(i);
        sum += co_await c;
    }
    co_return sum;
}

void add_all(flow::engine& e)
{
    e.add<ends_at_once>("ends_at_once");
    e.add<awaits_many>("awaits_many");
    e.add<awaits_one_by_one>("awaits_one_by_one");
}

/// Sleeps for a moment in every few of the store's transactions, each time another: between what others do.
flow::probe pauses()
{
    return [n = std::make_shared<std::atomic<unsigned>>(0)](std::string_view, flow::probe_point) {
        auto const i = n->fetch_add(1) * 2654435761U;
        if (i % 7 < 2) std::this_thread::sleep_for(std::chrono::microseconds{i % 1500});
    };
}

class counting_store final : public fault_store {
public:
    using fault_store::fault_store;
    flow::outcome<std::vector<flow::notice>> look(flow::owner_id owner, std::size_t limit) override
    {
        ++looks;
        return fault_store::look(owner, limit);
    }
    int looks = 0;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("PC-13 500 children that end at once, awaited together, with pauses around parking: the parent completes",
                        "[engine][child]", every_store)
{
    TestType place(pauses());
    bool const evicts = GENERATE(true, false);
    CAPTURE(evicts);
    flow::engine_options o;
    o.threads = 3;
    o.log = nullptr;
    if (evicts) o.most_waiting = 0;
    flow::engine e(place.store, o);
    add_all(e);
    auto const together = e.start<awaits_many>(many);
    auto const one_by_one = e.start<awaits_one_by_one>(20);
    REQUIRE(e.wait_for_all({together, one_by_one}, 60s));
    CHECK(together.result() == many * (many - 1) / 2);
    CHECK(one_by_one.result() == 190);
}

TEST_CASE("PC-13 the ends of 500 children are taken by few looks", "[engine][child]")
{
    auto const store = std::make_shared<counting_store>(flow::memory());
    world w(store, add_all);
    auto const run = w.engine().start<awaits_many>(many);
    w.settle();
    CHECK(run.result() == many * (many - 1) / 2);
    CHECK(w.entries(run.id(), flow::entry_kind::child_ended) == many);
    CHECK(store->looks < many / 5);
}
