#include <atomic>
#include <mutex>
#include <set>

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
