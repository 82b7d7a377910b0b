// Two transactions at once, one stopped inside by its probe (field cases PR-03, PR-04). A store that makes the other wait
// passes: then the other comes second.
#include <atomic>
#include <thread>

#include <catch2/catch.hpp>

#include "flow/store_reader.hpp"
#include "support/meeting.hpp"
#include "support/runs.hpp"
#include "support/stores.hpp"

using namespace flow;
using namespace flow::test;

TEMPLATE_LIST_TEST_CASE("PR-03: a wait registered while its completion is open wakes, either way round", "[store][wait][race]", every_store)
{
    bool const register_first = GENERATE(true, false);
    auto const point = GENERATE(probe_point::locked, probe_point::written, probe_point::before_commit);
    meeting m(register_first ? "apply" : "complete", point);
    TestType place(m.probe());
    auto const other = place.again();
    auto& store = *place.store;
    auto const owner = some_owner(store);
    auto run = start_and_claim(store, owner);
    auto const token = some_token();
    auto making = run.steps();
    making.effects.push_back(insert_waitpoint{token});
    applied(store, run, making);
    auto registering = run.change(status_event::block);
    registering.effects.push_back(add_edge{token.id, "1", "approve#0"});

    m.arm();
    answer told;
    std::thread first([&] {
        if (register_first)
            told = store.apply({&registering, 1}, std::chrono::seconds{5}).value().front();
        else
            (void)store.complete(some_completion(token.id)).value();
    });
    REQUIRE(m.wait_inside());
    std::thread second([&] {
        if (register_first)
            (void)other->complete(some_completion(token.id)).value();
        else
            told = other->apply({&registering, 1}, std::chrono::seconds{5}).value().front();
        m.other_done();
    });
    first.join();
    second.join();
    CHECK(told.kind == answer_kind::applied);
    CHECK(store.waitpoint(token.id).value()->status == waitpoint_status::completed);
    CHECK(store.look(owner, 10).value().size() == 1);
}

TEMPLATE_LIST_TEST_CASE("PR-03: a run that parks while its token is completed is queued", "[store][wait][race]", every_store)
{
    bool const park_first = GENERATE(true, false);
    auto const point = GENERATE(probe_point::locked, probe_point::written, probe_point::before_commit);
    meeting m(park_first ? "apply" : "complete", point);
    TestType place(m.probe());
    auto const other = place.again();
    auto& store = *place.store;
    auto run = start_and_claim(store, some_owner(store));
    auto const token = some_token();
    auto g = run.change(status_event::block);
    g.effects = {insert_waitpoint{token}, add_edge{token.id, "1", "approve#0"}};
    applied(store, run, g);
    auto const parking = run.change(status_event::suspend, true);

    m.arm();
    answer told;
    auto const park_it = [&](flow::store& s) { told = s.apply({&parking, 1}, std::chrono::seconds{5}).value().front(); };
    auto const complete_it = [&](flow::store& s) { (void)s.complete(some_completion(token.id)).value(); };
    std::thread first([&] { park_first ? park_it(store) : complete_it(store); });
    REQUIRE(m.wait_inside());
    std::thread second([&] {
        park_first ? complete_it(*other) : park_it(*other);
        m.other_done();
    });
    first.join();
    second.join();
    REQUIRE(store.scan(at(9), 10).has_value());
    if (told.kind == answer_kind::applied)
        CHECK(row_of(store, run.id()).status.execution == execution_status::queued);
    else
        CHECK(told.kind == answer_kind::superseded);
}

TEMPLATE_LIST_TEST_CASE("PR-04: a takeover between a group's fence and its commit, never both", "[store][fencing][race]", every_store)
{
    bool const group_first = GENERATE(true, false);
    auto const point = GENERATE(probe_point::locked, probe_point::written, probe_point::before_commit);
    meeting m(group_first ? "apply" : "claim", point);
    TestType place(m.probe());
    auto const other = place.again();
    auto& store = *place.store;
    auto const alice = some_owner(store), bob = some_owner(*other);
    auto run = start_and_claim(store, alice);
    auto const g = run.steps();
    store.retire_owner(alice);
    workflow_version const w{"greeting", 1};

    m.arm();
    answer told;
    std::vector<claimed> taken;
    auto const write = [&](flow::store& s) { told = s.apply({&g, 1}, std::chrono::seconds{5}).value().front(); };
    auto const take = [&](flow::store& s) { taken = s.claim({bob, {&w, 1}, 10, at(3)}).value(); };
    std::thread first([&] { group_first ? write(store) : take(store); });
    REQUIRE(m.wait_inside());
    std::thread second([&] {
        group_first ? take(*other) : write(*other);
        m.other_done();
    });
    first.join();
    second.join();
    REQUIRE(taken.size() == 1);
    auto const entries = store.load(run.id()).value()->entries;
    bool const stands = std::count(entries.begin(), entries.end(), g.entries[0]) == 1;
    CHECK(stands == (told.kind == answer_kind::applied));
    if (!stands) CHECK(told.kind == answer_kind::fenced);
    // Whatever came first, the new holder's journal goes on without a gap.
    auto second_holder = hold(store, taken[0]);
    applied(store, second_holder, second_holder.steps());
}

TEMPLATE_LIST_TEST_CASE("P36: an event delivered while its wait is registered or ends is matched or kept, either way round", "[store][event][race]", every_store)
{
    enum class other_side { registers, parks, times_out, withdraws, ends };
    auto const what = GENERATE(other_side::registers, other_side::parks, other_side::times_out, other_side::withdraws, other_side::ends);
    bool const event_first = GENERATE(true, false);
    auto const point = GENERATE(probe_point::locked, probe_point::written, probe_point::before_commit);
    CAPTURE(what, event_first, point);
    meeting m(event_first ? "deliver" : "apply", point);
    TestType place(m.probe());
    auto const other = place.again();
    auto& store = *place.store;
    auto const owner = some_owner(store);
    auto run = start_and_claim(store, owner);
    auto const wait = some_event_wait();
    auto registering = run.change(status_event::block);
    registering.effects = {insert_waitpoint{wait}, add_edge{wait.id, "1", wait.place}};
    if (what != other_side::registers) applied(store, run, registering);
    auto const g = [&] {
        switch (what) {
        case other_side::registers: return registering;
        case other_side::parks: return run.change(status_event::suspend, true);
        case other_side::ends: return run.change(status_event::fail);
        default: break;
        }
        auto over = run.change(status_event::unblock);
        over.effects = {decide_waitpoint{wait.id, what == other_side::times_out ? waitpoint_status::timed_out : waitpoint_status::withdrawn}};
        return over;
    }();
    auto const e = some_event();

    m.arm();
    answer told;
    delivered sent;
    auto const apply_it = [&](flow::store& s) { told = s.apply({&g, 1}, std::chrono::seconds{5}).value().front(); };
    auto const send_it = [&](flow::store& s) { sent = s.deliver(e).value(); };
    std::thread first([&] { event_first ? send_it(store) : apply_it(store); });
    REQUIRE(m.wait_inside());
    std::thread second([&] {
        event_first ? apply_it(*other) : send_it(*other);
        m.other_done();
    });
    first.join();
    second.join();

    // Never lost, never taken twice: it is with the waiter or in the inbox, and both sides were told the same.
    auto const row = *store.waitpoint(wait.id).value();
    auto const kept = store.reader().events({}).value();
    REQUIRE(kept.size() == 1);
    bool const got = row.status == waitpoint_status::completed;
    CHECK((kept[0].fate == event_fate::given) == got);
    CHECK((sent.answer == delivery_answer::matched) == (got && !(what == other_side::registers && !told.decided.empty())));
    auto const notices = store.look(owner, 10).value();
    switch (what) {
    case other_side::registers:
        CHECK(got);
        CHECK(notices.size() == 1);
        break;
    case other_side::parks:
        CHECK(got);
        if (told.kind == answer_kind::superseded) {
            CHECK(notices.size() == 1);
        } else {
            REQUIRE(store.scan(at(9), 10).has_value());
            CHECK(row_of(store, run.id()).status.execution == execution_status::queued);
        }
        break;
    case other_side::times_out:
    case other_side::withdraws: CHECK((told.kind == answer_kind::superseded) == got); break;
    case other_side::ends:
        CHECK(told.kind == answer_kind::applied);
        CHECK(notices.empty());
        break;
    }
    // What was not given is there for the next.
    if (!got) {
        auto next_run = start_and_claim(store, owner);
        auto again = next_run.change(status_event::block);
        auto const next_wait = some_event_wait();
        again.effects = {insert_waitpoint{next_wait}, add_edge{next_wait.id, "1", next_wait.place}};
        CHECK(apply(store, again).decided.size() == 1);
    }
}
