#include "support/invariants.hpp"

#include <map>
#include <set>

#include <catch2/catch.hpp>

#include "flow/store_reader.hpp"

namespace flow::test {

namespace {

void check_bucket(run_row const& row)
{
    using enum execution_status;
    bool const owned = row.owner != owner_id::nobody;
    switch (row.status.execution) {
    case created: case delayed: case queued: CHECK_FALSE(owned); return;
    case executing: case executing_with_waitpoints: case queued_executing: CHECK(owned); return;
    case suspended:
        CHECK_FALSE(owned);
        CHECK((row.status.run == run_status::waiting || row.status.run == run_status::held || row.status.run == run_status::paused ||
               row.status.run == run_status::cancelling));
        return;
    case finished: CHECK_FALSE(owned); CHECK(is_terminal(row.status.run)); return;
    }
}

void check_journal(store& s, run_row const& row, std::vector<journal_entry> const& entries)
{
    REQUIRE_FALSE(entries.empty());
    auto expected = seq_no::none;
    std::map<std::pair<std::uint32_t, std::string>, int> outcomes;  // by segment and place
    seq_no newest_snapshot = seq_no::none;
    for (auto const& e : entries) {
        expected = next(expected);
        CHECK(e.seq == expected);
        CHECK(e.checksum == checksum_of(e, row.id));                                       // I5
        auto const text = e.in_blob ? s.load_blob(e.hash).value() : e.payload;
        if (!e.hash.is_none()) CHECK(sha256(text) == e.hash);                             // I5
        using enum entry_kind;
        if (e.kind == step || e.kind == step_failed || e.kind == step_skipped || e.kind == waited || e.kind == event || e.kind == wait_failed || e.kind == woken)
            ++outcomes[{e.segment, e.place}];
        if (e.kind == void_ && e.name == "version") outcomes.clear();  // begun anew by other code
        if (e.kind == snapshot) newest_snapshot = e.seq;
    }
    for (auto const& [at, n] : outcomes) {
        CAPTURE(at.first, at.second);
        CHECK(n == 1);                                                                     // I3: nothing else here is voided
    }
    CHECK(row.snapshot == newest_snapshot);
    if (is_terminal(row.status.run)) CHECK(entries.back().kind == entry_kind::snapshot);
}

void check_run(store& s, run_row const& row)
{
    CAPTURE(to_string(row.id), row.workflow, to_string(row.status.execution), to_string(row.status.run));
    check_bucket(row);                                                                     // I1
    check_journal(s, row, s.journal(row.id, seq_no::none, 10'000'000).value());
    if (row.status.execution != execution_status::executing_with_waitpoints && row.status.execution != execution_status::suspended) return;
    auto const reason = parse_wait_reason(row.reason);
    if (reason.type == wait_reason::kind::code) return;
    if (row.status.run == run_status::paused && row.reason.empty()) return;                // as written before the reason was kept
    auto const id = parse_uuid(reason.id);
    REQUIRE(id);
    CHECK(s.waitpoint(waitpoint_id{*id}).value().has_value());                             // I2
}

}  // namespace

void check_invariants(store& s)
{
    run_filter every;
    every.limit = 10'000;
    std::set<run_id> known, unfinished;
    for (auto const& row : s.reader().runs(every).value()) {
        known.insert(row.id);
        if (!is_terminal(row.status.run)) unfinished.insert(row.id);
        check_run(s, row);
    }
    waitpoint_filter all;
    all.limit = 100'000;
    for (auto const& w : s.reader().waitpoints(all).value()) {
        CAPTURE(to_string(w.id), w.place);
        CHECK(known.count(w.run) == 1);                                                    // I6
        if (w.status == waitpoint_status::pending) CHECK(unfinished.count(w.run) == 1);    // I2
    }
}

void check_invariants(store& s, std::span<run_id const> runs)
{
    for (auto const id : runs) {
        auto const row = s.run(id).value();
        REQUIRE(row);
        check_run(s, *row);
        waitpoint_filter its;
        its.run = id;
        for (auto const& w : s.reader().waitpoints(its).value()) {
            CAPTURE(to_string(w.id), w.place);
            if (w.status == waitpoint_status::pending) CHECK_FALSE(is_terminal(row->status.run));  // I2
        }
    }
}

}  // namespace flow::test
