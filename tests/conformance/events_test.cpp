// Events: inbox first, then to who waits (protocol P36, field cases WT-03, WT-04, WT-08, WT-09, OB-04, OB-05).
#include <algorithm>
#include <atomic>
#include <thread>

#include <catch2/catch.hpp>

#include "flow/store_reader.hpp"
#include "support/invariants.hpp"
#include "support/runs.hpp"
#include "support/stores.hpp"

using namespace flow;
using namespace flow::test;
using namespace std::chrono_literals;

namespace {

/// A group that makes this wait and an edge to it.
group waiting(held_run const& run, waitpoint_row const& row)
{
    auto g = run.change(status_event::block);
    g.effects = {insert_waitpoint{row}, add_edge{row.id, "1", row.place}};
    wait_reason why;
    why.type = wait_reason::kind::external;
    why.id = to_string(row.id);
    g.change->reason = to_json(why);
    return g;
}

event_row only_event(store& s, event_filter which = {})
{
    auto const all = s.reader().events(which).value();
    REQUIRE(all.size() == 1);
    return all[0];
}

event told_to(run_id run, std::string_view payload = "17")
{
    auto e = some_event(payload);
    e.run = run;
    e.correlation = to_string(run);
    return e;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("an event that came first ends the wait that comes for it", "[store][event]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto const owner = some_owner(store);
    auto run = start_and_claim(store, owner);
    auto const e = some_event();
    CHECK(store.deliver(e).value().answer == delivery_answer::kept);
    auto kept = only_event(store);
    CHECK(kept.fate == event_fate::kept);
    CHECK(kept.what.id == e.id);
    CHECK(kept.what.topic == "payment");
    CHECK(kept.what.correlation == "order-17");
    CHECK(kept.what.payload == "17");
    CHECK(kept.what.by == "shop");
    CHECK(kept.what.at == e.at);
    CHECK(kept.what.expires_at == e.expires_at);
    CHECK_FALSE(kept.what.run);

    auto const wait = some_event_wait();
    auto const g = waiting(run, wait);
    for (int again = 0; again < 2; ++again) {  // the answer of the first try may be lost
        auto const told = apply(store, g);
        CHECK(told.kind == answer_kind::applied);
        REQUIRE(told.decided.size() == 1);
        CHECK(told.decided[0].id == wait.id);
        CHECK(told.decided[0].status == waitpoint_status::completed);
        CHECK(told.decided[0].output == "17");
        CHECK(told.decided[0].by == "shop");
        CHECK(told.decided[0].why == to_string(e.id));
    }
    run.advance(g);
    CHECK(store.look(owner, 10).value().size() == 1);
    auto given = only_event(store);
    CHECK(given.fate == event_fate::given);
    CHECK(given.taker == run.id());

    auto take = run.change(status_event::unblock);
    take.effects = {take_waitpoint{wait.id, 0}};
    applied(store, run, take);
    auto const taken = only_event(store);
    CHECK(taken.fate == event_fate::taken);
    CHECK(taken.entry == take.entries[0].seq);
    CHECK(store.look(owner, 10).value().empty());
    check_invariants(store);
}

TEMPLATE_LIST_TEST_CASE("an event goes to one waiter, the one that has waited longest", "[store][event]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto const owner = some_owner(store);
    auto one = start_and_claim(store, owner), two = start_and_claim(store, owner);
    applied(store, one, waiting(one, some_event_wait()));
    applied(store, two, waiting(two, some_event_wait()));

    auto first = store.deliver(some_event("1")).value();
    CHECK(first.answer == delivery_answer::matched);
    CHECK(first.run == one.id());
    auto second = store.deliver(some_event("2")).value();
    CHECK(second.answer == delivery_answer::matched);
    CHECK(second.run == two.id());
    CHECK(store.deliver(some_event("3")).value().answer == delivery_answer::kept);

    auto const notices = store.look(owner, 10).value();
    REQUIRE(notices.size() == 2);
    for (auto const& n : notices) {
        auto const& w = std::get<woken>(n);
        CHECK(w.waitpoint.output == (w.run == one.id() ? "1" : "2"));
    }
    check_invariants(store);
}

TEMPLATE_LIST_TEST_CASE("another topic or another correlation is another event", "[store][event]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto const owner = some_owner(store);
    auto run = start_and_claim(store, owner);
    applied(store, run, waiting(run, some_event_wait()));
    auto other_topic = some_event(), other_key = some_event();
    other_topic.topic = "refund";
    other_key.correlation = "order-18";
    CHECK(store.deliver(other_topic).value().answer == delivery_answer::kept);
    CHECK(store.deliver(other_key).value().answer == delivery_answer::kept);
    CHECK(store.look(owner, 10).value().empty());
}

TEMPLATE_LIST_TEST_CASE("DW-09: an event told three times is one event", "[store][event]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto const owner = some_owner(store);
    auto run = start_and_claim(store, owner);
    bool const early = GENERATE(true, false);
    auto const e = some_event();
    if (!early) applied(store, run, waiting(run, some_event_wait()));
    CHECK(store.deliver(e).value().answer == (early ? delivery_answer::kept : delivery_answer::matched));
    CHECK(store.deliver(e).value().answer == delivery_answer::duplicate);
    auto other = e;
    other.payload = "18";
    CHECK(store.deliver(other).value().answer == delivery_answer::conflict);
    CHECK(only_event(store).what.payload == "17");
    CHECK(store.look(owner, 10).value().size() == (early ? 0u : 1u));
}

TEMPLATE_LIST_TEST_CASE("events reach their waiter in the order in which they were delivered", "[store][event]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto run = start_and_claim(store, some_owner(store));
    for (auto const* text : {"1", "2", "3"}) CHECK(store.deliver(some_event(text)).value().answer == delivery_answer::kept);
    for (auto const* text : {"1", "2", "3"}) {
        auto const wait = some_event_wait();
        auto g = run.steps();
        g.effects = {insert_waitpoint{wait}, add_edge{wait.id, "1", wait.place}};
        auto const told = apply(store, g);
        REQUIRE(told.decided.size() == 1);
        CHECK(told.decided[0].output == text);
        run.advance(g);
        auto take = run.steps();
        take.effects = {take_waitpoint{wait.id, 0}};
        applied(store, run, take);
    }
}

TEMPLATE_LIST_TEST_CASE("two waits of one group get two events", "[store][event]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto run = start_and_claim(store, some_owner(store));
    for (auto const* text : {"1", "2"}) CHECK(store.deliver(some_event(text)).value().answer == delivery_answer::kept);
    auto const a = some_event_wait(), b = some_event_wait();
    auto g = run.steps();
    g.effects = {insert_waitpoint{a}, add_edge{a.id, "1", "a"}, insert_waitpoint{b}, add_edge{b.id, "2", "b"}};
    auto const told = apply(store, g);
    REQUIRE(told.decided.size() == 2);
    CHECK(told.decided[0].output == "1");
    CHECK(told.decided[1].output == "2");
}

TEMPLATE_LIST_TEST_CASE("a run does not suspend on a wait whose event was there", "[store][event]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto run = start_and_claim(store, some_owner(store));
    CHECK(store.deliver(some_event()).value().answer == delivery_answer::kept);
    auto g = waiting(run, some_event_wait());
    auto second = run;
    second.advance(g);
    second.row.status = g.change->status;
    auto const park = second.change(status_event::suspend, true);
    auto const told = store.apply(std::vector{g, park}, 10s).value();
    CHECK(told[0].kind == answer_kind::applied);
    CHECK(told[0].decided.size() == 1);
    CHECK(told[1].kind == answer_kind::superseded);
    check_invariants(store);
}

TEMPLATE_LIST_TEST_CASE("a suspended run that waits for an event is queued by it", "[store][event]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto const owner = some_owner(store);
    auto run = start_and_claim(store, owner);
    park_on(store, run, some_event_wait());
    CHECK(store.deliver(some_event()).value().answer == delivery_answer::matched);
    (void)store.scan(at(9), 10).value();
    auto const taken = claim_all(store, owner);
    REQUIRE(taken.size() == 1);
    CHECK(taken[0].row.id == run.id());
    auto const loaded = store.load(run.id()).value();
    REQUIRE(loaded->waitpoints.size() == 1);
    CHECK(loaded->waitpoints[0].output == "17");
    CHECK(loaded->waitpoints[0].correlation == "order-17");
    check_invariants(store);
}

TEMPLATE_LIST_TEST_CASE("OB-05: a value of another shape wakes nobody, is kept and listed, and does not stand in the way", "[store][event]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto const owner = some_owner(store);
    auto run = start_and_claim(store, owner);
    bool const early = GENERATE(true, false);
    auto const wait = some_event_wait();
    if (!early) applied(store, run, waiting(run, wait));
    auto const told = store.deliver(some_event(R"("seventeen")")).value();
    if (early) {
        CHECK(told.answer == delivery_answer::kept);
        applied(store, run, waiting(run, wait));
    } else {
        CHECK(told.answer == delivery_answer::unfit);
        CHECK(told.wanted == "i32");
    }
    CHECK(store.look(owner, 10).value().empty());
    CHECK(only_event(store).fate == event_fate::kept);
    CHECK(store.deliver(some_event("18")).value().answer == delivery_answer::matched);
    REQUIRE(store.look(owner, 10).value().size() == 1);
    event_filter kept;
    kept.fate = event_fate::kept;
    CHECK(only_event(store, kept).what.payload == R"("seventeen")");
}

TEMPLATE_LIST_TEST_CASE("OB-04: an event under a name that nobody waits for is kept, or refused where it was to be awaited", "[store][event]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto run = start_and_claim(store, some_owner(store));
    auto wait = some_event_wait("bool");
    wait.name = "approve";
    wait.correlation = to_string(run.id());
    applied(store, run, waiting(run, wait));
    auto e = told_to(run.id(), "true");
    e.topic = "aprove";
    e.only_if_awaited = true;
    CHECK(store.deliver(e).value().answer == delivery_answer::not_awaited);
    CHECK(store.reader().events({}).value().empty());
    e.only_if_awaited = false;
    CHECK(store.deliver(e).value().answer == delivery_answer::kept);
    CHECK(only_event(store).what.run == run.id());
    auto wrong = told_to(run.id(), "1");
    wrong.topic = "approve";
    wrong.only_if_awaited = true;
    auto const told = store.deliver(wrong).value();
    CHECK(told.answer == delivery_answer::unfit);
    CHECK(told.wanted == "bool");
    CHECK(store.reader().events({}).value().size() == 1);
}

TEMPLATE_LIST_TEST_CASE("WT-04, WT-09: an event to an unknown run or to one that has ended is refused", "[store][event]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto run = start_and_claim(store, some_owner(store));
    CHECK(store.deliver(told_to({fresh_uuid()})).value().answer == delivery_answer::unknown_run);
    auto const before_end = told_to(run.id());
    CHECK(store.deliver(before_end).value().answer == delivery_answer::kept);
    applied(store, run, run.change(status_event::succeed));
    CHECK(store.deliver(told_to(run.id())).value().answer == delivery_answer::run_ended);
    event_filter left;
    left.run = run.id();
    left.fate = event_fate::kept;
    CHECK(only_event(store, left).what.id == before_end.id);
}

TEMPLATE_LIST_TEST_CASE("WT-09: an event that ended a wait of a run that ends without it is listed as not taken", "[store][event]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto run = start_and_claim(store, some_owner(store));
    applied(store, run, waiting(run, some_event_wait()));
    CHECK(store.deliver(some_event()).value().answer == delivery_answer::matched);
    applied(store, run, run.change(status_event::fail));
    auto const e = only_event(store);
    CHECK(e.fate == event_fate::given);
    CHECK(e.taker == run.id());
    check_invariants(store);
}

TEMPLATE_LIST_TEST_CASE("a wait that is over takes no event with it", "[store][event]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto run = start_and_claim(store, some_owner(store));
    auto const wait = some_event_wait();
    applied(store, run, waiting(run, wait));
    auto over = run.change(status_event::unblock);
    over.effects = {decide_waitpoint{wait.id, GENERATE(waitpoint_status::timed_out, waitpoint_status::withdrawn)}};
    bool const event_first = GENERATE(true, false);
    if (event_first) {
        CHECK(store.deliver(some_event()).value().answer == delivery_answer::matched);
        CHECK(apply(store, over).kind == answer_kind::superseded);
    } else {
        applied(store, run, over);
        CHECK(store.deliver(some_event()).value().answer == delivery_answer::kept);
    }
}

TEMPLATE_LIST_TEST_CASE("an event wait that falls due times out, and its event is kept for the next", "[store][event]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto run = start_and_claim(store, some_owner(store));
    auto wait = some_event_wait();
    wait.due_at = at(7);
    park_on(store, run, wait);
    CHECK(store.scan(at(8), 10).value() == 1);
    CHECK(store.waitpoint(wait.id).value()->status == waitpoint_status::timed_out);
    CHECK(store.deliver(some_event()).value().answer == delivery_answer::kept);
}

TEMPLATE_LIST_TEST_CASE("expired events are given to nobody, and forgotten by a scan", "[store][event]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto run = start_and_claim(store, some_owner(store));
    auto e = some_event();
    e.expires_at = at(100);
    CHECK(store.deliver(e).value().answer == delivery_answer::kept);
    auto wait = some_event_wait();
    wait.created_at = at(100);
    auto const g = waiting(run, wait);
    CHECK(apply(store, g).decided.empty());
    (void)store.scan(at(99), 10).value();
    CHECK(store.reader().events({}).value().size() == 1);
    (void)store.scan(at(100), 10).value();
    CHECK(store.reader().events({}).value().empty());
    // Told again it is a new event: so long it was known.
    CHECK(store.deliver(e).value().answer == delivery_answer::matched);
}

TEMPLATE_LIST_TEST_CASE("WT-08: events that nobody wants are bounded, a topic's number stated", "[store][event]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto run = start_and_claim(store, some_owner(store));
    auto const before = store.journal(run.id(), seq_no::none, 100).value().size();
    // Straight into the inbox by many topics at first: one full topic is no other's trouble.
    for (std::size_t i = 0; i < inbox_limit; ++i) {
        auto e = some_event();
        e.correlation = std::to_string(i % 100);
        if (store.deliver(e).value().answer != delivery_answer::kept) FAIL("refused at " << i);
    }
    CHECK(store.deliver(some_event()).value().answer == delivery_answer::inbox_full);
    auto other = some_event();
    other.topic = "refund";
    CHECK(store.deliver(other).value().answer == delivery_answer::kept);
    CHECK(store.journal(run.id(), seq_no::none, 100).value().size() == before);
    // A page at a time.
    event_filter page;
    page.limit = 600;
    std::size_t seen = 0;
    for (;;) {
        auto const rows = store.reader().events(page).value();
        if (rows.empty()) break;
        seen += rows.size();
        page.after = rows.back().cursor;
    }
    CHECK(seen == inbox_limit + 1);
    // Who waits is served all the same.
    applied(store, run, waiting(run, [] {
                auto w = some_event_wait();
                w.correlation = "nobody yet";
                return w;
            }()));
    auto wanted = some_event();
    wanted.correlation = "nobody yet";
    CHECK(store.deliver(wanted).value().answer == delivery_answer::matched);
}

TEMPLATE_LIST_TEST_CASE("WT-04: a start and its first event are one: two senders make one run, with both events", "[store][event][start]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto const other = place.again();
    auto starting = [](std::string_view payload) {
        auto r = some_run("greeting", "order-17");
        r.first = some_event(payload);
        return r;
    };
    started one{}, two{};
    std::thread a([&] { one = store.start(starting("1")).value(); });
    std::thread b([&] { two = other->start(starting("2")).value(); });
    a.join();
    b.join();
    CHECK(one.id == two.id);
    CHECK((one.answer == start_answer::started) != (two.answer == start_answer::started));
    for (auto const& s : {one, two}) {
        REQUIRE(s.first);
        CHECK(s.first->answer == delivery_answer::kept);
    }
    event_filter of_run;
    of_run.run = one.id;
    auto const events = store.reader().events(of_run).value();
    REQUIRE(events.size() == 2);
    CHECK(events[0].what.payload != events[1].what.payload);
    // The first of the run is its maker's.
    CHECK(events[0].what.payload == (one.answer == start_answer::started ? "1" : "2"));

    auto conflicting = starting("3");
    conflicting.arguments = R"(["bob"])";
    auto const refused = store.start(conflicting).value();
    CHECK(refused.answer == start_answer::conflict);
    CHECK_FALSE(refused.first);
    CHECK(store.reader().events(of_run).value().size() == 2);
}

TEMPLATE_LIST_TEST_CASE("senders and waiters at once: each event ends one wait, none is lost", "[store][event][race]", every_store)
{
    TestType place;
    auto const other = place.again();
    auto& store = *place.store;
    auto const owner = some_owner(store);
    constexpr int count = 40;
    std::vector<held_run> runs;
    for (int i = 0; i < count; ++i) runs.push_back(start_and_claim(store, owner));
    std::atomic<int> failed{0};
    std::thread waits([&] {
        for (auto& run : runs) {
            auto const g = waiting(run, some_event_wait());
            if (store.apply(std::vector{g}, 20s).value()[0].kind != answer_kind::applied) ++failed;
            run.advance(g);
        }
    });
    std::thread sends([&] {
        for (int i = 0; i < count; ++i) {
            auto const a = other->deliver(some_event(std::to_string(i))).value().answer;
            if (a != delivery_answer::matched && a != delivery_answer::kept) ++failed;
        }
    });
    waits.join();
    sends.join();
    CHECK(failed == 0);
    event_filter kept;
    kept.fate = event_fate::kept;
    CHECK(store.reader().events(kept).value().empty());
    auto const notices = store.look(owner, 1000).value();
    CHECK(notices.size() == count);
    std::vector<std::string> values;
    for (auto const& n : notices) values.push_back(std::get<woken>(n).waitpoint.output);
    std::sort(values.begin(), values.end());
    CHECK(std::unique(values.begin(), values.end()) == values.end());
    check_invariants(store);
}

TEMPLATE_LIST_TEST_CASE("an event that is given back goes to who waits for it, else into the inbox, in its place", "[store][event]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto const owner = some_owner(store);
    auto run = start_and_claim(store, owner), other = start_and_claim(store, owner);
    auto const wait = some_event_wait();
    applied(store, run, waiting(run, wait));
    CHECK(store.deliver(some_event("1")).value().answer == delivery_answer::matched);
    CHECK(store.deliver(some_event("2")).value().answer == delivery_answer::kept);
    bool const other_waits = GENERATE(false, true);
    auto const others = some_event_wait("str");  // wants something else
    auto const second = some_event_wait();
    auto g = other.change(status_event::block);
    g.effects = {insert_waitpoint{others}, add_edge{others.id, "1", "a"}};
    wait_reason why;
    why.type = wait_reason::kind::external;
    why.id = to_string(others.id);
    g.change->reason = to_json(why);
    applied(store, other, g);

    auto back = run.change(status_event::unblock);
    back.effects = {return_event{wait.id, "payment", "order-17"}};
    applied(store, run, back);
    CHECK(store.look(owner, 10).value().empty());
    event_filter kept;
    kept.fate = event_fate::kept;
    auto left = store.reader().events(kept).value();
    REQUIRE(left.size() == 2);
    CHECK(left[0].what.payload == "1");

    auto next = other.steps();
    next.effects = {insert_waitpoint{second}, add_edge{second.id, "2", "b"}};
    auto const told = apply(store, next);
    REQUIRE(told.decided.size() == 1);
    CHECK(told.decided[0].output == "1");
    other.advance(next);
    if (!other_waits) return;

    // And straight to one that waits.
    auto third = start_and_claim(store, owner);
    auto take_two = some_event_wait();
    applied(store, third, waiting(third, take_two));  // gets 2
    auto fourth = start_and_claim(store, owner);
    auto const open = some_event_wait();
    applied(store, fourth, waiting(fourth, open));
    CHECK(store.waitpoint(open.id).value()->status == waitpoint_status::pending);
    auto give = third.change(status_event::unblock);
    give.effects = {return_event{take_two.id, "payment", "order-17"}};
    CHECK(apply(store, give).others);
    third.advance(give);
    CHECK(store.waitpoint(open.id).value()->status == waitpoint_status::completed);
    CHECK(store.waitpoint(open.id).value()->output == "2");
    int for_fourth = 0;
    for (auto const& n : store.look(owner, 10).value()) for_fourth += std::get<woken>(n).run == fourth.id();
    CHECK(for_fourth == 1);
    check_invariants(store);
}

TEMPLATE_LIST_TEST_CASE("a start whose first event is refused starts nothing", "[store][event][start]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto const used = some_event("1");
    CHECK(store.deliver(used).value().answer == delivery_answer::kept);
    auto what = some_run("greeting", "k");
    what.first = used;
    what.first->payload = "2";  // a conflict: the same id with another value
    CHECK_FALSE(store.start(what).has_value());
    CHECK(store.reader().runs({}).value().empty());
}
