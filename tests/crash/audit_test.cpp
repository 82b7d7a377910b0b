// TS-19, TD-24: the journal alone tells how far a run was, and every change of its status.
#include <catch2/catch.hpp>

#include <utility>

#include "crash/everything.hpp"
#include "engine/dying.hpp"
#include "flow/store_reader.hpp"
#include "src/plans.hpp"
#include "support/stores.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

std::function<void()> on_the_way;

flow::workflow<int> ships()
{
    auto const n = co_await flow::step("fetch", flow::replayable, [] { return 1; });
    auto const paid = co_await flow::step("pay", flow::idempotent, [&] { return n + 1; });
    co_await flow::sleep_for(1h);
    co_await flow::step("ship", flow::non_replayable, [] {
        if (auto const dies = std::exchange(on_the_way, nullptr)) dies();
    });
    co_return paid;
}

void add_ships(flow::engine& e) { e.add<ships>("ships"); }

std::optional<flow::status_pair> by_anybody(flow::status_pair from, flow::status_event on)
{
    using enum flow::status_actor;
    for (auto const who : {holder, system, outside})
        if (auto const to = next(from, on, who)) return to;
    return std::nullopt;
}

/// From the start on: each snapshot is one change that the tables allow, says what happened, and names the one before it.
/// Returns how many there are.
int check_snapshots(flow::run_row const& row, std::vector<flow::journal_entry> const& entries)
{
    REQUIRE_FALSE(entries.empty());
    CHECK(entries.front().kind == flow::entry_kind::start);
    auto status = flow::status_pair{};
    auto previous = flow::seq_no::none;
    std::map<flow::seq_no, flow::seq_no> before;
    for (auto const& e : entries) {
        if (e.kind != flow::entry_kind::snapshot) continue;
        CAPTURE(static_cast<int>(e.seq), e.name, e.payload);
        CHECK_FALSE(e.why.empty());
        auto const s = flow::detail::read_snapshot(e);
        auto const on = flow::parse_status_event(e.name);
        REQUIRE((s && on));
        CHECK(s->previous == previous);
        CHECK((s->status == by_anybody(status, *on)));
        status = s->status;
        before[e.seq] = s->previous;
        previous = e.seq;
    }
    CHECK((row.status == status));  // no change without its snapshot
    CHECK(row.snapshot == previous);
    std::size_t steps = 0;
    auto at = row.snapshot;
    while (before.count(at) == 1 && before[at] != flow::seq_no::none && ++steps < before.size()) at = before[at];
    CHECK(at == next(entries.front().seq));  // it stands beside the start entry
    CHECK(steps + 1 == before.size());
    return static_cast<int>(before.size());
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("TS-19 after a crash the journal tells how far the run was, before any engine is up", "[crash][audit]", every_store)
{
    dying_place<TestType> place;
    world w(place.open(), add_ships);
    auto const id = w.engine().template start<ships>().id();
    on_the_way = [&] { place.cut_off(); };
    w.pass(2h);
    place.kill(w);

    flow::client auditor(place.look());
    auto const v = auditor.inspect(id);
    CHECK(v.row.status.run == flow::run_status::running);
    CHECK(v.doing == "It runs step ship#0, attempt 1.");
    REQUIRE(v.steps.size() == 3);
    CHECK(v.steps[0].status == flow::step_status::completed);
    CHECK(v.steps[1].status == flow::step_status::completed);
    CHECK(v.steps[1].output == "2");
    CHECK(v.steps[2].status == flow::step_status::running);
    REQUIRE_FALSE(v.happened.empty());
    for (auto const& h : v.happened) CHECK_FALSE(h.text.empty());
    CHECK(check_snapshots(v.row, auditor.journal(id)) == 8);  // queued, claimed, asleep, left memory, queued, claimed, asleep, awake

    w.restart(place.open());
    w.settle();
    CHECK(check_snapshots(w.view(id).row, w.journal(id)) == 10);  // taken over, asks a person
    CHECK(w.view(id).waits_for.name == "ship#0");
}

TEMPLATE_LIST_TEST_CASE("TD-24 every change of status is one snapshot with a description, whatever write the process died at",
                        "[crash][audit]", every_store)
{
    int reached = 0;
    for (auto const what : {fault::lose, fault::crash})
        for (int n = 2; n < 60; n += 9) {
            CAPTURE(n, static_cast<int>(what));
            dying_place<TestType> place;
            world w(place.open(), add_everything);
            place.plan(n, what);
            if (!run_everything(w)) {
                reached += place.reached();
                place.die(w);
                REQUIRE(run_everything(w));
            }
            auto const runs = w.engine().runs();
            REQUIRE(runs.size() == 1);
            CHECK(check_snapshots(runs.front(), w.journal(runs.front().id)) > 10);
        }
    CHECK(reached > 6);
}
