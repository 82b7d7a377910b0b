#include <atomic>
#include <thread>

#include <catch2/catch.hpp>

#include "flow/store_reader.hpp"
#include "support/runs.hpp"
#include "support/stores.hpp"

using namespace flow;
using namespace flow::test;

namespace {

/// A group that makes this waitpoint and an edge to it.
group waiting(held_run const& run, waitpoint_row row)
{
    auto g = run.change(status_event::block);
    g.effects = {insert_waitpoint{row}, add_edge{row.id, "1", row.place}};
    return g;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("the first completion wins and the others are told", "[store][wait]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto const owner = some_owner(store);
    auto run = start_and_claim(store, owner);
    auto const token = some_token();
    applied(store, run, waiting(run, token));

    auto const first = some_completion(token.id, "true");
    CHECK(store.complete(first).value() == completion_answer::completed);
    CHECK(store.complete(first).value() == completion_answer::already_same);
    CHECK(store.complete(some_completion(token.id, "false")).value() == completion_answer::already_other);
    CHECK(store.complete(some_completion({fresh_uuid()})).value() == completion_answer::unknown);

    auto const row = store.waitpoint(token.id).value();
    REQUIRE(row);
    CHECK(row->status == waitpoint_status::completed);
    CHECK(row->output == "true");
    CHECK(row->by == "alice");
    CHECK(row->completed_at == first.at);
    auto const notices = store.look(owner, 10).value();
    REQUIRE(notices.size() == 1);
    CHECK(std::get<woken>(notices[0]).run == run.id());
    CHECK(std::get<woken>(notices[0]).waitpoint.id == token.id);
}

TEMPLATE_LIST_TEST_CASE("a secret must be the token's own", "[store][wait][secret]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto run = start_and_claim(store, some_owner(store));
    auto const token = some_token(), other = some_token();
    auto bare = some_token();
    bare.secret_hash = {};
    bare.purpose = waitpoint_purpose::intervention;
    auto g = run.steps();
    g.effects = {insert_waitpoint{token}, insert_waitpoint{other}, insert_waitpoint{bare}};
    applied(store, run, g);

    auto c = some_completion(token.id);
    c.secret_hash = sha256("a guess");
    CHECK(store.complete(c).value() == completion_answer::wrong_secret);
    c.secret_hash = digest{};
    CHECK(store.complete(c).value() == completion_answer::wrong_secret);
    c.secret_hash = token.secret_hash;
    CHECK(store.complete(c).value() == completion_answer::completed);
    c.waitpoint = bare.id;
    CHECK(store.complete(c).value() == completion_answer::wrong_secret);
    c.secret_hash = std::nullopt;  // an operator
    CHECK(store.complete(c).value() == completion_answer::completed);

    auto const secret = store.secret_of(token.id).value();
    CHECK(secret.size() == 64);
    CHECK(secret == store.secret_of(token.id).value());
    CHECK(secret != store.secret_of(other.id).value());
}

TEMPLATE_LIST_TEST_CASE("nobody from outside completes a timer or a child's end", "[store][wait]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto run = start_and_claim(store, some_owner(store));
    auto const timer = some_timer(at(50));
    auto child = some_token();
    child.type = waitpoint_type::run;
    child.purpose = waitpoint_purpose::child;
    auto g = run.steps();
    g.effects = {insert_waitpoint{timer}, insert_waitpoint{child}};
    applied(store, run, g);
    CHECK(store.complete(some_completion(timer.id)).value() == completion_answer::not_permitted);
    CHECK(store.complete(some_completion(child.id)).value() == completion_answer::not_permitted);
}

TEMPLATE_LIST_TEST_CASE("a holder's decision wins once, and is superseded by what was first", "[store][wait]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto const owner = some_owner(store);
    auto run = start_and_claim(store, owner);
    auto const token = some_token();
    applied(store, run, waiting(run, token));
    auto const fate = GENERATE(waitpoint_status::timed_out, waitpoint_status::withdrawn);
    auto decision = run.steps();
    decision.effects.push_back(decide_waitpoint{token.id, fate});

    SECTION("it comes first")
    {
        applied(store, run, decision);
        CHECK(store.complete(some_completion(token.id)).value() ==
              (fate == waitpoint_status::timed_out ? completion_answer::timed_out : completion_answer::withdrawn));
        CHECK(store.look(owner, 10).value().empty());
        CHECK(store.load(run.id()).value()->waitpoints.empty());
    }
    SECTION("a completion comes first")
    {
        REQUIRE(store.complete(some_completion(token.id)).value() == completion_answer::completed);
        auto const behind = [&] {
            auto next_one = run;
            next_one.last = next(run.last);
            return next_one.steps();
        }();
        auto const answers = store.apply(std::vector{decision, behind}, std::chrono::seconds{5}).value();
        CHECK(answers[0].kind == answer_kind::superseded);
        REQUIRE(answers[0].superseded_by);
        CHECK(answers[0].superseded_by->status == waitpoint_status::completed);
        CHECK(answers[0].superseded_by->output == "true");
        CHECK(answers[1].kind == answer_kind::not_applied);
        CHECK(store.load(run.id()).value()->entries.back().seq == run.last);
        CHECK(store.look(owner, 10).value().size() == 1);
        auto taking = run.steps();
        taking.effects.push_back(take_waitpoint{token.id});
        applied(store, run, taking);
        CHECK(store.look(owner, 10).value().empty());
        CHECK(store.load(run.id()).value()->waitpoints.empty());
    }
}

TEMPLATE_LIST_TEST_CASE("the same edge twice is one edge", "[store][wait]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto const owner = some_owner(store);
    auto run = start_and_claim(store, owner);
    auto const token = some_token();
    auto g = waiting(run, token);
    g.effects.push_back(add_edge{token.id, "1", "approve#0"});
    applied(store, run, g);
    auto again = run.steps();
    again.effects.push_back(add_edge{token.id, "1", "approve#0"});
    applied(store, run, again);
    CHECK(store.load(run.id()).value()->waitpoints.size() == 1);
    REQUIRE(store.complete(some_completion(token.id)).value() == completion_answer::completed);
    CHECK(store.look(owner, 10).value().size() == 1);
}

TEMPLATE_LIST_TEST_CASE("an edge to what is decided already says so and wakes", "[store][wait]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto const owner = some_owner(store);
    auto run = start_and_claim(store, owner);
    auto const token = some_token();
    auto making = run.steps();
    making.effects.push_back(insert_waitpoint{token});
    applied(store, run, making);
    REQUIRE(store.complete(some_completion(token.id)).value() == completion_answer::completed);
    CHECK(store.look(owner, 10).value().empty());

    auto edge = run.steps();
    edge.effects.push_back(add_edge{token.id, "1", "approve#0"});
    auto const a = apply(store, edge);
    REQUIRE(a.kind == answer_kind::applied);
    REQUIRE(a.decided.size() == 1);
    CHECK(a.decided[0].output == "true");
    CHECK(store.look(owner, 10).value().size() == 1);
    CHECK(apply(store, edge).decided.size() == 1);
    CHECK(store.look(owner, 10).value().size() == 1);
}

TEMPLATE_LIST_TEST_CASE("one completion wakes every run that waits, and leaving takes one of them out", "[store][wait]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto const owner = some_owner(store);
    auto a = start_and_claim(store, owner), b = start_and_claim(store, owner), c = start_and_claim(store, owner);
    auto const token = some_token();
    applied(store, a, waiting(a, token));
    for (auto* run : {&b, &c}) {
        auto g = run->steps();
        g.effects.push_back(add_edge{token.id, "1", "approve#0"});
        applied(store, *run, g);
    }
    auto leaving = c.steps();
    leaving.effects.push_back(leave_waitpoint{token.id});
    applied(store, c, leaving);
    REQUIRE(store.complete(some_completion(token.id)).value() == completion_answer::completed);
    CHECK(store.look(owner, 10).value().size() == 2);
    auto late = b.steps();
    late.effects.push_back(leave_waitpoint{token.id});
    CHECK(apply(store, late).kind == answer_kind::superseded);

    SECTION("ended runs are not woken again")
    {
        applied(store, b, b.change(status_event::succeed));
        CHECK(store.look(owner, 10).value().size() == 1);
    }
}

TEMPLATE_LIST_TEST_CASE("a run's own end wakes who else waits on its waitpoints", "[store][wait][end]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto const owner = some_owner(store);
    auto a = start_and_claim(store, owner), b = start_and_claim(store, owner);
    auto const token = some_token();
    applied(store, a, waiting(a, token));
    auto g = b.steps();
    g.effects.push_back(add_edge{token.id, "1", "approve#0"});
    applied(store, b, g);
    applied(store, a, a.change(status_event::fail));
    auto const notices = store.look(owner, 10).value();
    REQUIRE(notices.size() == 1);
    CHECK(std::get<woken>(notices[0]).run == b.id());
    CHECK(std::get<woken>(notices[0]).waitpoint.status == waitpoint_status::withdrawn);
}

TEMPLATE_LIST_TEST_CASE("a parked run whose token was completed is queued, at once or by a scan", "[store][scan]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto const owner = some_owner(store);
    auto run = start_and_claim(store, owner);
    auto const token = park(store, run);
    CHECK(store.scan(at(7), 10).value() == 0);
    REQUIRE(store.complete(some_completion(token.id)).value() == completion_answer::completed);
    bool const at_once = row_of(store, run.id()).status.execution == execution_status::queued;
    CHECK(store.scan(at(8), 10).value() == (at_once ? 0 : 1));
    CHECK(store.scan(at(8), 10).value() == 0);

    auto const row = row_of(store, run.id());
    CHECK(row.status == status_pair{execution_status::queued, run_status::queued});
    CHECK(row.epoch > run.row.epoch);
    auto const loaded = store.load(run.id()).value();
    CHECK(loaded->entries.back().why == "Run was QUEUED after waitpoints completed.");
    REQUIRE(loaded->waitpoints.size() == 1);
    CHECK(loaded->waitpoints[0].status == waitpoint_status::completed);
    CHECK(claim_all(store, owner).size() == 1);
    CHECK(store.look(owner, 10).value().empty());
}

TEMPLATE_LIST_TEST_CASE("who completes a token may take the run that it wakes along", "[store][wait]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto const owner = some_owner(store);
    auto run = start_and_claim(store, owner);
    auto const token = park(store, run);
    std::vector<workflow_version> mine{{run.row.workflow, run.row.version}};
    std::size_t most = 10;
    bool may_take = true;
    SECTION("it executes its workflow") {}
    SECTION("it does not") { mine.front().version += 1, may_take = false; }
    SECTION("it has no room") { most = 0, may_take = false; }
    SECTION("the run is paused")
    {
        REQUIRE(store.ask(some_request(run.id(), request_kind::pause)).value() == request_fate::taken);
        may_take = false;
    }
    auto const what = some_completion(token.id);
    auto const told = store.complete_and_claim(what, {owner, mine, most, at(3)}).value();
    CHECK(told.answer == completion_answer::completed);
    CHECK(store.complete_and_claim(what, {owner, mine, most, at(3)}).value().answer == completion_answer::already_same);
    if (!may_take) {
        CHECK(told.runs.empty());
        CHECK(row_of(store, run.id()).owner == owner_id::nobody);
        return;
    }
    auto taken = told.runs;
    if (taken.empty()) {  // this store leaves it to a scan and a claim
        REQUIRE(store.scan(at(4), 10).value() == 1);
        taken = claim_all(store, owner);
    }
    REQUIRE(taken.size() == 1);
    auto const row = row_of(store, run.id());
    CHECK(taken[0].row.id == run.id());
    CHECK(taken[0].row.epoch == row.epoch);
    CHECK(row.owner == owner);
    CHECK(row.epoch > run.row.epoch);
    CHECK(row.status == status_pair{execution_status::executing, run_status::running});
    CHECK(store.load(run.id()).value()->waitpoints.size() == 1);
    CHECK(store.look(owner, 10).value().empty());
    CHECK(claim_all(store, owner).empty());
}

TEMPLATE_LIST_TEST_CASE("a scan decides what fell due for runs that nobody holds", "[store][scan][timer]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto const owner = some_owner(store);
    auto sleeper = start_and_claim(store, owner), asker = start_and_claim(store, owner), holder = start_and_claim(store, owner);
    auto const timer = park_on(store, sleeper, some_timer(at(50)));
    auto token = some_token();
    token.due_at = at(60);
    token = park_on(store, asker, token);
    auto const mine = some_timer(at(40));
    applied(store, holder, waiting(holder, mine));

    CHECK(store.next_due().value() == at(50));
    CHECK(store.scan(at(49), 10).value() == 0);
    CHECK(store.scan(at(55), 10).value() == 1);
    CHECK(store.next_due().value() == at(60));
    CHECK(store.scan(at(60), 10).value() == 1);
    CHECK(store.next_due().value() == never);
    CHECK(store.waitpoint(timer.id).value()->status == waitpoint_status::completed);
    CHECK(store.waitpoint(token.id).value()->status == waitpoint_status::timed_out);
    CHECK(store.waitpoint(mine.id).value()->status == waitpoint_status::pending);
    CHECK(claim_all(store, owner).size() == 2);
}

TEMPLATE_LIST_TEST_CASE("a paused run keeps its wake until it is resumed", "[store][scan][request]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto run = start_and_claim(store, some_owner(store));
    auto const token = park(store, run);
    REQUIRE(store.ask(some_request(run.id(), request_kind::pause)).value() == request_fate::taken);
    REQUIRE(store.complete(some_completion(token.id)).value() == completion_answer::completed);
    CHECK(store.scan(at(9), 10).value() == 0);
    CHECK(row_of(store, run.id()).status.run == run_status::paused);
    REQUIRE(store.ask(some_request(run.id(), request_kind::resume)).value() == request_fate::taken);
    CHECK(row_of(store, run.id()).status == status_pair{execution_status::queued, run_status::queued});
    CHECK(store.load(run.id()).value()->waitpoints.size() == 1);
}

TEMPLATE_LIST_TEST_CASE("completions from many threads: one wins", "[store][wait]", every_store)
{
    TestType place;
    auto const other = place.again();
    auto run = start_and_claim(*place.store, some_owner(*place.store));
    auto const token = park(*place.store, run);
    std::atomic<int> won{0}, lost{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t)
        threads.emplace_back([&, t] {
            auto& s = t % 2 ? *place.store : *other;
            auto const told = s.complete(some_completion(token.id, std::to_string(t))).value();
            won += told == completion_answer::completed;
            lost += told == completion_answer::already_other;
        });
    for (auto& t : threads) t.join();
    CHECK(won == 1);
    CHECK(lost == 7);
    REQUIRE(place.store->scan(at(9), 10).has_value());
    CHECK(row_of(*place.store, run.id()).status.execution == execution_status::queued);
}

TEMPLATE_LIST_TEST_CASE("the change counter moves when another store object commits", "[store]", every_store)
{
    TestType place;
    auto const other = place.again();
    auto const before = place.store->change_counter().value();
    CHECK(place.store->change_counter().value() == before);
    REQUIRE(other->start(some_run()).value().answer == start_answer::started);
    CHECK(place.store->change_counter().value() != before);
}
