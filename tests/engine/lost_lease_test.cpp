// What an engine does whose lease has ended, and whose store knows it before anybody has taken its runs over (P46).
#include <catch2/catch.hpp>

#include <atomic>

#include "flow/flow.hpp"
#include "support/eventually.hpp"
#include "support/fault_store.hpp"
#include "support/world.hpp"

using namespace flow::test;

namespace {

class leased_store final : public fault_store {
public:
    using fault_store::fault_store;
    bool may_act(flow::owner_id) const noexcept override { return leased; }

    static inline std::atomic<bool> leased{true};
};

flow::workflow<int> acts()
{
    co_await flow::step("reads", flow::replayable, [] { outside().note("read"); });
    co_await flow::step("writes", flow::idempotent, [] { outside().note("written"); });
    co_return 1;
}

flow::workflow<int> writes_in_place()
{
    co_await flow::step("writes", flow::idempotent, [] { outside().note("written"); }, {.inline_ = true});
    co_return 1;
}

flow::workflow<int> sends()
{
    co_await flow::step("writes", flow::idempotent, [] { leased_store::leased = false; });
    co_await flow::step("sends", flow::non_replayable, [] { return outside().note("sent"), 1; })
        .reconcile([] { return outside().note("looked"), flow::reconciled<int>::not_done(); });
    co_return 1;
}

/// Claims are by real time.
bool ends(world& w, flow::run_id run)
{
    return eventually([&] { return w.pass(std::chrono::seconds{1}), w.status(run) == flow::run_status::succeeded; });
}

}  // namespace

TEST_CASE("nothing that acts outside is called once the lease has ended, and all of it when it stands again", "[engine][owner]")
{
    outside().clear();
    leased_store::leased = false;
    world w(std::make_shared<leased_store>(flow::memory()), [](flow::engine& e) {
        e.add<acts>("acts");
        e.add<writes_in_place>("writes_in_place");
    });
    auto const run = w.engine().start<acts>().id(), other = w.engine().start<writes_in_place>().id();
    w.settle();
    CHECK(outside().all() == std::vector<std::string>{"read"});
    CHECK(w.log.size() == 2);
    CHECK(w.status(run) == flow::run_status::running);

    leased_store::leased = true;
    CHECK(ends(w, run));
    CHECK(ends(w, other));
    CHECK(outside().count("read") == 1);
    CHECK(outside().count("written") == 2);
}

TEST_CASE("a call that may not happen after all, its intent being journaled, is in doubt", "[engine][owner]")
{
    outside().clear();
    leased_store::leased = true;
    world w(std::make_shared<leased_store>(flow::memory()), [](flow::engine& e) { e.add<sends>("sends"); });
    auto const run = w.engine().start<sends>().id();
    w.settle();
    CHECK(outside().all().empty());
    CHECK(w.entries(run, flow::entry_kind::intent) == 1);

    leased_store::leased = true;
    CHECK(ends(w, run));
    CHECK(outside().all() == std::vector<std::string>{"looked", "sent"});
    CHECK(w.entries(run, flow::entry_kind::intent) == 2);
}
