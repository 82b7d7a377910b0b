#include <catch2/catch.hpp>

#include "src/flat_object.hpp"
#include "src/plans.hpp"

using namespace flow;

namespace {

time_point const now{std::chrono::seconds{1'796'000'000}}, earlier = now - std::chrono::hours{1};

run_row row_in(execution_status e, run_status r, owner_id owner = owner_id::nobody, epoch_no epoch = epoch_no{3})
{
    run_row row;
    row.status = {e, r};
    row.owner = owner;
    row.epoch = epoch;
    row.snapshot = seq_no{9};
    row.queue = "reports";
    return row;
}

request asking(request_kind kind)
{
    request q;
    q.id = {*parse_uuid("01900000-0000-7000-8000-000000000009")};
    q.kind = kind;
    q.by = "alice";
    q.why = "no need";
    q.at = now;
    return q;
}

}  // namespace

TEST_CASE("a snapshot entry reads back", "[plans]")
{
    status_pair const to{execution_status::suspended, run_status::waiting};
    auto const reason = to_json(
        {.type = wait_reason::kind::timer, .id = {}, .name = "sleep#0", .detail = "a } and a \"", .since = now});
    auto const e = detail::snapshot_entry(to, status_event::suspend, seq_no{4}, reason, "why", "owner 1", now);
    auto const read = detail::read_snapshot(e);
    REQUIRE(read);
    CHECK(read->status == to);
    CHECK(read->previous == seq_no{4});
    CHECK(read->reason == reason);
    CHECK(e.name == "suspend");
    auto spoiled = e;
    spoiled.payload.pop_back();
    CHECK_FALSE(detail::read_snapshot(spoiled));
    spoiled = e;
    spoiled.kind = entry_kind::step;
    CHECK_FALSE(detail::read_snapshot(spoiled));
}

TEST_CASE("a takeover says `recovered` only of a run that was executing", "[plans]")
{
    auto const entries = [](execution_status e, run_status r) {
        return detail::plan_take_over(row_in(e, r, owner_id{1}), owner_id{1}, owner_id{2}, now).entries;
    };
    auto const executing = entries(execution_status::executing, run_status::running);
    REQUIRE(executing.size() == 2);
    CHECK(executing[0].kind == entry_kind::recovered);
    CHECK(executing[0].payload == R"({"dead":1,"owner":2,"epoch":3})");
    CHECK(entries(execution_status::executing_with_waitpoints, run_status::waiting).size() == 1);
    CHECK(entries(execution_status::queued_executing, run_status::waiting).size() == 1);
    CHECK(entries(execution_status::executing, run_status::cancelling).size() == 2);
}

TEST_CASE("a suspended run is queued through the tables", "[plans]")
{
    auto const waiting = detail::plan_unblock(row_in(execution_status::suspended, run_status::waiting), earlier, now);
    CHECK(waiting.change.status == status_pair{execution_status::queued, run_status::queued});
    CHECK(waiting.entries[0].why == "Run was QUEUED after waitpoints completed.");
    auto const cancelling = detail::plan_unblock(row_in(execution_status::suspended, run_status::cancelling), earlier, now);
    CHECK(cancelling.change.status == status_pair{execution_status::queued, run_status::cancelling});
    // It stands in line by when its wait was over, and says when it was queued.
    CHECK(waiting.due_at == earlier);
    CHECK(waiting.entries[0].at == now);
}

TEST_CASE("what becomes of a request follows from who holds the run and its status", "[plans]")
{
    using detail::plan_request;
    auto const held = row_in(execution_status::executing, run_status::running, owner_id{1});
    auto const parked = row_in(execution_status::suspended, run_status::waiting);
    auto const unbegun = row_in(execution_status::queued, run_status::queued, owner_id::nobody, epoch_no{});
    auto const stuck = row_in(execution_status::suspended, run_status::held);
    auto const ended = row_in(execution_status::finished, run_status::failed);

    for (auto const kind :
         {request_kind::cancel, request_kind::pause, request_kind::resume, request_kind::raise, request_kind::accept}) {
        CHECK(plan_request(held, asking(kind)).fate == request_fate::left_to_holder);
        CHECK_FALSE(plan_request(held, asking(kind)).plan);
        CHECK(plan_request(ended, asking(kind)).fate == request_fate::ended_before);
    }
    auto const cancel = plan_request(parked, asking(request_kind::cancel));
    REQUIRE(cancel.plan);
    CHECK(cancel.plan->change.status == status_pair{execution_status::queued, run_status::cancelling});
    CHECK(cancel.plan->withdraw_waits);
    REQUIRE(cancel.plan->entries.size() == 2);
    CHECK(cancel.plan->entries[0].kind == entry_kind::request);
    CHECK(cancel.plan->entries[0].payload == "\"01900000-0000-7000-8000-000000000009\"");

    auto const early = plan_request(unbegun, asking(request_kind::cancel));
    REQUIRE(early.plan);
    CHECK(early.plan->change.status.run == run_status::cancelled);
    CHECK(detail::epoch_for_request(unbegun) == epoch_no{});
    CHECK(detail::epoch_for_request(parked) == epoch_no{4});

    CHECK(plan_request(stuck, asking(request_kind::resume)).plan->change.status.run == run_status::queued);
    CHECK(plan_request(parked, asking(request_kind::resume)).fate == request_fate::refused);
    CHECK(plan_request(parked, asking(request_kind::pause)).plan->change.status.run == run_status::paused);
    CHECK(plan_request(row_in(execution_status::queued, run_status::cancelling), asking(request_kind::pause)).fate ==
          request_fate::refused);
    CHECK(plan_request(parked, asking(request_kind::raise)).fate == request_fate::refused);
}

TEST_CASE("numbering fills seq, epoch, hashes and the snapshot's place", "[plans]")
{
    new_run what;
    what.id = {*parse_uuid("01900000-0000-7000-8000-000000000001")};
    what.arguments = "[]";
    auto p = detail::plan_start(what);
    CHECK(detail::number(p, what.id, seq_no::none, epoch_no{}) == seq_no{2});
    CHECK(p.snapshot == seq_no{2});
    CHECK(p.entries[0].hash == sha256("[]"));
    for (auto const& e : p.entries) CHECK(e.checksum == checksum_of(e, what.id));
}

TEST_CASE("a holder's snapshots are followed through the tables", "[plans]")
{
    status_pair const running{execution_status::executing, run_status::running};
    auto const entry = [](status_event on) { return detail::snapshot_entry({}, on, seq_no::none, {}, {}, {}, now); };
    std::vector entries{entry(status_event::block), entry(status_event::unblock), entry(status_event::succeed)};
    CHECK(detail::follow(running, entries) == status_pair{execution_status::finished, run_status::succeeded});
    entries.push_back(entry(status_event::block));
    CHECK_FALSE(detail::follow(running, entries));
    CHECK_FALSE(detail::follow(running, std::vector{entry(status_event::reopen)}));
}

TEST_CASE("a flat object reads what it writes, and nothing that is cut off", "[plans]")
{
    auto const text = detail::flat_object{}.text("a\"b", "\\\n\x02").number("n", -7).raw("o", R"({"x":[1,"}"]})").str();
    auto const read = detail::read_flat_object(text);
    REQUIRE(read);
    CHECK(read->at("a\"b") == "\\\n\x02");
    CHECK(read->at("n") == "-7");
    CHECK(read->at("o") == R"({"x":[1,"}"]})");
    for (std::size_t n = 0; n < text.size(); ++n) CHECK_FALSE(detail::read_flat_object(text.substr(0, n)));
    CHECK_FALSE(detail::read_flat_object(text + "x"));
    CHECK(detail::read_flat_object(" { } ")->empty());
    CHECK(detail::read_flat_object(R"({"a":"\u00e9"})")->at("a") == "\xc3\xa9");
    for (auto const bad : {R"({"a":"\u12"})", R"({"a"})", R"({"a":})", R"({a:1})", "[]", R"({"a":"\q"})"})
        CHECK_FALSE(detail::read_flat_object(bad));
}
