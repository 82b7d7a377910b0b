// Children: their rows, the waitpoints of their ends and what their parents' ends ask, in the transactions they follow from.
#include <map>

#include <catch2/catch.hpp>

#include "child_groups.hpp"
#include "flow/store_reader.hpp"
#include "support/stores.hpp"

using namespace flow;
using namespace flow::test;

namespace {

waitpoint_row end_row(store& s, run_id child)
{
    auto const w = s.waitpoint(end_of(child)).value();
    REQUIRE(w);
    return *w;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a child is written with its parent's entry, once", "[store][child]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto const owner = some_owner(store);
    auto parent = start_and_claim(store, owner);
    auto const child = some_child(parent, "child#0");
    auto const g = starting(parent, child);
    auto const told = apply(store, g);
    CHECK(told.kind == answer_kind::applied);
    CHECK(told.others);
    CHECK(apply(store, g).kind == answer_kind::applied);  // the same group again
    parent.advance(g);

    auto const row = row_of(store, child.run.id);
    CHECK(row.parent == parent.id());
    CHECK(row.workflow == "child");
    CHECK(row.status == status_pair{execution_status::queued, run_status::queued});
    auto const entries = store.journal(row.id, seq_no::none, 10).value();
    REQUIRE(entries.size() == 2);
    CHECK(entries[0].kind == entry_kind::start);
    CHECK(entries[1].kind == entry_kind::snapshot);
    for (auto const& e : entries) CHECK(checksum_of(e, row.id) == e.checksum);
    CHECK(row.snapshot == entries[1].seq);
    auto const w = end_row(store, row.id);
    CHECK(w.type == waitpoint_type::run);
    CHECK(w.purpose == waitpoint_purpose::child);
    CHECK(w.run == parent.id());
    CHECK(w.status == waitpoint_status::pending);
    CHECK(w.place == "child#0");
    CHECK(store.complete(some_completion(w.id)).value() == completion_answer::not_permitted);

    // Found again: other entries, the same child.
    auto const again = starting(parent, child);
    CHECK(apply(store, again).kind == answer_kind::applied);
    parent.advance(again);
    auto const all = store.reader().children(parent.id(), std::nullopt, 10).value();
    REQUIRE(all.size() == 1);
    CHECK(all[0].run.id == row.id);
    CHECK(all[0].on_close == close_policy::cancel);
    CHECK(claim_all(store, owner, {{"child", 1}}).size() == 1);
}

TEMPLATE_LIST_TEST_CASE("a child whose key another run has is not written, nor is anything of the group", "[store][child]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto parent = start_and_claim(store, some_owner(store));
    auto const other = store.start(some_run("other", "order-7")).value().id;
    auto const child = some_child(parent, "child#0", close_policy::cancel, "order-7");
    auto const told = apply(store, starting(parent, child));
    CHECK(told.kind == answer_kind::superseded);
    CHECK_FALSE(told.superseded_by);
    REQUIRE(told.taken);
    CHECK(told.taken->id == other);
    CHECK_FALSE(store.run(child.run.id).value());
    CHECK_FALSE(store.waitpoint(end_of(child.run.id)).value());
    CHECK(store.reader().children(parent.id(), std::nullopt, 10).value().empty());
    CHECK(store.journal(parent.id(), parent.last, 10).value().empty());
    applied(store, parent, parent.steps());

    // Two that want one key in one batch: the first has it.
    auto second = start_and_claim(store, some_owner(store), "second");
    auto const a = starting(parent, some_child(parent, "child#1", close_policy::cancel, "order-8"));
    auto const b = starting(second, some_child(second, "child#0", close_policy::cancel, "order-8"));
    std::vector<group> const both{a, b};
    auto const answers = store.apply(both, std::chrono::seconds{5}).value();
    CHECK(answers[0].kind == answer_kind::applied);
    CHECK(answers[1].kind == answer_kind::superseded);
    CHECK(answers[1].taken);
}

TEMPLATE_LIST_TEST_CASE("the end of a child completes its waitpoint in the same transaction, once, and wakes who waits", "[store][child]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto const owner = some_owner(store);
    auto parent = start_and_claim(store, owner);
    auto const child = some_child(parent, "child#0"), failing = some_child(parent, "child#1");
    applied(store, parent, starting(parent, child));
    auto run = claim_child(store, owner, child.run.id);
    auto waits = parent.change(status_event::block);
    waits.effects = {add_edge{end_of(child.run.id), "1", "child#1"}};
    CHECK(apply(store, waits).decided.empty());
    parent.advance(waits);
    CHECK(store.look(owner, 10).value().empty());

    auto const last = ending(run, "42");
    auto const told = apply(store, last);
    CHECK(told.kind == answer_kind::applied);
    CHECK(told.others);
    auto const notices = store.look(owner, 10).value();
    REQUIRE(notices.size() == 1);
    auto const& w = std::get<woken>(notices[0]).waitpoint;
    CHECK(std::get<woken>(notices[0]).run == parent.id());
    CHECK(w.status == waitpoint_status::completed);
    CHECK(w.output == "42");
    CHECK(w.by == "run " + to_string(run.id()));
    CHECK(w.output_encoding == encoding::json);
    CHECK_FALSE(w.output_is_error);
    CHECK(apply(store, last).kind == answer_kind::applied);  // again: nobody is woken twice
    CHECK(store.look(owner, 10).value().size() == 1);

    auto takes = parent.change(status_event::unblock);
    takes.effects = {take_waitpoint{w.id}, failing};
    applied(store, parent, takes);
    CHECK(store.look(owner, 10).value().empty());

    // The end first, the wait after it: told at once.
    auto other = claim_child(store, owner, failing.run.id);
    applied(store, other, ending(other, R"({"code":"step_failed"})", entry_kind::failure));
    auto late = parent.change(status_event::block);
    late.effects = {add_edge{end_of(failing.run.id), "2", "child#2"}};
    auto const decided = apply(store, late).decided;
    REQUIRE(decided.size() == 1);
    CHECK(decided[0].output_is_error);
    CHECK(decided[0].output == R"({"code":"step_failed"})");
    parent.advance(late);
    auto parks = parent.change(status_event::suspend, true);
    CHECK(apply(store, parks).kind == answer_kind::superseded);  // a decided wait is not taken
}

TEMPLATE_LIST_TEST_CASE("a suspended parent is queued by its child's end", "[store][child]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto const owner = some_owner(store);
    auto parent = start_and_claim(store, owner);
    auto const child = some_child(parent, "child#0");
    applied(store, parent, starting(parent, child));
    auto waits = parent.change(status_event::block);
    waits.effects = {add_edge{end_of(child.run.id), "1", "child#1"}};
    applied(store, parent, waits);
    applied(store, parent, parent.change(status_event::suspend, true));
    auto run = claim_child(store, owner, child.run.id);
    applied(store, run, ending(run, "1"));
    CHECK(store.scan(at(20), 10).value() == 1);
    CHECK(row_of(store, parent.id()).status.run == run_status::queued);
    auto const loaded = store.load(parent.id()).value();
    REQUIRE(loaded->waitpoints.size() == 1);
    CHECK(loaded->waitpoints[0].status == waitpoint_status::completed);
}

TEMPLATE_LIST_TEST_CASE("a child that never began, cancelled or expired, ends with an error that says so", "[store][child]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto parent = start_and_claim(store, some_owner(store));
    auto const cancelled = some_child(parent, "child#0");
    auto expired = some_child(parent, "child#1");
    expired.run.deadline_at = at(30);
    applied(store, parent, starting(parent, cancelled));
    applied(store, parent, starting(parent, expired));
    CHECK(store.ask(some_request(cancelled.run.id)).value() == request_fate::taken);
    CHECK(store.scan(at(40), 10).value() == 1);
    for (auto const& [child, code] : {std::pair(cancelled.run.id, "cancelled"), std::pair(expired.run.id, "run_expired")}) {
        auto const w = end_row(store, child);
        CHECK(w.status == waitpoint_status::completed);
        CHECK(w.output_is_error);
        CHECK_THAT(w.output, Catch::Contains(code));
        CHECK(w.by == "run " + to_string(child));
        CHECK(detail::is_cancelled_child(w) == (child == cancelled.run.id));
    }
}

TEMPLATE_LIST_TEST_CASE("the end of a parent asks its children as their policies say, each once", "[store][child]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto const owner = some_owner(store);
    auto parent = start_and_claim(store, owner);
    using enum close_policy;
    std::map<close_policy, run_id> held, queued;
    int n = 0;
    for (auto const p : {cancel, abandon, request_cancel, detached}) {
        auto const one = some_child(parent, "child#" + std::to_string(n++), p);
        applied(store, parent, starting(parent, one));
        held[p] = one.run.id;
    }
    CHECK(claim_all(store, owner, {{"child", 1}}).size() == 4);
    for (auto const p : {cancel, abandon, request_cancel, detached}) {
        auto const one = some_child(parent, "child#" + std::to_string(n++), p);
        applied(store, parent, starting(parent, one));
        queued[p] = one.run.id;
    }
    CHECK_FALSE(store.waitpoint(end_of(held[detached])).value());

    auto const mail = [&](run_id id) { return store.reader().requests(id).value(); };
    // First a cancel of a branch, that names one; then one of the run's.
    auto g = parent.steps();
    g.effects = {close_children{{held[cancel], held[request_cancel]}}};
    CHECK(apply(store, g).others);
    parent.advance(g);
    REQUIRE(mail(held[cancel]).size() == 1);
    CHECK(mail(held[cancel])[0].fate == request_fate::left_to_holder);
    CHECK(mail(held[cancel])[0].what.kind == request_kind::cancel);
    CHECK(mail(held[cancel])[0].what.by == "run " + to_string(parent.id()));
    CHECK(mail(held[request_cancel]).empty());
    CHECK(row_of(store, queued[cancel]).status.run == run_status::queued);
    auto all = parent.steps();
    all.effects = {close_children{}};
    applied(store, parent, all);
    CHECK(mail(held[cancel]).size() == 1);
    CHECK(row_of(store, queued[cancel]).status.run == run_status::cancelled);
    CHECK(row_of(store, queued[request_cancel]).status.run == run_status::queued);

    applied(store, parent, ending(parent, "1"));
    CHECK(mail(held[cancel]).size() == 1);
    CHECK(mail(held[request_cancel]).size() == 1);
    CHECK(row_of(store, queued[request_cancel]).status.run == run_status::cancelled);
    for (auto const p : {abandon, detached}) {
        CHECK(mail(held[p]).empty());
        CHECK(row_of(store, queued[p]).status.run == run_status::queued);
    }
    // Their waitpoints are withdrawn with the parent's other waits, and a late end changes nothing there.
    CHECK(end_row(store, held[abandon]).status == waitpoint_status::withdrawn);
    auto late = hold(store, {row_of(store, held[abandon]), false});
    applied(store, late, ending(late, "7"));
    CHECK(end_row(store, held[abandon]).status == waitpoint_status::withdrawn);
    CHECK(end_row(store, held[abandon]).output.empty());
}

TEMPLATE_LIST_TEST_CASE("a cancel that the store takes for a parent reaches its children, and leaves what waits for them", "[store][child]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto const owner = some_owner(store);
    auto parent = start_and_claim(store, owner);
    auto const goes = some_child(parent, "child#0"), stays = some_child(parent, "child#1", close_policy::request_cancel);
    applied(store, parent, starting(parent, goes));
    applied(store, parent, starting(parent, stays));
    auto waits = parent.change(status_event::block);
    waits.effects = {add_edge{end_of(stays.run.id), "1", "child#1"}};
    applied(store, parent, waits);
    applied(store, parent, parent.change(status_event::suspend, true));
    CHECK(store.ask(some_request(parent.id())).value() == request_fate::taken);
    CHECK(row_of(store, parent.id()).status.run == run_status::cancelling);
    CHECK(row_of(store, goes.run.id).status.run == run_status::cancelled);
    CHECK(row_of(store, stays.run.id).status.run == run_status::queued);
    CHECK(end_row(store, stays.run.id).status == waitpoint_status::pending);
    auto run = claim_child(store, owner, stays.run.id);
    applied(store, run, ending(run, "3"));
    CHECK(end_row(store, stays.run.id).status == waitpoint_status::completed);
}

TEMPLATE_LIST_TEST_CASE("children are listed in the order they were started, page by page", "[store][child][reading]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto parent = start_and_claim(store, some_owner(store));
    std::vector<run_id> ids;
    for (int i = 0; i < 5; ++i) {
        auto const one = some_child(parent, "child#" + std::to_string(i), i % 2 ? close_policy::abandon : close_policy::request_cancel);
        applied(store, parent, starting(parent, one));
        ids.push_back(one.run.id);
    }
    std::vector<run_id> seen;
    std::optional<run_id> after;
    for (;;) {
        auto const page = store.reader().children(parent.id(), after, 2).value();
        for (auto const& c : page) seen.push_back(c.run.id);
        if (page.size() < 2) break;
        after = page.back().run.id;
    }
    CHECK(seen == ids);
    CHECK(store.reader().children(ids[0], std::nullopt, 10).value().empty());
    CHECK(store.reader().children({fresh_uuid()}, std::nullopt, 10).value().empty());
}

TEMPLATE_LIST_TEST_CASE("a parent and its child that are overdue at one look: the parent's deadline counts, and the scan goes on", "[store][child]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto const owner = some_owner(store);
    auto what = some_run();
    what.deadline_at = at(50);
    REQUIRE(store.start(what).value().answer == start_answer::started);
    auto parent = hold(store, claim_all(store, owner).at(0));
    auto child = some_child(parent, "child#0");
    enum class kind { never_begun_with_a_deadline, begun_with_a_deadline, sleeps };
    auto const k = GENERATE(kind::never_begun_with_a_deadline, kind::begun_with_a_deadline, kind::sleeps);
    if (k != kind::sleeps) child.run.deadline_at = at(GENERATE(40, 55));
    auto const g = starting(parent, child);
    applied(store, parent, g);
    if (k != kind::never_begun_with_a_deadline) {
        auto begun = hold(store, claim_all(store, owner, {{"child", 1}}).at(0));
        park_on(store, begun, k == kind::sleeps ? some_timer(at(45)) : some_token());
    }
    auto waits = parent.change(status_event::block);
    waits.effects = {add_edge{end_of(child.run.id), "1", "child#0"}};
    applied(store, parent, waits);
    applied(store, parent, parent.change(status_event::suspend, true));

    for (int i = 0; i < 3; ++i) REQUIRE(store.scan(at(60), 10).has_value());
    CHECK(row_of(store, parent.id()).status.run == run_status::cancelling);
    auto const end = row_of(store, child.run.id);
    if (k == kind::never_begun_with_a_deadline) CHECK(is_terminal(end.status.run));
    else CHECK(end.status.run == run_status::cancelling);
    // One after the other, without a gap or a twin.
    auto const entries = store.journal(child.run.id, seq_no::none, 100).value();
    for (std::size_t i = 0; i < entries.size(); ++i) CHECK(entries[i].seq == seq_no{static_cast<std::int64_t>(i) + 1});
    if (is_terminal(end.status.run)) {
        int ends = 0;
        for (auto const& e : entries) ends += e.kind == entry_kind::snapshot && (e.name == "end_cancelled" || e.name == "expire");
        CHECK(ends == 1);
    }
}
