// Journals recorded by an earlier state of the library are read and gone on with by this one (tests/journals/README.md).
#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

#include "flow/flow.hpp"
#include "flow/store_reader.hpp"
#include "journals/recorded.hpp"
#include "journals/v2_workflows.hpp"
#include "journals/v3_workflows.hpp"
#include "journals/workflows.hpp"
#include "support/invariants.hpp"

using namespace std::chrono_literals;
using namespace flow::test;
using namespace flow::test::journals;

namespace {

/// A folder, with the code of its runs and what people do with them.
struct recording {
    char const* name;
    world::registration add_now;
    void (*finish_all)(world&);
};
std::vector<recording> recordings()
{
    return {{"v1", add_now, finish_all}, {"v2", v2::add_all, v2::finish_all}, {"v3", v3::add_all, v2::finish_all}};
}

/// A copy of a recording, opened by the library as it is.
struct opened {
    explicit opened(recording const& r) : opened(r.name, r.add_now) {}
    opened(char const* name, world::registration add) : all(read_known(folder(name))), w(copy_of(folder(name), dir.path()), all.until, std::move(add))
    {
        for (auto const& run : all.runs)
            if (run.status != not_yet) recorded.push_back(run);
    }

    temp_dir dir;
    known all;
    std::vector<known_run> recorded;
    replayed w;
};

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
    auto const from = GENERATE(from_range(recordings()));
    CAPTURE(from.name);
    opened o(from);
    auto const rows = all_runs(o.w);
    REQUIRE(rows.size() == o.recorded.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        CAPTURE(o.recorded[i].name);
        CHECK(name_of(rows[i]) == o.recorded[i].name);
        CHECK(rows[i].workflow == o.recorded[i].workflow);
        CHECK(status_of(rows[i]) == o.recorded[i].status);
        for (auto const& e : entries_of(o.w, rows[i].id)) {
            CAPTURE(to_string(e.kind), static_cast<std::int64_t>(e.seq), e.place);
            CHECK(e.checksum == flow::checksum_of(e, rows[i].id));
            if (e.encoding == flow::encoding::none) CHECK((e.payload.empty() && e.hash.is_none()));
            else CHECK(flow::sha256(payload_of(o.w, e)) == e.hash);
        }
    }
    check_invariants(*o.w.store());
}

TEST_CASE("every kind of entry that the library writes, every encoding and every effect occurs in a recorded file", "[engine][journals]")
{
    std::set<std::string, std::less<>> seen;
    for (auto const& from : recordings()) {
        opened o(from);
        for (auto const& row : all_runs(o.w))
            for (auto const& e : entries_of(o.w, row.id)) {
                seen.emplace(to_string(e.kind));
                seen.emplace(std::string(to_string(e.kind)) + " of " + e.shape_in);
                if (e.in_blob) seen.emplace(std::string(to_string(e.kind)) + " in a blob");
                seen.emplace("as " + std::string(to_string(e.encoding)) + (e.in_blob ? " in a blob" : ""));
                seen.emplace("of " + std::string(to_string(e.cls)));
            }
    }
    std::vector<std::string> missing;
    auto const must_occur = [&](std::string const& what) {
        if (!seen.contains(what)) missing.push_back(what);
    };
    for (auto const& kind : kinds_written()) must_occur(kind);
    for (auto const* wait : {"wait of event", "wait_failed of event", "wait of ask", "waited of ask", "wait_failed of ask", "resource of snapshot"}) must_occur(wait);
    for (auto const* long_one : {"event in a blob", "child_ended in a blob", "waited in a blob", "resource in a blob"}) must_occur(long_one);
    for (auto const* how : {"json", "binary", "bytes"})
        for (auto const* where : {"", " in a blob"}) must_occur("as " + std::string(how) + where);
    for (auto const* effect : {"none", "replayable", "idempotent", "non_replayable"}) must_occur("of " + std::string(effect));
    CHECK(missing == std::vector<std::string>{});
}

TEST_CASE("entries about other entries and about requests say which, in the form that the format's page gives", "[engine][journals]")
{
    std::set<std::string> asked;
    int children = 0, events = 0;
    for (auto const& from : recordings()) {
        opened o(from);
        for (auto const& row : all_runs(o.w)) {
            CAPTURE(from.name, name_of(row));
            auto const entries = entries_of(o.w, row.id);
            for (auto const& r : o.w.store()->reader().requests(row.id).value()) {
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
            for (auto const& child : o.w.engine().children(row.id, {}, 1000)) {
                auto const names_it = R"({"run":")" + to_string(child.run.id) + R"(","on_close":")" + std::string(to_string(child.on_close)) + '"';
                CHECK(std::count_if(entries.begin(), entries.end(), [&](auto const& e) { return e.kind == flow::entry_kind::child && e.payload.starts_with(names_it); }) == 1);
                ++children;
            }
        }
        for (auto const& told : o.w.engine().events({.fate = flow::event_fate::taken, .limit = 1000})) {
            auto const e = entries_of(o.w, told.taker.value()).at(static_cast<std::size_t>(told.entry) - 1);
            CAPTURE(from.name, told.what.topic, told.what.correlation);
            CHECK(e.kind == flow::entry_kind::event);
            CHECK(e.name == told.what.topic);
            CHECK(e.commit_ref == to_string(told.what.id));
            CHECK(payload_of(o.w, e) == told.what.payload);
            ++events;
        }
    }
    CHECK(children > 0);
    CHECK(events > 0);
    CHECK(asked == std::set<std::string>{"cancel", "deadline", "pause", "resume"});
}

TEST_CASE("the recorded runs go on to their known ends, and nothing that is recorded as done is done again", "[engine][journals]")
{
    auto const from = GENERATE(from_range(recordings()));
    CAPTURE(from.name);
    opened o(from);
    std::set<std::string> done;
    for (auto const& row : all_runs(o.w))
        if (name_of(row) != "moves-asked")  // it is decided that it begins again
            for (auto const& e : entries_of(o.w, row.id))
                if (is_outcome_of_a_step(e)) done.insert(e.name);

    from.finish_all(o.w);

    auto ran = outside().all();
    std::sort(ran.begin(), ran.end());
    CHECK(ran == o.all.ran);
    for (auto const& name : ran) {
        CAPTURE(name);
        CHECK(done.count(name) == 0);
    }
    auto const rows = all_runs(o.w);
    REQUIRE(rows.size() == o.all.runs.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        auto const& expected = o.all.runs[i];
        auto const became = what_became_of(o.w, rows[i]);
        CAPTURE(expected.name, o.w.view(rows[i].id).doing);
        CHECK(became.name == expected.name);
        CHECK(became.end == expected.end);
        CHECK(became.result == expected.result);
    }
    check_invariants(*o.w.store());
}

TEST_CASE("a recorded run whose workflow has another body is held", "[engine][journals]")
{
    opened o("v1", add_changed);
    auto& w = o.w;
    auto const id = w.engine().find_by_key("three-classes").id();
    for (auto const& open : w.view(id).open) w.engine().complete_json(open.row.id, R"("done")");
    w.settle();
    REQUIRE(w.status(id) == flow::run_status::held);
    CHECK(w.view(id).waits_for.id == "nondeterminism");
    CHECK_THAT(w.view(id).waits_for.detail, Catch::Contains("book") && Catch::Contains("add up"));
    CHECK(outside().count("book") == 0);
}
