// Journals recorded by an earlier state of the library are read and gone on with by this one (tests/journals/README.md).
#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

#include "flow/flow.hpp"
#include "flow/store_reader.hpp"
#include "journals/recorded.hpp"
#include "journals/workflows.hpp"
#include "support/invariants.hpp"

using namespace std::chrono_literals;
using namespace flow::test;
using namespace flow::test::journals;

namespace {

std::vector<flow::journal_entry> entries_of(world& w, flow::run_id id) { return w.store()->journal(id, flow::seq_no::none, 100'000).value(); }

/// With what lies in a blob.
std::string payload_of(world& w, flow::journal_entry const& e) { return e.in_blob ? w.store()->load_blob(e.hash).value() : e.payload; }

bool is_outcome_of_a_step(flow::journal_entry const& e)
{
    using enum flow::entry_kind;
    return e.kind == step || e.kind == step_failed || e.kind == step_skipped || e.kind == override_;
}

}  // namespace

TEST_CASE("the recorded runs are all there, with their statuses, and every entry fits its checksum and its hash", "[engine][journals]")
{
    temp_dir dir;
    auto const v1 = read_known(folder("v1"));
    replayed w(copy_of(folder("v1"), dir.path()), v1.until, add_now);
    auto const rows = all_runs(w);
    REQUIRE(rows.size() == v1.runs.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        CAPTURE(v1.runs[i].name);
        CHECK(name_of(rows[i]) == v1.runs[i].name);
        CHECK(rows[i].workflow == v1.runs[i].workflow);
        CHECK(status_of(rows[i]) == v1.runs[i].status);
        for (auto const& e : entries_of(w, rows[i].id)) {
            CAPTURE(to_string(e.kind), static_cast<std::int64_t>(e.seq), e.place);
            CHECK(e.checksum == flow::checksum_of(e, rows[i].id));
            if (e.encoding == flow::encoding::none) CHECK((e.payload.empty() && e.hash.is_none()));
            else CHECK(flow::sha256(payload_of(w, e)) == e.hash);
        }
    }
    check_invariants(*w.store());
}

TEST_CASE("every kind of entry that the library writes, every encoding and every effect occurs in the recorded file", "[engine][journals]")
{
    temp_dir dir;
    auto const v1 = read_known(folder("v1"));
    replayed w(copy_of(folder("v1"), dir.path()), v1.until, add_now);
    std::set<std::string, std::less<>> seen;
    for (auto const& row : all_runs(w))
        for (auto const& e : entries_of(w, row.id)) {
            seen.emplace(to_string(e.kind));
            seen.emplace("as " + std::string(to_string(e.encoding)) + (e.in_blob ? " in a blob" : ""));
            seen.emplace("of " + std::string(to_string(e.cls)));
        }
    // Newer than this recording, and in none yet.
    std::set<std::string, std::less<>> const to_be_recorded{"child", "child_ended", "event"};
    std::vector<std::string> missing;
    for (auto const& kind : kinds_written())
        if (seen.count(kind) == 0 && to_be_recorded.count(kind) == 0) missing.push_back(kind);
    for (auto const* how : {"json", "binary", "bytes"})
        for (auto const* where : {"", " in a blob"})
            if (auto const what = "as " + std::string(how) + where; seen.count(what) == 0) missing.push_back(what);
    for (auto const* effect : {"none", "replayable", "idempotent", "non_replayable"})
        if (auto const what = "of " + std::string(effect); seen.count(what) == 0) missing.push_back(what);
    CHECK(missing == std::vector<std::string>{});
}

TEST_CASE("entries about other entries and about requests say which, in the form that the format's page gives", "[engine][journals]")
{
    temp_dir dir;
    auto const v1 = read_known(folder("v1"));
    replayed w(copy_of(folder("v1"), dir.path()), v1.until, add_now);
    std::set<std::string> asked;
    for (auto const& row : all_runs(w)) {
        CAPTURE(name_of(row));
        auto const entries = entries_of(w, row.id);
        for (auto const& r : w.store()->reader().requests(row.id).value()) {
            if (r.fate != flow::request_fate::taken) continue;
            auto const& e = entries.at(static_cast<std::size_t>(r.entry) - 1);
            CHECK(e.kind == flow::entry_kind::request);
            CHECK(e.name == to_string(r.what.kind));
            CHECK(e.payload == '"' + to_string(r.what.id) + '"');
            asked.insert(e.name);
        }
        for (auto const& e : entries) {
            if (e.kind == flow::entry_kind::healed) CHECK(entries.at(std::stoul(e.payload) - 1).place == e.place);
            if (e.kind == flow::entry_kind::void_) CHECK_THAT(e.payload, Catch::Matches(R"(\{"from":[0-9]+,"places":\[\]\})"));
            if (e.kind == flow::entry_kind::request && e.payload == R"("deadline")") asked.insert("deadline");
        }
    }
    CHECK(asked == std::set<std::string>{"cancel", "deadline", "pause", "resume"});
}

TEST_CASE("the recorded runs go on to their known ends, and nothing that is recorded as done is done again", "[engine][journals]")
{
    temp_dir dir;
    auto const v1 = read_known(folder("v1"));
    replayed w(copy_of(folder("v1"), dir.path()), v1.until, add_now);
    std::set<std::string> done;
    for (auto const& row : all_runs(w))
        if (name_of(row) != "moves-asked")  // it is decided that it begins again
            for (auto const& e : entries_of(w, row.id))
                if (is_outcome_of_a_step(e)) done.insert(e.name);

    finish_all(w);

    auto ran = outside().all();
    std::sort(ran.begin(), ran.end());
    CHECK(ran == v1.ran);
    for (auto const& name : ran) {
        CAPTURE(name);
        CHECK(done.count(name) == 0);
    }
    auto const rows = all_runs(w);
    REQUIRE(rows.size() == v1.runs.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        auto became = what_became_of(w, rows[i]);
        became.status = v1.runs[i].status;
        CAPTURE(v1.runs[i].name, w.view(rows[i].id).doing);
        CHECK(became.end == v1.runs[i].end);
        CHECK(became.result == v1.runs[i].result);
    }
    check_invariants(*w.store());
}

TEST_CASE("a recorded run whose workflow has another body is held", "[engine][journals]")
{
    temp_dir dir;
    auto const v1 = read_known(folder("v1"));
    replayed w(copy_of(folder("v1"), dir.path()), v1.until, add_changed);
    auto const id = w.engine().find_by_key("three-classes").id();
    for (auto const& o : w.view(id).open) w.engine().complete_json(o.row.id, R"("done")");
    w.settle();
    REQUIRE(w.status(id) == flow::run_status::held);
    CHECK(w.view(id).waits_for.id == "nondeterminism");
    CHECK_THAT(w.view(id).waits_for.detail, Catch::Contains("book") && Catch::Contains("add up"));
    CHECK(outside().count("book") == 0);
}
