#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include <catch2/catch.hpp>

#include "flow/store_reader.hpp"
#include "support/runs.hpp"
#include "support/stores.hpp"

using namespace flow;
using namespace flow::test;

TEMPLATE_LIST_TEST_CASE("a claim raises the epoch and its snapshot names the owner", "[store][claim]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto const owner = some_owner(store);
    auto const what = some_run();
    REQUIRE(store.start(what).value().answer == start_answer::started);
    auto const taken = claim_all(store, owner);
    REQUIRE(taken.size() == 1);
    CHECK_FALSE(taken[0].taken_over);
    CHECK(taken[0].row.epoch == epoch_no{1});
    CHECK(taken[0].row.owner == owner);
    CHECK(taken[0].row.status == status_pair{execution_status::executing, run_status::running});
    auto const loaded = store.load(what.id).value();
    CHECK(loaded->row.epoch == epoch_no{1});
    auto const& snapshot = loaded->entries.back();
    CHECK(snapshot.name == "claim");
    CHECK(snapshot.epoch == epoch_no{1});
    CHECK(snapshot.by == "owner " + std::to_string(static_cast<std::int64_t>(owner)));
    CHECK(loaded->row.snapshot == snapshot.seq);
    CHECK(claim_all(store, owner).empty());
}

TEMPLATE_LIST_TEST_CASE("only what was asked for is claimed, the most urgent first", "[store][claim]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto const owner = some_owner(store);
    auto low = some_run(), high = some_run(), other = some_run("farewell"), newer = some_run();
    high.priority = 5;
    newer.version = 2;
    for (auto const& r : {low, high, other, newer}) REQUIRE(store.start(r).value().answer == start_answer::started);
    auto const first = claim_all(store, owner, {{"greeting", 1}, {"greeting", 1}}, 1);
    REQUIRE(first.size() == 1);
    CHECK(first[0].row.id == high.id);
    auto const second = claim_all(store, owner, {{"greeting", 1}, {"greeting", 1}});
    REQUIRE(second.size() == 1);
    CHECK(second[0].row.id == low.id);
    CHECK(claim_all(store, owner, {{"greeting", 2}, {"farewell", 1}}).size() == 2);
}

TEMPLATE_LIST_TEST_CASE("P62 queued runs are claimed by priority, then by when they became due: started, delayed, woken, asked, put back", "[store][claim]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto const owner = some_owner(store);
    auto const parked_on = [&](waitpoint_row row) {
        auto run = start_and_claim(store, owner);
        park_on(store, run, std::move(row));
        return run.id();
    };
    auto const started = [&](std::int64_t when, std::int64_t due, std::int32_t priority = 0) {
        auto what = some_run();
        what.at = at(when);
        what.due_at = at(due);
        what.priority = priority;
        return store.start(what).value().id;
    };
    // By name: when each becomes due. The oldest of them is due last.
    auto const token = some_token(), other = some_token("other");
    auto limited = some_token("limited");
    limited.due_at = at(20);
    auto const told_60 = parked_on(token), timer_40 = parked_on(some_timer(at(40))), limit_20 = parked_on(limited);
    auto const timer_30 = parked_on(some_timer(at(30))), cancelled_45 = parked_on(other);
    auto put_back_35 = start_and_claim(store, owner);
    auto const delayed_50 = started(0, 50), fresh_25 = started(25, 25), urgent_55 = started(55, 55, 1);
    auto const late_70 = started(70, 10);  // a due instant that is over means: now
    CHECK(row_of(store, fresh_25).due_at == at(25));
    CHECK(row_of(store, delayed_50).due_at == at(50));

    auto g = put_back_35.change(status_event::requeue, true);
    g.entries.back().at = at(35);
    held_run::seal(g);
    applied(store, put_back_35, g);
    auto told = some_completion(token.id);
    told.at = at(60);
    REQUIRE(store.complete(told).value() == completion_answer::completed);
    auto ask = some_request(cancelled_45);
    ask.at = at(45);
    REQUIRE(store.ask(ask).value() == request_fate::taken);
    // One after another, and long after they were due.
    while (store.scan(at(1000), 1).value() > 0) {
    }
    CHECK(row_of(store, timer_40).due_at == at(40));
    CHECK(row_of(store, timer_40).changed_at == at(1000));

    std::vector<run_id> order;
    for (;;) {
        auto const taken = claim_all(store, owner, {{"greeting", 1}}, order.empty() ? 1 : 3);
        if (taken.empty()) break;
        for (auto const& c : taken) order.push_back(c.row.id);
    }
    CHECK(order == std::vector{urgent_55, limit_20, fresh_25, timer_30, put_back_35.id(), timer_40, cancelled_45, delayed_50, told_60, late_70});
}

TEMPLATE_LIST_TEST_CASE("P62 a run that stands in the queue keeps its place, whatever else comes for it", "[store][claim]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto const owner = some_owner(store);
    auto first = start_and_claim(store, owner);
    auto g = first.change(status_event::requeue, true);
    applied(store, first, g);
    auto const place_of = row_of(store, first.id()).due_at;
    auto ask = some_request(first.id());
    ask.at = at(500);
    REQUIRE(store.ask(ask).value() == request_fate::taken);
    CHECK(row_of(store, first.id()).status == status_pair{execution_status::queued, run_status::cancelling});
    CHECK(row_of(store, first.id()).due_at == place_of);
}

TEMPLATE_LIST_TEST_CASE("runs of a dead owner are taken over, whatever their status", "[store][claim][owner]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto const alice = some_owner(store), bob = some_owner(store);
    auto executing = start_and_claim(store, alice), waiting = start_and_claim(store, alice), other = start_and_claim(store, alice, "farewell");
    auto const token = some_token();
    auto g = waiting.change(status_event::block);
    g.effects = {insert_waitpoint{token}, add_edge{token.id, "1", "approve#0"}};
    applied(store, waiting, g);
    CHECK(claim_all(store, bob).empty());

    store.retire_owner(alice);
    auto const taken = claim_all(store, bob);
    REQUIRE(taken.size() == 2);
    for (auto const& c : taken) {
        CHECK(c.taken_over);
        CHECK(c.row.owner == bob);
    }
    CHECK(row_of(store, executing.id()).epoch == next(executing.row.epoch));
    auto const entries = store.load(executing.id()).value()->entries;
    CHECK(entries[entries.size() - 2].kind == entry_kind::recovered);
    CHECK(entries.back().name == "take_over");
    // A run that only stood at a wait was not executing.
    auto const of_waiting = store.load(waiting.id()).value()->entries;
    for (auto const& e : of_waiting) CHECK(e.kind != entry_kind::recovered);
    CHECK(row_of(store, waiting.id()).status.run == run_status::waiting);
    CHECK(store.load(waiting.id()).value()->waitpoints.size() == 1);

    // The dead owner is remembered until the last of its runs is taken.
    CHECK(store.reader().owners().value().size() == 2);
    CHECK(claim_all(store, bob, {{"farewell", 1}}).size() == 1);
    CHECK(store.reader().owners().value().size() == 1);
}

TEMPLATE_LIST_TEST_CASE("an owner without runs leaves nothing, and its number is never used again", "[store][owner]", every_store)
{
    TestType place;
    auto& store = *place.store;
    std::set<owner_id> seen;
    for (int i = 0; i < 5; ++i) {
        auto const owner = some_owner(store);
        CHECK(owner != owner_id::nobody);
        CHECK(seen.insert(owner).second);
        REQUIRE(store.reader().owners().value().size() == 1);
        CHECK(store.reader().owners().value()[0].alive);
        CHECK(store.ping(owner, std::chrono::seconds{1}).has_value());
        store.retire_owner(owner);
        CHECK(store.reader().owners().value().empty());
    }
}

TEMPLATE_LIST_TEST_CASE("two claimers in two threads never take the same run", "[store][claim]", every_store)
{
    TestType place;
    auto const other = place.again();
    for (int i = 0; i < 200; ++i) REQUIRE(place.store->start(some_run()).value().answer == start_answer::started);
    std::atomic<std::size_t> count{0};
    std::mutex mutex;
    std::set<run_id> all;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            auto& s = t % 2 ? *place.store : *other;
            auto const owner = s.add_owner({"a thread", 1, at(0)}).value();
            workflow_version const w{"greeting", 1};
            for (;;) {
                auto const taken = s.claim({owner, {&w, 1}, 7, at(1)}).value();
                if (taken.empty()) return;
                count += taken.size();
                std::scoped_lock guard(mutex);
                for (auto const& c : taken) all.insert(c.row.id);
            }
        });
    for (auto& t : threads) t.join();
    CHECK(count == 200);
    CHECK(all.size() == 200);
}

TEMPLATE_LIST_TEST_CASE("two takers in two threads take a dead owner's runs over once", "[store][claim][owner]", every_store)
{
    TestType place;
    auto const other = place.again();
    auto const dead = some_owner(*place.store);
    std::vector<held_run> runs;
    for (int i = 0; i < 20; ++i) runs.push_back(start_and_claim(*place.store, dead));
    place.store->retire_owner(dead);
    std::atomic<std::size_t> count{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            auto& s = t % 2 ? *place.store : *other;
            auto const owner = s.add_owner({"a thread", 1, at(0)}).value();
            workflow_version const w{"greeting", 1};
            // Who meets another taker at the dead owner's lock takes nothing that time: an engine comes back, and so does this.
            auto const end = std::chrono::steady_clock::now() + std::chrono::seconds{30};
            for (int i = 0; i < 20 || (count < 20 && std::chrono::steady_clock::now() < end); ++i)
                count += s.claim({owner, {&w, 1}, 3, at(1)}).value().size();
        });
    for (auto& t : threads) t.join();
    CHECK(count == 20);
    for (auto const& r : runs) CHECK(row_of(*place.store, r.id()).epoch == next(r.row.epoch));
}

TEMPLATE_LIST_TEST_CASE("a run is not parked on a wait whose end it was queued for and has not taken yet", "[store][claim][wait]", every_store)
{
    // Queueing it deleted the wake row: only the waitpoint still says that there is something to do (P36).
    TestType place;
    auto& store = *place.store;
    auto const owner = some_owner(store);
    auto run = start_and_claim(store, owner);
    auto const token = park(store, run);
    CHECK(store.complete(some_completion(token.id)).value() == completion_answer::completed);
    store.scan(at(3), 10).value();
    auto again = hold(store, claim_all(store, owner).at(0));
    applied(store, again, again.change(status_event::block));
    CHECK(apply(store, again.change(status_event::suspend, true)).kind == answer_kind::superseded);
    auto g = again.change(status_event::unblock);
    g.effects = {take_waitpoint{token.id}};
    applied(store, again, g);
    applied(store, again, again.change(status_event::succeed));
}
