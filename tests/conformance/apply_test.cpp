#include <catch2/catch.hpp>

#include "flow/store_reader.hpp"
#include "support/runs.hpp"
#include "support/stores.hpp"

using namespace flow;
using namespace flow::test;

TEMPLATE_LIST_TEST_CASE("a group's entries stand in the journal as they were given", "[store][apply]", every_store)
{
    TestType place;
    auto const owner = some_owner(*place.store);
    auto run = start_and_claim(*place.store, owner);
    auto g = run.steps(3);
    auto& e = g.entries[1];
    e.encoding = encoding::bytes;
    e.payload = std::string("\0\xff\n'\"", 5);
    e.segment = 4;
    e.shape_in = "(i64)";
    e.input_hash = sha256("inputs");
    e.commit_ref = "mail-9182";
    e.by = "bob";
    e.why = "because";
    e.attempt = 250;
    g.entries[2].encoding = encoding::none;
    g.entries[2].payload.clear();
    held_run::seal(g);
    applied(*place.store, run, g);

    auto const loaded = place.store->load(run.id()).value();
    REQUIRE(loaded->entries.size() == 6);
    for (std::size_t i = 0; i < 3; ++i) CHECK(loaded->entries[3 + i] == g.entries[i]);
    auto const page = place.store->journal(run.id(), seq_no{3}, 2).value();
    REQUIRE(page.size() == 2);
    CHECK(page[1] == g.entries[1]);
}

TEMPLATE_LIST_TEST_CASE("a group with an older epoch writes nothing", "[store][fencing]", every_store)
{
    TestType place;
    auto const alice = some_owner(*place.store), bob = some_owner(*place.store);
    auto first = start_and_claim(*place.store, alice);
    place.store->retire_owner(alice);
    auto const taken = claim_all(*place.store, bob);
    REQUIRE(taken.size() == 1);
    CHECK(taken[0].taken_over);
    auto second = hold(*place.store, taken[0]);
    REQUIRE(second.row.epoch > first.row.epoch);

    CHECK(apply(*place.store, first.steps()).kind == answer_kind::fenced);
    CHECK(place.store->load(first.id()).value()->entries.back().seq == second.last);
    applied(*place.store, second, second.steps());
}

TEMPLATE_LIST_TEST_CASE("a group that landed before a takeover is fenced all the same", "[store][fencing]", every_store)
{
    TestType place;
    auto const alice = some_owner(*place.store), bob = some_owner(*place.store);
    auto first = start_and_claim(*place.store, alice);
    auto const g = first.steps();
    applied(*place.store, first, g);
    place.store->retire_owner(alice);
    REQUIRE(claim_all(*place.store, bob).size() == 1);
    CHECK(apply(*place.store, g).kind == answer_kind::fenced);
}

TEMPLATE_LIST_TEST_CASE("a group must follow the run's last entry", "[store][apply]", every_store)
{
    TestType place;
    auto run = start_and_claim(*place.store, some_owner(*place.store));
    auto ahead = run;
    ahead.last = next(ahead.last);
    auto const groups = std::vector{ahead.steps(), run.steps()};
    auto const answers = place.store->apply(groups, std::chrono::seconds{5}).value();
    CHECK(answers[0].kind == answer_kind::gap);
    CHECK(answers[1].kind == answer_kind::not_applied);
    CHECK(place.store->load(run.id()).value()->entries.size() == 3);
}

TEMPLATE_LIST_TEST_CASE("the same group again is applied and not written again", "[store][apply]", every_store)
{
    TestType place;
    auto run = start_and_claim(*place.store, some_owner(*place.store));
    auto g = run.steps(2);
    auto const token = some_token();
    g.effects.push_back(insert_waitpoint{token});
    g.effects.push_back(add_edge{token.id, "1", "approve#0"});
    applied(*place.store, run, g);
    auto const changes = place.store->change_counter().value();
    auto const both = std::vector{g, run.steps()};
    auto const answers = place.store->apply(both, std::chrono::seconds{5}).value();
    CHECK(answers[0].kind == answer_kind::applied);
    CHECK(answers[1].kind == answer_kind::applied);
    CHECK(place.store->change_counter().value() != changes);
    CHECK(place.store->load(run.id()).value()->entries.size() == 6);
    CHECK(place.store->reader().waitpoints({}).value().size() == 1);
}

TEMPLATE_LIST_TEST_CASE("another group at the same seq is fenced", "[store][fencing]", every_store)
{
    TestType place;
    auto run = start_and_claim(*place.store, some_owner(*place.store));
    auto const other = run.steps(1, "2");
    auto const longer = run.steps(2, "1");
    applied(*place.store, run, run.steps(1, "1"));
    CHECK(apply(*place.store, other).kind == answer_kind::fenced);
    CHECK(apply(*place.store, longer).kind == answer_kind::fenced);
}

TEMPLATE_LIST_TEST_CASE("behind a group that was not applied only that run's rest is not applied", "[store][apply]", every_store)
{
    TestType place;
    auto const owner = some_owner(*place.store);
    auto a = start_and_claim(*place.store, owner), b = start_and_claim(*place.store, owner);
    auto stale = a;
    stale.row.epoch = epoch_no{};
    std::vector<group> groups{stale.steps(), b.steps(), a.steps()};
    b.advance(groups[1]);
    groups.push_back(b.steps());
    auto const answers = place.store->apply(groups, std::chrono::seconds{5}).value();
    CHECK(answers[0].kind == answer_kind::fenced);
    CHECK(answers[1].kind == answer_kind::applied);
    CHECK(answers[2].kind == answer_kind::not_applied);
    CHECK(answers[3].kind == answer_kind::applied);
}

TEMPLATE_LIST_TEST_CASE("what an engine must never send is refused and leaves nothing of its batch", "[store][apply]", every_store)
{
    TestType place;
    auto const owner = some_owner(*place.store);
    auto good = start_and_claim(*place.store, owner), run = start_and_claim(*place.store, owner);
    std::vector<group> groups{good.steps(), run.steps()};
    auto& g = groups[1];
    SECTION("a group without an entry") { g.entries.clear(); }
    SECTION("entries with a gap") { g.entries[0].seq = next(g.entries[0].seq); }
    SECTION("an unknown waitpoint") { g.effects.push_back(take_waitpoint{{fresh_uuid()}}); }
    SECTION("a request that is not in the mailbox") { g.effects.push_back(take_request{{fresh_uuid()}, 0}); }
    SECTION("a change without its snapshot entry") { g.change = run_change{run.row.status, {}, {}, false}; }
    SECTION("a change the tables do not have")
    {
        g = run.change(status_event::succeed);
        g.change->status.run = run_status::failed;
    }
    SECTION("a release of a run that executes")
    {
        g = run.change(status_event::cancel);
        g.change->release = true;
    }
    SECTION("the same waitpoint twice")
    {
        auto const token = some_token();
        g.effects.push_back(insert_waitpoint{token});
        g.effects.push_back(insert_waitpoint{token});
    }
    auto const answers = place.store->apply(groups, std::chrono::seconds{5});
    REQUIRE(!answers);
    CHECK(answers.error().code() == errc::usage);
    CHECK(place.store->load(good.id()).value()->entries.size() == 3);
    applied(*place.store, good, good.steps());
    applied(*place.store, run, run.steps());
}

TEMPLATE_LIST_TEST_CASE("the end of a run raises its epoch, frees it and clears up", "[store][end]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto const owner = some_owner(store);
    auto run = start_and_claim(store, owner);
    auto const open = some_token("open"), waited = some_token("waited");
    auto g = run.change(status_event::block);
    g.effects = {insert_waitpoint{open}, insert_waitpoint{waited}, add_edge{waited.id, "1", "waited#0"}};
    applied(store, run, g);
    REQUIRE(store.complete(some_completion(waited.id)).value() == completion_answer::completed);
    auto const asked = some_request(run.id()), taken = some_request(run.id(), request_kind::pause);
    REQUIRE(store.ask(asked).value() == request_fate::left_to_holder);
    REQUIRE(store.ask(taken).value() == request_fate::left_to_holder);
    auto const end = [&] {
        auto e = run.change(status_event::fail);
        e.effects.push_back(take_request{taken.id, 0});
        e.change->terminal_reason = "user_error";
        return e;
    }();
    auto const epoch = run.row.epoch;
    applied(store, run, end);

    auto const row = row_of(store, run.id());
    CHECK(row.status == status_pair{execution_status::finished, run_status::failed});
    CHECK(row.terminal_reason == "user_error");
    CHECK(row.epoch == next(epoch));
    CHECK(row.owner == owner_id::nobody);
    CHECK(row.snapshot == run.last);
    CHECK(store.waitpoint(open.id).value()->status == waitpoint_status::withdrawn);
    CHECK(store.waitpoint(waited.id).value()->status == waitpoint_status::completed);
    CHECK(store.look(owner, 10).value().empty());
    CHECK(store.ask(asked).value() == request_fate::ended_before);
    CHECK(store.ask(taken).value() == request_fate::taken);
    CHECK(store.ask(some_request(run.id())).value() == request_fate::ended_before);
    auto const loaded = store.load(run.id()).value();
    CHECK(loaded->waitpoints.empty());
    CHECK(loaded->mailbox.empty());

    SECTION("told again to the holder that sent it") { CHECK(apply(store, end).kind == answer_kind::applied); }
    SECTION("and nothing more is written") { CHECK(apply(store, run.steps()).kind != answer_kind::gap); }
}

TEMPLATE_LIST_TEST_CASE("a release frees the run and raises the epoch", "[store][release]", every_store)
{
    TestType place;
    auto run = start_and_claim(*place.store, some_owner(*place.store));
    auto stale = run;
    park(*place.store, run);
    auto const row = row_of(*place.store, run.id());
    CHECK(row.owner == owner_id::nobody);
    CHECK(row.epoch == next(stale.row.epoch));
    stale.last = run.last;
    CHECK(apply(*place.store, stale.steps()).kind == answer_kind::fenced);
}

TEMPLATE_LIST_TEST_CASE("a release that finds work is superseded", "[store][release]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto const owner = some_owner(store);
    auto run = start_and_claim(store, owner);
    auto const token = some_token();
    auto g = run.change(status_event::block);
    g.effects = {insert_waitpoint{token}, add_edge{token.id, "1", "approve#0"}};
    applied(store, run, g);

    SECTION("mail")
    {
        auto const asked = some_request(run.id());
        REQUIRE(store.ask(asked).value() == request_fate::left_to_holder);
        auto release = run.change(status_event::suspend, true);
        auto const a = apply(store, release);
        CHECK(a.kind == answer_kind::superseded);
        CHECK_FALSE(a.superseded_by);
        release.effects.push_back(take_request{asked.id, 0});
        applied(store, run, release);
    }
    SECTION("a wake row")
    {
        REQUIRE(store.complete(some_completion(token.id)).value() == completion_answer::completed);
        auto release = run.change(status_event::suspend, true);
        CHECK(apply(store, release).kind == answer_kind::superseded);
        release.effects.push_back(take_waitpoint{token.id});
        applied(store, run, release);
    }
    SECTION("a wake row does not keep a run from being held")
    {
        REQUIRE(store.complete(some_completion(token.id)).value() == completion_answer::completed);
        applied(store, run, run.change(status_event::hold, true));
        CHECK(store.scan(at(9), 10).value() == 0);
        CHECK(store.ask(some_request(run.id(), request_kind::resume)).value() == request_fate::taken);
        CHECK(row_of(store, run.id()).status.execution == execution_status::queued);
    }
    SECTION("an edge to what is decided already")
    {
        REQUIRE(store.complete(some_completion(token.id)).value() == completion_answer::completed);
        auto taking = run.steps();
        taking.effects.push_back(take_waitpoint{token.id});
        applied(store, run, taking);
        auto release = run.change(status_event::suspend, true);
        release.effects.push_back(add_edge{token.id, "1", "approve#0"});
        CHECK(apply(store, release).kind == answer_kind::superseded);
    }
}

TEMPLATE_LIST_TEST_CASE("a damaged payload is put back under its own hash only", "[store][apply]", every_store)
{
    TestType place;
    auto run = start_and_claim(*place.store, some_owner(*place.store));
    auto g = run.steps(1, "41");
    applied(*place.store, run, g);
    auto const seq = run.last;
    auto again = run.steps();
    again.effects.push_back(put_back{seq, "42"});
    again.effects.push_back(put_back{seq, "41"});
    applied(*place.store, run, again);
    CHECK(place.store->load(run.id()).value()->entries[static_cast<std::size_t>(seq) - 1] == g.entries[0]);
}
