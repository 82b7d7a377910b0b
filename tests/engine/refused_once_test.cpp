// The store refuses one call, once: nothing is lost by it, in the same process.
#include <catch2/catch.hpp>

#include <thread>

#include "engine/grumbling_store.hpp"
#include "flow/flow.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

flow::workflow<int> pays()
{
    co_return co_await flow::step("pay", flow::non_replayable, [] { return outside().note("pay"), 1; });
}
flow::workflow<int> asks()
{
    co_return co_await flow::wait_for_token<int>("answer");
}

void add_all(flow::engine& e)
{
    e.add<pays>("pays");
    e.add<asks>("asks");
}

/// The engine looks around by itself a few times a second.
bool ends(world& w, flow::run_id id)
{
    for (int i = 0; i < 100 && !is_terminal(w.status(id)); ++i) {
        w.pass(1min);
        std::this_thread::sleep_for(10ms);
    }
    return is_terminal(w.status(id));
}

template <class Stores>
void starts_although(char const* call)
{
    CAPTURE(call);
    grumbling_place<Stores> place("not now");
    world w(place.store(), add_all);
    w.settle();
    place.refuse(call, flow::errc::store_unavailable);
    auto const id = w.engine().template start<pays>().id();
    CHECK(ends(w, id));
    CHECK(outside().count("pay") == 1);
}

template <class Stores>
void goes_on_although(char const* call)
{
    CAPTURE(call);
    grumbling_place<Stores> place("not now");
    world w(place.store(), add_all);
    auto const id = w.engine().template start<asks>().id();
    w.settle();
    place.refuse(call, flow::errc::store_unavailable);
    flow::client(place.again()).complete_json(w.open_token("answer"), "1");
    CHECK(ends(w, id));
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a run is executed although one call of the store failed when it was started", "[engine][faults]", every_store)
{
    for (auto const* call : {"apply", "claim", "scan", "look", "load", "change_counter"}) starts_although<TestType>(call);
}

TEMPLATE_LIST_TEST_CASE("P38 an answer from another process is found although one call of the store failed", "[engine][faults]",
                        every_store)
{
    for (auto const* call : {"apply", "claim", "scan", "look", "change_counter"}) goes_on_although<TestType>(call);
}
