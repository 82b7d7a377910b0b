// Every interleaving of the statements of two transactions on PostgreSQL, each pair of those that meet at a wait, where a store allows
// one (protocol P4, P35 to P37). The memory and the SQLite store let one writing transaction at a time through, so of theirs there are
// two orders: race_test.cpp and children_race_test.cpp have both.
//
// A statement is atomic here. What the server does inside of one while it waits for a lock is the server's own: who it waits for goes on
// alone, as it would.
#if FLOW_POSTGRES
#include <cstdlib>
#include <iostream>
#include <optional>

#include <catch2/catch.hpp>

#include "steps_scene.hpp"
#include "support/stores.hpp"

using namespace flow;
using namespace flow::test;

namespace {

struct pair_at_once {
    char const* name;
    both (*begin)(scene&);
};

constexpr auto timed_out = waitpoint_status::timed_out;
constexpr auto withdrawn = waitpoint_status::withdrawn;

/// A run that waits, parked, for what a second run waits for too.
both joins(scene& s, waitpoint_row const& row, bool parks, side (*what)(scene&, held_run&))
{
    auto run = parks ? s.parked(row) : s.waiting(row);
    auto other = s.a_run();
    return {s.applies(s.registering(other)), what(s, run)};
}

/// A run's wait was ended by an event that the run gives back, while another run waits for such events, or comes to.
both gives_back(scene& s, bool waits, side (*what)(scene&, held_run&, waitpoint_row const&))
{
    auto const row = s.event_wait(), next_row = s.event_wait();
    auto run = s.waiting(row);
    s.delivers(s.an_event()).act(s.store());
    auto next = waits ? s.waiting(next_row) : s.a_run();
    s.about(next_row.id);
    return {s.applies(s.giving_back(run, row)), what(s, next, next_row)};
}

both registers_own(scene& s, waitpoint_row const& row, side (*what)(scene&))
{
    auto run = s.a_run();
    auto making = run.steps();
    making.effects.push_back(insert_waitpoint{row});
    s.about(row.id);
    s.write(run, making);
    return {s.applies(s.registering(run)), what(s)};
}

pair_at_once const pairs[] = {
    {"register x complete", [](scene& s) { return registers_own(s, s.token(), [](scene& x) { return x.completes(); }); }},
    {"register x respond", [](scene& s) {
         auto const both_sides = registers_own(s, s.question(), [](scene& x) { return x.responds("ann"); });
         s.responds("bob").act(s.store());
         return both_sides;
     }},
    {"register x deliver", [](scene& s) {
         auto run = s.a_run();
         auto const row = s.event_wait();
         s.about(row.id);
         return both{s.applies(s.registering(run, row)), s.delivers(s.an_event())};
     }},
    {"register x register, one event kept", [](scene& s) {
         s.delivers(s.an_event()).act(s.store());
         auto one = s.a_run(), other = s.a_run();
         auto const mine = s.event_wait(), others = s.event_wait();
         s.about(others.id);
         auto const second = s.applies(s.registering(other, others));
         s.about(mine.id);
         return both{s.applies(s.registering(one, mine)), second};
     }},
    {"register x time-out by a scan", [](scene& s) { return joins(s, s.token(at(8)), true, [](scene& x, held_run&) { return x.scans(); }); }},
    {"register x time-out by the holder", [](scene& s) {
         return joins(s, s.token(), false, [](scene& x, held_run& r) { return x.applies(x.deciding(r, timed_out)); });
     }},
    {"register x cancel", [](scene& s) { return joins(s, s.token(), true, [](scene& x, held_run& r) { return x.cancels(r); }); }},
    {"register x end of the run", [](scene& s) {
         return joins(s, s.token(), false, [](scene& x, held_run& r) { return x.applies(r.change(status_event::fail)); });
     }},

    {"complete x complete", [](scene& s) { s.parked(s.token()); return both{s.completes("true"), s.completes("false")}; }},
    {"complete x time-out by a scan", [](scene& s) { s.parked(s.token(at(8))); return both{s.completes(), s.scans()}; }},
    {"complete x time-out by the holder", [](scene& s) {
         auto run = s.waiting(s.token());
         return both{s.completes(), s.applies(s.deciding(run, timed_out))};
     }},
    {"complete x cancel", [](scene& s) { auto run = s.parked(s.token()); return both{s.completes(), s.cancels(run)}; }},
    {"complete x withdrawal by the holder", [](scene& s) {
         auto run = s.waiting(s.token());
         return both{s.completes(), s.applies(s.deciding(run, withdrawn))};
     }},
    {"complete x end of the run", [](scene& s) {
         auto run = s.waiting(s.token());
         return both{s.completes(), s.applies(run.change(status_event::fail))};
     }},
    {"suspend x complete", [](scene& s) { auto run = s.waiting(s.token()); return both{s.applies(s.parking(run)), s.completes()}; }},
    {"suspend x time-out by a scan", [](scene& s) { auto run = s.waiting(s.token(at(8))); return both{s.applies(s.parking(run)), s.scans()}; }},
    {"suspend x cancel", [](scene& s) { auto run = s.waiting(s.token()); return both{s.applies(s.parking(run)), s.cancels(run)}; }},
    {"suspend x deliver", [](scene& s) { auto run = s.waiting(s.event_wait()); return both{s.applies(s.parking(run)), s.delivers(s.an_event())}; }},

    {"deliver x deliver", [](scene& s) { s.parked(s.event_wait()); return both{s.delivers(s.an_event("1")), s.delivers(s.an_event("2"))}; }},
    {"deliver x time-out by the holder", [](scene& s) {
         auto run = s.waiting(s.event_wait());
         return both{s.delivers(s.an_event()), s.applies(s.deciding(run, timed_out))};
     }},
    {"deliver x time-out by a scan", [](scene& s) {
         auto row = s.event_wait();
         row.due_at = at(8);
         s.parked(row);
         return both{s.delivers(s.an_event()), s.scans()};
     }},
    {"deliver x cancel", [](scene& s) { auto run = s.parked(s.event_wait()); return both{s.delivers(s.an_event()), s.cancels(run)}; }},
    {"deliver x end of the run", [](scene& s) {
         auto run = s.waiting(s.event_wait());
         return both{s.delivers(s.an_event()), s.applies(run.change(status_event::fail))};
     }},

    {"event given back x register", [](scene& s) {
         return gives_back(s, false, [](scene& x, held_run& next, waitpoint_row const& row) { return x.applies(x.registering(next, row)); });
     }},
    {"event given back x deliver", [](scene& s) {
         return gives_back(s, true, [](scene& x, held_run&, waitpoint_row const&) { return x.delivers(x.an_event("2")); });
     }},
    {"event given back x time-out of who would get it", [](scene& s) {
         return gives_back(s, true, [](scene& x, held_run& next, waitpoint_row const&) { return x.applies(x.deciding(next, timed_out)); });
     }},
    {"event given back x suspend of who would get it", [](scene& s) {
         return gives_back(s, true, [](scene& x, held_run& next, waitpoint_row const&) { return x.applies(x.parking(next)); });
     }},

    {"respond x respond, two are needed", [](scene& s) { s.parked(s.question()); return both{s.responds("ann"), s.responds("bob")}; }},
    {"respond x time-out by a scan", [](scene& s) {
         s.parked(s.question(at(8)));
         s.responds("ann").act(s.store());
         return both{s.responds("bob"), s.scans()};
     }},
    {"respond x cancel", [](scene& s) {
         auto run = s.parked(s.question());
         s.responds("ann").act(s.store());
         return both{s.responds("bob"), s.cancels(run)};
     }},
    {"respond x end of the run", [](scene& s) {
         auto run = s.waiting(s.question());
         s.responds("ann").act(s.store());
         return both{s.responds("bob"), s.applies(run.change(status_event::fail))};
     }},

    {"child's end x parent registers", [](scene& s) {
         auto parent = s.a_run();
         auto child = s.a_child(parent);
         return both{s.applies(ending(child, "42")), s.applies(s.registering(parent))};
     }},
    {"child's end x parent suspends", [](scene& s) {
         auto parent = s.a_run();
         auto child = s.a_child(parent);
         s.wait_for(parent, s.wait());
         return both{s.applies(ending(child, "42")), s.applies(s.parking(parent))};
     }},
    {"child's end x parent's cancel", [](scene& s) {
         auto parent = s.a_run();
         auto child = s.a_child(parent);
         s.wait_for(parent, s.wait());
         s.park(parent);
         return both{s.applies(ending(child, "42")), s.cancels(parent)};
     }},
    {"child's end x parent's end", [](scene& s) {
         auto parent = s.a_run();
         auto child = s.a_child(parent);
         s.wait_for(parent, s.wait());
         return both{s.applies(ending(child, "42")), s.applies(parent.change(status_event::fail))};
     }},
    {"child's end x scan that queues the parent", [](scene& s) {
         auto parent = s.a_run();
         auto child = s.a_child(parent);
         s.wait_for(parent, s.wait());
         s.park(parent);
         return both{s.applies(ending(child, "42")), s.scans()};
     }},

    {"cancel x cancel", [](scene& s) { auto run = s.parked(s.token()); return both{s.cancels(run), s.cancels(run)}; }},
    {"cancel x time-out by a scan", [](scene& s) { auto run = s.parked(s.token(at(8))); return both{s.cancels(run), s.scans()}; }},
    {"cancel x end of the run", [](scene& s) {
         auto run = s.waiting(s.token());
         return both{s.cancels(run), s.applies(run.change(status_event::fail))};
     }},
    {"time-out x time-out, two scans", [](scene& s) { s.parked(s.token(at(8))); return both{s.scans(), s.scans()}; }},
};

/// Thousands of schedules: in tables whose commits wait for no disk. Locks and what is seen are the same.
class stepped_place {
public:
    stepped_place()
    {
        two_.ask("do $$ declare t text; begin for t in select relname from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace"
                 " loop execute format('alter table %I set unlogged', t); end loop; end $$");
    }

    explored explore(pair_at_once const& p, std::optional<unsigned> preemptions = {})
    {
        auto const owner = some_owner(*place_.store);
        return flow::test::explore(two_, preemptions, [&] {
            auto s = std::make_shared<scene>(*place_.store, two_, owner);
            auto sides = p.begin(*s);
            return round_of{sides.first.act, sides.second.act, [s, sides, &p] { return s->check(p.name, sides); }};
        });
    }

private:
    postgres_stores place_;
    stepped_pair two_{place_.again(), place_.again(), place_.schema()};
};

/// For who wants to know: FLOW_TELL_STEPS=1.
void tell(pair_at_once const& p, explored const& found, std::string const& how)
{
    if (!std::getenv("FLOW_TELL_STEPS")) return;
    std::cerr << p.name << how << ": " << found.schedules << " schedules, " << found.again << " of them again, " << found.rollbacks << " rollbacks;";
    for (auto const& [what, n] : found.outcomes) std::cerr << " [" << what << "] " << n;
    std::cerr << '\n';
}

}  // namespace

TEST_CASE("P36: two transactions at one wait, in every order of their statements that matters", "[store][wait][race][steps]")
{
    stepped_place place;
    for (auto const& p : pairs) {
        INFO(p.name);
        auto const found = place.explore(p);
        tell(p, found, "");
        CHECK(found.schedules > 1);
        CHECK(found.rollbacks == 0);  // all lock in one order: no deadlock
    }
}

TEST_CASE("P36: what was left out of those orders comes to the same", "[.exhaustive][store][wait][race][steps]")
{
    // Nothing is left out here but what takes too many preemptions: one more each time, as long as the schedules are few.
    constexpr std::size_t few = 40;
    stepped_place place;
    for (auto const& p : pairs) {
        INFO(p.name);
        auto const reduced = place.explore(p);
        std::size_t before = 0;
        for (unsigned preemptions = 1;; ++preemptions) {
            auto const all = place.explore(p, preemptions);
            tell(p, all, ", " + std::to_string(preemptions) + " preemptions");
            for (auto const& [what, n] : all.outcomes) CHECK(reduced.outcomes.contains(what));
            bool const every_order = all.schedules == before;
            if (every_order) CHECK(all.outcomes.size() == reduced.outcomes.size());
            if (every_order || all.schedules > few) break;
            before = all.schedules;
        }
    }
}
#endif
