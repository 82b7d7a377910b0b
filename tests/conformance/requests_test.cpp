#include <catch2/catch.hpp>

#include "flow/store_reader.hpp"
#include "support/runs.hpp"
#include "support/stores.hpp"

using namespace flow;
using namespace flow::test;

TEMPLATE_LIST_TEST_CASE("a request to a run that is held is left to its holder, once", "[store][request]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto const owner = some_owner(store);
    auto run = start_and_claim(store, owner);
    auto const asked = some_request(run.id());
    CHECK(store.ask(asked).value() == request_fate::left_to_holder);
    CHECK(store.ask(asked).value() == request_fate::left_to_holder);
    auto const notices = store.look(owner, 10).value();
    REQUIRE(notices.size() == 1);
    CHECK(std::get<mail>(notices[0]).what.id == asked.id);
    CHECK(std::get<mail>(notices[0]).what.why == "a test");
    CHECK(store.load(run.id()).value()->mailbox.size() == 1);

    auto taking = run.steps(2);
    taking.effects.push_back(take_request{asked.id, 1});
    applied(store, run, taking);
    CHECK(store.ask(asked).value() == request_fate::taken);
    CHECK(store.look(owner, 10).value().empty());
    auto const rows = store.reader().requests(run.id()).value();
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].fate == request_fate::taken);
    CHECK(rows[0].entry == run.last);
}

TEMPLATE_LIST_TEST_CASE("mail of a dead holder goes to who takes over", "[store][request]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto const alice = some_owner(store), bob = some_owner(store);
    auto run = start_and_claim(store, alice);
    store.retire_owner(alice);
    REQUIRE(store.ask(some_request(run.id())).value() == request_fate::left_to_holder);
    REQUIRE(claim_all(store, bob).size() == 1);
    CHECK(store.look(bob, 10).value().size() == 1);
}

TEMPLATE_LIST_TEST_CASE("cancel of a run that never began ends it at once", "[store][request][cancel]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto what = some_run();
    bool const delayed = GENERATE(false, true);
    bool const paused = GENERATE(false, true);
    if (delayed) what.due_at = at(100);
    REQUIRE(store.start(what).value().answer == start_answer::started);
    if (paused) REQUIRE(store.ask(some_request(what.id, request_kind::pause)).value() == request_fate::taken);
    auto const asked = some_request(what.id);
    CHECK(store.ask(asked).value() == request_fate::taken);
    CHECK(store.ask(asked).value() == request_fate::taken);
    auto const row = row_of(store, what.id);
    CHECK(row.status == status_pair{execution_status::finished, run_status::cancelled});
    CHECK(claim_all(store, some_owner(store)).empty());
    CHECK(store.scan(at(200), 10).value() == 0);
    CHECK(store.ask(some_request(what.id)).value() == request_fate::ended_before);
    auto const entries = store.load(what.id).value()->entries;
    auto const& request = entries[entries.size() - 2];
    CHECK(request.kind == entry_kind::request);
    CHECK(request.name == "cancel");
    CHECK(request.by == "alice");
    CHECK(request.why == "a test");
    CHECK(entries.back().name == "end_cancelled");
}

TEMPLATE_LIST_TEST_CASE("cancel of a parked run queues it, cancelling, with its waits withdrawn", "[store][request][cancel]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto const owner = some_owner(store);
    auto run = start_and_claim(store, owner);
    auto answered = some_token("answered");
    auto g = run.change(status_event::block);
    g.effects = {insert_waitpoint{answered}, add_edge{answered.id, "1", "answered#0"}};
    applied(store, run, g);
    auto const open = park(store, run);
    REQUIRE(store.complete(some_completion(answered.id)).value() == completion_answer::completed);
    REQUIRE(store.ask(some_request(run.id())).value() == request_fate::taken);

    auto const row = row_of(store, run.id());
    CHECK(row.status == status_pair{execution_status::queued, run_status::cancelling});
    CHECK(row.epoch > run.row.epoch);
    CHECK(store.complete(some_completion(open.id)).value() == completion_answer::withdrawn);
    CHECK(store.scan(at(9), 10).value() == 0);
    // Who replays it finds both: the answer that came before the cancel, and the wait that was withdrawn.
    CHECK(store.load(run.id()).value()->waitpoints.size() == 2);
    auto const taken = claim_all(store, owner);
    REQUIRE(taken.size() == 1);
    CHECK(taken[0].row.status == status_pair{execution_status::executing, run_status::cancelling});
}

TEMPLATE_LIST_TEST_CASE("resume and pause are refused where they mean nothing", "[store][request]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto const what = some_run();
    REQUIRE(store.start(what).value().answer == start_answer::started);
    auto const entries = store.load(what.id).value()->entries.size();
    CHECK(store.ask(some_request(what.id, request_kind::resume)).value() == request_fate::refused);
    CHECK(store.ask(some_request(what.id, request_kind::raise)).value() == request_fate::refused);
    CHECK(store.load(what.id).value()->entries.size() == entries);
    CHECK(store.ask(some_request({fresh_uuid()})).value() == request_fate::unknown_run);

    CHECK(store.ask(some_request(what.id, request_kind::pause)).value() == request_fate::taken);
    CHECK(claim_all(store, some_owner(store)).empty());
    CHECK(store.ask(some_request(what.id, request_kind::resume)).value() == request_fate::taken);
    CHECK(claim_all(store, some_owner(store)).size() == 1);
}
