// Waiting for events: early, late, twice, misspelt, after a restart, in groups.
#include <catch2/catch.hpp>

#include "flow/flow.hpp"
#include "flow/store_reader.hpp"
#include "support/invariants.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace std::chrono_literals;
using namespace flow::test;
using Catch::Contains;

namespace {

flow::workflow<int> waits_for_payment(std::string order)
{
    auto const paid = co_await flow::wait_for_event<int>("payment", order);
    co_await flow::step("ship", flow::idempotent, [&] { outside().note("ship " + std::to_string(paid)); });
    co_return paid;
}

flow::workflow<std::string> collects()
{
    std::string all;
    for (int i = 0; i < 3; ++i) {
        auto const word = co_await flow::wait_for_event<std::string>("word");
        all += word;
    }
    co_return all;
}

flow::workflow<std::string> waits_so_long(std::string order)
{
    try {
        auto const paid = co_await flow::wait_for_event<int>("payment", order, {.timeout = 5min});
        co_return "paid " + std::to_string(paid);
    } catch (flow::wait_timeout const& e) {
        co_return e.what();
    }
}

flow::workflow<std::string> races(std::string order)
{
    auto const first = co_await flow::any(flow::wait_for_event<int>("payment", order), flow::wait_for_event<int>("refund", order));
    co_return std::to_string(first.index());
}

flow::workflow<int> all_three()
{
    auto const [a, b, c] = co_await flow::all(flow::wait_for_event<int>("same"), flow::wait_for_event<int>("same"), flow::wait_for_event<int>("same"));
    co_return a * 100 + b * 10 + c;
}

flow::workflow<int> bad_correlation(std::string order)
{
    co_return co_await flow::wait_for_event<int>("payment", order);
}

namespace other {
flow::workflow<int> by_token(std::string) { co_return co_await flow::wait_for_token<int>("payment"); }
}  // namespace other

flow::workflow<std::string> tells(flow::run_id to)
{
    auto const first = co_await flow::send(to, "word", "x");
    co_await flow::send(to, "word", "y");
    co_await flow::sleep_for(1h);
    co_await flow::send(to, "word", "z");
    co_return first == flow::delivery_answer::matched ? "matched" : "kept";
}

flow::workflow<std::string> tells_in_vain(flow::run_id to)
{
    auto const told = co_await flow::as_outcome(flow::send(to, "word", "x"));
    co_return told ? "told" : told.error().message();
}

void add_all(flow::engine& e)
{
    e.add<tells>("tells");
    e.add<tells_in_vain>("tells_in_vain");
    e.add<waits_for_payment>("order");
    e.add<collects>("collects");
    e.add<waits_so_long>("waits_so_long");
    e.add<races>("races");
    e.add<all_three>("all_three");
    e.add<bad_correlation>("bad_correlation");
}

template <class T>
T result_of(world& w, flow::run_id id)
{
    REQUIRE(is_terminal(w.status(id)));
    return flow::run_handle<T>(w.engine().find(id)).result();
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("DW-07, DW-12: an event may come before its waiter, while it waits, after it was evicted, and while nobody runs", "[engine][event]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    flow::client shop(place.store, "shop");
    // Clients go by the clock of the machine, the engine by one of the test's own.
    auto const send = [&] { return shop.send_event("payment", "order-17", 42, {.id = "evt-1", .keep = flow::duration::max()}); };
    flow::run_id id;
    SECTION("before the run is started")
    {
        CHECK(send().answer == flow::delivery_answer::kept);
        id = w.engine().start<waits_for_payment>("order-17").id();
    }
    SECTION("WT-03: started, and nobody alive to take it")
    {
        w.stop();
        id = shop.start("order", flow::args("order-17")).id();
        CHECK(send().answer == flow::delivery_answer::kept);
        w.restart();
    }
    SECTION("while it waits")
    {
        id = w.engine().start<waits_for_payment>("order-17").id();
        w.settle();
        CHECK(w.view(id).doing == "It waits for event \"payment\" about order-17.");
        CHECK(w.view(id).unblocked_by == "flow send payment JSON --about order-17");
        auto const told = send();
        CHECK(told.answer == flow::delivery_answer::matched);
        CHECK(told.run == id);
    }
    SECTION("once it has left memory")
    {
        id = w.engine().start<waits_for_payment>("order-17").id();
        w.settle();
        w.pass(6s);
        CHECK(w.view(id).row.owner == flow::owner_id::nobody);
        CHECK(send().answer == flow::delivery_answer::matched);
    }
    SECTION("while no engine runs")
    {
        id = w.engine().start<waits_for_payment>("order-17").id();
        w.settle();
        w.stop();
        CHECK(send().answer == flow::delivery_answer::matched);
        CHECK(send().answer == flow::delivery_answer::duplicate);  // DW-09
        w.restart();
    }
    w.settle();
    CHECK(result_of<int>(w, id) == 42);
    CHECK(outside().count("ship 42") == 1);
    CHECK(send().answer == flow::delivery_answer::duplicate);
    w.settle();
    CHECK(w.entries(id, flow::entry_kind::event) == 1);
    auto const events = shop.events();
    REQUIRE(events.size() == 1);
    CHECK(events[0].fate == flow::event_fate::taken);
    CHECK(events[0].taker == id);
    for (auto const& e : w.journal(id))
        if (e.kind == flow::entry_kind::event) {
            CHECK(e.seq == events[0].entry);
            CHECK(e.by == "shop");
            CHECK(e.name == "payment");
            CHECK(e.commit_ref == to_string(events[0].what.id));
            CHECK(e.payload == "42");
        }
    check_invariants(*place.store);
}

TEMPLATE_LIST_TEST_CASE("events to one run are taken in the order in which they were sent, before, during and after the wait (TM-03)", "[engine][event]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto& anybody = w.engine();
    auto const id = w.engine().start<collects>().id();
    CHECK(anybody.send(id, "word", "a").answer == flow::delivery_answer::kept);
    w.settle();
    CHECK(anybody.send(id, "word", "b").answer == flow::delivery_answer::matched);
    CHECK(anybody.send(id, "word", "c").answer == flow::delivery_answer::kept);
    CHECK(anybody.send(id, "word", "d").answer == flow::delivery_answer::kept);
    w.settle();
    CHECK(result_of<std::string>(w, id) == "abc");
    // "d" was told to a run that has ended: whoever looks finds it (WT-09); and nobody tells it more.
    flow::event_filter left;
    left.run = id;
    left.fate = flow::event_fate::kept;
    auto const rest = anybody.events(left);
    REQUIRE(rest.size() == 1);
    CHECK(rest[0].what.payload == "\"d\"");
    CHECK_THROWS_WITH(anybody.send(id, "word", "e"), Contains("run_ended") && Contains("has ended"));
}

TEMPLATE_LIST_TEST_CASE("WT-06: an event to a paused run is kept for it, over a restart too", "[engine][event]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const id = w.engine().start<waits_for_payment>("order-17").id();
    w.settle();
    w.engine().pause(id);
    w.settle();
    CHECK(w.status(id) == flow::run_status::paused);
    CHECK(w.engine().send_event("payment", "order-17", 42).answer == flow::delivery_answer::matched);
    w.settle();
    if (GENERATE(false, true)) w.restart();
    w.settle();
    CHECK(w.status(id) == flow::run_status::paused);
    CHECK(outside().all().empty());
    w.engine().resume(id);
    w.settle();
    CHECK(result_of<int>(w, id) == 42);
    CHECK(outside().count("ship 42") == 1);
}

TEMPLATE_LIST_TEST_CASE("WT-19: a wait for an event ends at its first limit, however often the engine is restarted", "[engine][event]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const id = w.engine().start<waits_so_long>("order-17").id();
    for (int i = 0; i < 4; ++i) {
        w.pass(70s);
        CHECK(w.status(id) == flow::run_status::waiting);
        w.restart();
    }
    w.pass(21s);
    CHECK_THAT(result_of<std::string>(w, id), Contains("wait_timeout") && Contains("payment") && Contains("order-17"));
    CHECK(w.engine().send_event("payment", "order-17", 42).answer == flow::delivery_answer::kept);
    check_invariants(*place.store);
}

TEMPLATE_LIST_TEST_CASE("PC-05: of two events that are waited for at once the first wins, and nothing waits for the other any more", "[engine][event][group]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const id = w.engine().start<races>("order-17").id();
    w.settle();
    CHECK(w.engine().send_event("refund", "order-17", 1).answer == flow::delivery_answer::matched);
    w.settle();
    CHECK(result_of<std::string>(w, id) == "1");
    flow::waitpoint_filter open;
    open.status = flow::waitpoint_status::pending;
    CHECK(w.engine().waitpoints(open).empty());
    CHECK(w.engine().send_event("payment", "order-17", 1).answer == flow::delivery_answer::kept);
    w.restart();
    w.settle();
    CHECK(result_of<std::string>(w, id) == "1");
    check_invariants(*place.store);
}

TEMPLATE_LIST_TEST_CASE("WT-14: parallel waits for one event get one each, in the order of the branches", "[engine][event][group]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const id = w.engine().start<all_three>().id();
    w.settle();
    w.engine().send(id, "same", 1);
    w.settle();
    if (GENERATE(false, true)) w.restart();
    w.engine().send(id, "same", 2);
    w.engine().send(id, "same", 3);
    w.settle();
    CHECK(result_of<int>(w, id) == 123);
}

TEMPLATE_LIST_TEST_CASE("OB-04, OB-05: misspelt and unfit events are refused or kept, and the run goes on with the right one", "[engine][event]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const id = w.engine().start<waits_for_payment>("order-17").id();
    w.settle();
    auto& on = w.engine();
    CHECK_THROWS_WITH(on.send_event("paiment", "order-17", 42, {.only_if_awaited = true}), Contains("event_not_awaited") && Contains("paiment"));
    CHECK_THROWS_WITH(on.send_event("payment", "order-17", "much", {.only_if_awaited = true}), Contains("wrong_shape") && Contains("i32"));
    CHECK(on.events().empty());
    auto const told = on.send_event("payment", "order-17", "much");
    CHECK(told.answer == flow::delivery_answer::unfit);
    CHECK(told.wanted == "i32");
    w.settle();
    CHECK(w.status(id) == flow::run_status::waiting);
    on.send_event("payment", "order-17", 42);
    w.settle();
    CHECK(result_of<int>(w, id) == 42);
    flow::event_filter kept;
    kept.fate = flow::event_fate::kept;
    CHECK(on.events(kept).size() == 1);
}

TEST_CASE("what cannot be an event is refused with a sentence, and nothing is written", "[engine][event]")
{
    world w(flow::memory(), add_all);
    auto& on = w.engine();
    CHECK_THROWS_WITH(on.send_event("", "order-17", 1), Contains("bad_name"));
    CHECK_THROWS_WITH(on.send_event("payment", "", 1), Contains("bad_argument") && Contains("correlation"));
    CHECK_THROWS_WITH(on.send_event("payment", std::string(1025, 'x'), 1), Contains("1025"));
    CHECK_THROWS_WITH(on.send_event("payment", "order-17", 1, {.keep = -1s}), Contains("keep"));
    CHECK_THROWS_WITH(on.send_event_json("payment", "order-17", "{"), Contains("bad_payload"));
    CHECK_THROWS_WITH(on.send(flow::run_id{}, "payment", 1), Contains("unknown_run"));
    CHECK(on.events().empty());
    on.send_event("payment", "order-17", 1, {.id = "evt"});
    CHECK_THROWS_WITH(on.send_event("payment", "order-17", 2, {.id = "evt"}), Contains("event_conflict"));
    // Another topic or correlation has ids of its own.
    CHECK(on.send_event("payment", "order-18", 2, {.id = "evt"}).answer == flow::delivery_answer::kept);

    auto const id = on.start<bad_correlation>("").id();
    w.settle();
    CHECK(w.status(id) == flow::run_status::failed);
    CHECK_THAT(w.view(id).failure->message, Contains("correlation"));
}

TEMPLATE_LIST_TEST_CASE("WT-04: a run and its first event come together, and under a key once", "[engine][event][start]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto& on = w.engine();
    auto const one = on.start<collects>({.idempotency_key = "k", .event = {"word", R"("a")", "1"}}).id();
    auto const two = on.start<collects>({.idempotency_key = "k", .event = {"word", R"("b")", "2"}}).id();
    CHECK(one == two);
    CHECK(on.start<collects>({.idempotency_key = "k", .event = {"word", R"("b")", "2"}}).id() == one);  // told again
    CHECK_THROWS_WITH(on.start<collects>({.idempotency_key = "k", .event = {"word", "{", {}}}), Contains("bad_payload"));
    on.start("collects", flow::args(), {.idempotency_key = "k", .event = {"word", R"("c")", {}}});
    w.settle();
    CHECK(result_of<std::string>(w, one) == "abc");
    CHECK_THROWS_WITH(on.start<collects>({.idempotency_key = "k", .event = {"word", R"("d")", {}}}), Contains("run_ended"));
    CHECK(on.runs().size() == 1);
}

TEMPLATE_LIST_TEST_CASE("code that waits for a token where an event was awaited is told apart", "[engine][event][replay]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const id = w.engine().start<waits_for_payment>("order-17").id();
    w.settle();
    w.restart(nullptr, [](flow::engine& e) { e.add<other::by_token>("order"); });
    w.engine().send_event("payment", "order-17", 42);
    w.settle();
    CHECK(w.status(id) == flow::run_status::held);
    CHECK_THAT(w.view(id).waits_for.detail, Contains("wait_for_event") && Contains("wait_for_token"));
}

TEMPLATE_LIST_TEST_CASE("a run sends to another, in order and once, whatever is restarted meanwhile", "[engine][event][send]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const to = w.engine().start<collects>().id();
    w.settle();
    auto const from = w.engine().start<tells>(to).id();
    w.settle();
    w.restart();
    w.pass(2h);
    w.restart();
    w.settle();
    CHECK(result_of<std::string>(w, to) == "xyz");
    CHECK(result_of<std::string>(w, from) == "matched");
    auto const all = w.engine().events();
    CHECK(all.size() == 3);
    for (auto const& e : all) CHECK(e.what.by == "run " + to_string(from));

    auto const late = w.engine().start<tells_in_vain>(to).id(), lost = w.engine().start<tells_in_vain>(flow::run_id{}).id();
    w.settle();
    CHECK_THAT(result_of<std::string>(w, late), Contains("has ended"));
    CHECK_THAT(result_of<std::string>(w, lost), Contains("no run"));
}

namespace {

/// Two topics at once, again and again: what a robot's loop looks like.
flow::workflow<std::string> commands_until_stop()
{
    std::string all;
    for (;;) {
        auto const next = co_await flow::any(flow::wait_for_event<std::string>("command"), flow::wait_for_event<int>("stop"));
        if (next.index() == 1) co_return all;
        all += std::get<0>(next);
    }
}

flow::workflow<std::string> waits_for_an_hour_or(std::string order)
{
    auto const first = co_await flow::any(flow::sleep_for(1h), flow::wait_for_event<int>("payment", order));
    if (first.index() == 1) co_return "paid in time";
    auto const late = co_await flow::wait_for_event<int>("payment", order);
    co_return "paid late: " + std::to_string(late);
}

void add_loops(flow::engine& e)
{
    e.add<commands_until_stop>("commands_until_stop");
    e.add<waits_for_an_hour_or>("waits_for_an_hour_or");
    e.add<waits_for_payment>("order");
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("of two events that were both there the group takes one, and the other is there for the next wait", "[engine][event][group]", every_store)
{
    TestType place;
    world w(place.store, add_loops);
    auto const id = w.engine().start<commands_until_stop>().id();
    bool const early = GENERATE(true, false), restarts = GENERATE(false, true);
    if (!early) w.settle();
    w.engine().send(id, "command", "a");
    w.engine().send(id, "stop", 1);
    w.engine().send(id, "command", "b");
    w.settle();
    if (restarts) w.restart();
    w.settle();
    // Which came first into the body is not said: but nothing is lost.
    auto const end = result_of<std::string>(w, id);
    flow::event_filter kept;
    kept.fate = flow::event_fate::kept;
    auto const left = w.engine().events(kept);
    CHECK((end == "ab" ? left.empty() : left.size() == 2 - end.size()));
    for (auto const& e : w.engine().events()) CHECK(e.fate != flow::event_fate::given);
    check_invariants(*place.store);
}

TEMPLATE_LIST_TEST_CASE("an event that came while nobody ran, for a wait that had lost by then, is there for the next wait, or for another run", "[engine][event][group]", every_store)
{
    TestType place;
    world w(place.store, add_loops);
    auto const id = w.engine().start<waits_for_an_hour_or>("order-17").id();
    w.settle();
    w.pass(10s);
    bool const other_waits = GENERATE(false, true);
    w.stop();
    w.clock().advance(30min);
    flow::client(place.store).send_event("payment", "order-17", 42, {.keep = flow::duration::max()});
    w.clock().advance(2h);
    w.restart();
    flow::run_id other;
    if (other_waits) other = w.engine().start<waits_for_payment>("order-17").id();
    w.settle();
    // The sleep and the event are both over by now. Either may have won, as the store decided them; the event is with one taker.
    if (w.status(id) != flow::run_status::succeeded) {
        REQUIRE(other_waits);
        CHECK(w.engine().send_event("payment", "order-17", 43).answer == flow::delivery_answer::matched);
        w.settle();
    }
    CHECK_THAT(result_of<std::string>(w, id), Contains("paid"));
    int takers = 0;
    for (auto const& e : w.engine().events()) takers += e.fate == flow::event_fate::taken;
    CHECK(takers == static_cast<int>(w.engine().events().size()));
    check_invariants(*place.store);
}
