// Parents and children in two transactions at once, one stopped inside by its probe.
#include <thread>

#include "child_groups.hpp"
#include "flow/store_reader.hpp"
#include "support/meeting.hpp"
#include "support/stores.hpp"

using namespace flow;
using namespace flow::test;

namespace {

template <class First, class Second>
void at_once(meeting& m, First first, Second second)
{
    m.arm();
    std::thread one(first);
    REQUIRE(m.wait_inside());
    std::thread other([&] {
        second();
        m.other_done();
    });
    one.join();
    other.join();
}

answer apply_now(flow::store& s, group const& g) { return s.apply({&g, 1}, std::chrono::seconds{5}).value().front(); }

}  // namespace

TEMPLATE_LIST_TEST_CASE("PC-13: a wait registered while its child ends wakes, either way round", "[store][child][race]", every_store)
{
    bool const register_first = GENERATE(true, false);
    meeting m("apply", GENERATE(probe_point::locked, probe_point::written, probe_point::before_commit));
    TestType place(m.probe());
    auto const other = place.again();
    auto& store = *place.store;
    auto const owner = some_owner(store);
    auto parent = start_and_claim(store, owner);
    auto const child = some_child(parent, "child#0");
    applied(store, parent, starting(parent, child));
    auto run = claim_child(store, owner, child.run.id);
    auto registers = parent.change(status_event::block);
    registers.effects = {add_edge{end_of(child.run.id), "1", "child#1"}};
    auto const ends = ending(run, "42");

    answer registered, ended;
    at_once(m, [&] { (register_first ? registered : ended) = apply_now(store, register_first ? registers : ends); },
            [&] { (register_first ? ended : registered) = apply_now(*other, register_first ? ends : registers); });
    CHECK(registered.kind == answer_kind::applied);
    CHECK(ended.kind == answer_kind::applied);
    CHECK(store.look(owner, 10).value().size() == 1);
}

TEMPLATE_LIST_TEST_CASE("PC-13: a parent that parks while its child ends is queued", "[store][child][race]", every_store)
{
    bool const park_first = GENERATE(true, false);
    meeting m("apply", GENERATE(probe_point::locked, probe_point::written, probe_point::before_commit));
    TestType place(m.probe());
    auto const other = place.again();
    auto& store = *place.store;
    auto const owner = some_owner(store);
    auto parent = start_and_claim(store, owner);
    auto const child = some_child(parent, "child#0");
    applied(store, parent, starting(parent, child));
    auto run = claim_child(store, owner, child.run.id);
    auto waits = parent.change(status_event::block);
    waits.effects = {add_edge{end_of(child.run.id), "1", "child#1"}};
    applied(store, parent, waits);
    auto const parks = parent.change(status_event::suspend, true);
    auto const ends = ending(run, "42");

    answer parked, ended;
    at_once(m, [&] { (park_first ? parked : ended) = apply_now(store, park_first ? parks : ends); },
            [&] { (park_first ? ended : parked) = apply_now(*other, park_first ? ends : parks); });
    CHECK(ended.kind == answer_kind::applied);
    REQUIRE(store.scan(at(9), 10).has_value());
    if (parked.kind == answer_kind::applied) CHECK(row_of(store, parent.id()).status.execution == execution_status::queued);
    else CHECK(parked.kind == answer_kind::superseded);
}

TEMPLATE_LIST_TEST_CASE("PC-03: two parents that want one key at once: one child", "[store][child][race]", every_store)
{
    meeting m("apply", GENERATE(probe_point::locked, probe_point::written, probe_point::before_commit));
    TestType place(m.probe());
    auto const other = place.again();
    auto& store = *place.store;
    auto a = start_and_claim(store, some_owner(store), "a"), b = start_and_claim(store, some_owner(store), "b");
    auto const of_a = some_child(a, "child#0", close_policy::cancel, "order-7"), of_b = some_child(b, "child#0", close_policy::cancel, "order-7");
    auto const ga = starting(a, of_a), gb = starting(b, of_b);
    outcome<std::vector<answer>> first = error(errc::usage, ""), second = error(errc::usage, "");
    at_once(m, [&] { first = store.apply({&ga, 1}, std::chrono::seconds{5}); },
            [&] { second = other->apply({&gb, 1}, std::chrono::seconds{5}); });
    // Told to try again, as the engine does.
    if (!first) first = store.apply({&ga, 1}, std::chrono::seconds{5});
    if (!second) second = other->apply({&gb, 1}, std::chrono::seconds{5});
    bool const a_won = first.value().front().kind == answer_kind::applied;
    CHECK((second.value().front().kind == answer_kind::applied) != a_won);
    CHECK((a_won ? second : first).value().front().taken->id == (a_won ? of_a : of_b).run.id);
    CHECK(store.run(of_a.run.id).value().has_value() == a_won);
    CHECK(store.run(of_b.run.id).value().has_value() != a_won);
}

TEMPLATE_LIST_TEST_CASE("a parent ends while its child is claimed: the child is asked, or never begins", "[store][child][race]", every_store)
{
    bool const end_first = GENERATE(true, false);
    meeting m(end_first ? "apply" : "claim", GENERATE(probe_point::locked, probe_point::written, probe_point::before_commit));
    TestType place(m.probe());
    auto const other = place.again();
    auto& store = *place.store;
    auto parent = start_and_claim(store, some_owner(store));
    auto const owner = some_owner(*other);
    auto const child = some_child(parent, "child#0");
    applied(store, parent, starting(parent, child));
    auto const ends = ending(parent, "1");
    workflow_version const w{"child", 1};

    answer ended;
    std::vector<claimed> taken;
    auto const end_it = [&](flow::store& s) { ended = apply_now(s, ends); };
    auto const claim_it = [&](flow::store& s) { taken = s.claim({owner, {&w, 1}, 10, at(3)}).value(); };
    at_once(m, [&] { end_first ? end_it(store) : claim_it(store); }, [&] { end_first ? claim_it(*other) : end_it(*other); });
    CHECK(ended.kind == answer_kind::applied);
    auto const asked = store.reader().requests(child.run.id).value();
    REQUIRE(asked.size() == 1);
    if (taken.empty()) {
        CHECK(row_of(store, child.run.id).status.run == run_status::cancelled);
    } else {
        CHECK(asked[0].fate == request_fate::left_to_holder);
        auto const notices = store.look(owner, 10).value();
        REQUIRE(notices.size() == 1);
        CHECK(std::get<mail>(notices[0]).what.kind == request_kind::cancel);
    }
}
