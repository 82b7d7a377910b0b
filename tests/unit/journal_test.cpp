#include <algorithm>
#include <fstream>
#include <iomanip>
#include <sstream>

#include <catch2/catch.hpp>

#include "flow/journal.hpp"
#include "support/docs.hpp"

using namespace flow;
using flow::test::docs_page;

namespace {

run_id const golden_run{*parse_uuid("01900000-0000-7000-8000-000000000001")};

/// The rows of the page's golden vectors, in its order.
std::vector<journal_entry> golden_entries()
{
    journal_entry first;
    first.seq = seq_no{1};
    first.kind = entry_kind::start;
    first.name = "greeting";
    first.shape_in = "(str)";
    first.encoding = encoding::json;
    first.payload = R"(["alice"])";
    first.by = "alice";
    first.at = time_point{duration{1'796'000'000'000'000}};

    journal_entry step;
    step.seq = seq_no{4};
    step.epoch = epoch_no{1};
    step.segment = 2;
    step.kind = entry_kind::step;
    step.path = "4.0.1";
    step.place = "all#0.1/charge#2";
    step.name = "charge";
    step.cls = effect::non_replayable;
    step.attempt = 250;
    step.shape_out = "{approved:bool,by:str}";
    step.encoding = encoding::binary;
    step.payload = std::string("\0\xff", 2);
    step.input_hash = sha256("inputs");
    step.commit_ref = "mail-9182";
    step.why = "caf\xc3\xa9";
    step.at = time_point{duration{-1}};

    return {first, journal_entry{}, step};
}

std::string hex(std::uint64_t n)
{
    std::ostringstream out;
    out << std::hex << std::setw(16) << std::setfill('0') << n;
    return out.str();
}

}  // namespace

TEST_CASE("the golden vectors of the format's page hold", "[journal][format]")
{
    // Written from the page by a second program (Python over libxxhash), not by this one.
    std::vector<std::string> const expected{"8bc318f29bd61304", "653c2b3053414428", "bf96f0a52f88be7e"};
    std::ifstream in(docs_page("journal_format.md"));
    std::stringstream page;
    page << in.rdbuf();
    auto entries = golden_entries();
    for (std::size_t i = 0; i < entries.size(); ++i) {
        seal(entries[i], golden_run);
        CHECK(hex(entries[i].checksum) == expected[i]);
        CHECK(page.str().find("`" + expected[i] + "`") != std::string::npos);
    }
}

TEST_CASE("every column but the payload is in the checksum, and so is the run", "[journal]")
{
    auto const whole = golden_entries()[2];
    auto const sum = checksum_of(whole, golden_run);
    CHECK(checksum_of(whole, {}) != sum);
    auto const changed = [&](auto const& change) {
        auto e = whole;
        change(e);
        return checksum_of(e, golden_run) != sum;
    };
    CHECK(changed([](auto& e) { e.seq = next(e.seq); }));
    CHECK(changed([](auto& e) { e.epoch = next(e.epoch); }));
    CHECK(changed([](auto& e) { ++e.segment; }));
    CHECK(changed([](auto& e) { e.kind = entry_kind::value; }));
    CHECK(changed([](auto& e) { e.path += "x"; }));
    CHECK(changed([](auto& e) { e.place += "x"; }));
    CHECK(changed([](auto& e) { e.name += "x"; }));
    CHECK(changed([](auto& e) { e.cls = effect::none; }));
    CHECK(changed([](auto& e) { ++e.attempt; }));
    CHECK(changed([](auto& e) { e.shape_in = "x"; }));
    CHECK(changed([](auto& e) { e.shape_out += "x"; }));
    CHECK(changed([](auto& e) { e.encoding = encoding::json; }));
    CHECK(changed([](auto& e) { e.in_blob = true; }));
    CHECK(changed([](auto& e) { e.hash = sha256("x"); }));
    CHECK(changed([](auto& e) { e.input_hash = {}; }));
    CHECK(changed([](auto& e) { e.commit_ref += "x"; }));
    CHECK(changed([](auto& e) { e.by = "x"; }));
    CHECK(changed([](auto& e) { e.why += "x"; }));
    CHECK(changed([](auto& e) { e.at += duration{1}; }));
    CHECK_FALSE(changed([](auto& e) { e.payload += "x"; }));
    CHECK(changed([](auto& e) { std::swap(e.path, e.place); }));
}

TEST_CASE("an entry without a payload has no hash, one with an empty payload has", "[journal]")
{
    journal_entry e;
    seal(e, golden_run);
    CHECK(e.hash.is_none());
    e.encoding = encoding::bytes;
    seal(e, golden_run);
    CHECK(e.hash == sha256(""));
}

TEST_CASE("every kind has a name of its own", "[journal]")
{
    std::vector<std::string_view> seen;
    for (int k = 1; k <= 42; ++k) {
        auto const name = to_string(static_cast<entry_kind>(k));
        CHECK(name != "?");
        CHECK(std::find(seen.begin(), seen.end(), name) == seen.end());
        seen.push_back(name);
    }
    CHECK(to_string(static_cast<entry_kind>(43)) == "?");
}
