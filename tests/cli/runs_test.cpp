// flow runs, flow tokens, flow journal: the lists.
#include "calls.hpp"
#include "runtime/cli/text.hpp"
#include "samples.hpp"
#include "support/stores.hpp"

using namespace std::chrono_literals;
using namespace flow::test;
using Catch::Contains;

namespace {

std::vector<std::string> lines_of(std::string const& text)
{
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

std::string first_word(std::string const& line) { return line.substr(0, line.find(' ')); }

}  // namespace

TEMPLATE_LIST_TEST_CASE("runs lists the newest run first, by an id that names it alone", "[cli]", every_store)
{
    TestType place;
    world w(place.store, add_samples);
    auto const old = w.engine().start<approves>("report");
    auto const young = w.engine().start<ends>();
    w.settle();

    auto const r = call(w.engine(), {"runs"}, {.clock = &w.clock()});
    CHECK(r.code == 0);
    CHECK(r.err.empty());
    auto const lines = lines_of(r.out);
    REQUIRE(lines.size() == 3);
    CHECK_THAT(lines[0], Contains("RUN") && Contains("SINCE (UTC)"));
    CHECK_THAT(lines[1], Contains("ends") && Contains("succeeded") && Contains("2027-01-15 08:00"));
    CHECK_THAT(lines[2], Contains("approves") && Contains("waiting") && Contains("token approve#0"));
    CHECK(w.engine().find(first_word(lines[1])).id() == young.id());
    CHECK(w.engine().find(first_word(lines[2])).id() == old.id());
    CHECK(first_word(lines[1]).size() < 36);
}

TEST_CASE("runs stays within 80 columns", "[cli]")
{
    memory_stores place;
    world w(place.store, [](flow::engine& e) {
        add_samples(e);
        e.add<ends>("a workflow with a very long name, 漢字漢字漢字漢字漢字漢字 included, that fills a line by itself");
    });
    w.engine().start<approves>("report");
    w.engine().start("a workflow with a very long name, 漢字漢字漢字漢字漢字漢字 included, that fills a line by itself",
                     flow::args());
    w.settle();
    for (std::size_t const width : {80u, 120u})
        for (auto const& line : lines_of(call(w.engine(), {"runs"}, {.width = width}).out))
            CHECK(flow::cli::columns(line) <= width);
}

TEST_CASE("runs filters by status, workflow, tenant and age", "[cli]")
{
    memory_stores place;
    world w(place.store, add_samples);
    w.engine().start<approves>("old", {.tenant = "acme"});
    w.settle();
    w.pass(3h);
    w.engine().start<ends>({.tags = "nightly, small"});
    w.settle();

    auto const listed = [&](std::vector<std::string> words) {
        words.insert(words.begin(), "runs");
        words.push_back("--json");
        auto const r = call(w.engine(), words, {.clock = &w.clock()});
        REQUIRE(r.code == 0);
        std::string names;
        auto const document = r.json();
        for (auto const& run : document.at("runs").as_array()) names += std::string(run.at("workflow").as_string()) + " ";
        return names;
    };
    CHECK(listed({}) == "ends approves ");
    CHECK(listed({"--status", "waiting"}) == "approves ");
    CHECK(listed({"--status", "failed"}).empty());
    CHECK(listed({"--workflow", "ends"}) == "ends ");
    CHECK(listed({"--tenant", "acme"}) == "approves ");
    CHECK(listed({"--tag", "small"}) == "ends ");
    CHECK(listed({"--until", "2h"}) == "approves ");
    CHECK(listed({"--since", "2h"}) == "ends ");
    CHECK(listed({"--since", "1d"}) == "ends approves ");
    CHECK(listed({"--since", "2027-01-15T10:00:00Z"}) == "ends ");
    CHECK(listed({"--since", "2027-01-15T08:30:00+01:00"}) == "ends approves ");
    CHECK(listed({"--since", "2027-01-16"}).empty());
    CHECK_THAT(call(w.engine(), {"runs", "--status", "failed"}).out, Contains("No such runs."));
}

TEMPLATE_LIST_TEST_CASE("runs goes through a long list page by page", "[cli]", every_store)
{
    TestType place;
    world w(place.store, add_samples);
    for (int i = 0; i < 5; ++i) w.engine().start<ends>();
    w.settle();
    std::vector<std::string> words{"runs", "--limit", "2", "--json"};
    std::size_t seen = 0, pages = 0;
    for (;;) {
        auto const page = call(w.engine(), words).json();
        seen += page.at("runs").as_array().size();
        ++pages;
        if (page.at("next_before").is_null()) break;
        words = {"runs", "--limit", "2", "--json", "--before", std::string(page.at("next_before").as_string())};
    }
    CHECK(seen == 5);
    CHECK(pages == 3);
    CHECK_THAT(call(w.engine(), {"runs", "--limit", "2"}).out, Contains("go on with --before"));
}

TEMPLATE_LIST_TEST_CASE("tokens lists what can be completed, and what it must look like", "[cli]", every_store)
{
    TestType place;
    world w(place.store, add_samples);
    CHECK_THAT(call(w.engine(), {"tokens"}).out, Contains("No open tokens."));
    auto const run = w.engine().start<approves>("report");
    w.engine().start<asks_twice>();
    w.settle();
    w.pass(192s);

    auto const text = call(w.engine(), {"tokens", "--run", to_string(run.id())}, {.clock = &w.clock()});
    CHECK(text.code == 0);
    CHECK_THAT(text.out, Contains(to_string(w.open_token("approve"))) && Contains("approve#0") && Contains("3 min 12 s") &&
                             Contains("{approved:bool,by:str}"));
    auto const all = call(w.engine(), {"tokens", "--json"}).json();
    REQUIRE(all.at("tokens").as_array().size() == 3);
    CHECK(all.at("more").as_bool() == false);
    CHECK(call(w.engine(), {"tokens", "--limit", "2", "--json"}).json().at("more").as_bool());
    CHECK(all.at("decisions").as_array().empty());
}

TEMPLATE_LIST_TEST_CASE("tokens lists decisions too, with their choices", "[cli]", every_store)
{
    TestType place;
    world w(place.store, add_samples);
    auto const run = w.engine().start<pays>();
    w.settle();
    CHECK_THAT(call(w.engine(), {"tokens"}, {.width = 200}).out,
               Contains("No open tokens.") && Contains(to_string(w.engine().intervention_of(run.id()))) && Contains("retry, complete, skip, fail, cancel"));
    auto const json = call(w.engine(), {"tokens", "--json"}).json();
    REQUIRE(json.at("decisions").as_array().size() == 1);
    CHECK(json.at("decisions").as_array()[0].at("output_shape").as_string() == "str");
    CHECK(json.at("tokens").as_array().empty());
}

TEMPLATE_LIST_TEST_CASE("journal shows every entry, page by page", "[cli]", every_store)
{
    TestType place;
    world w(place.store, add_samples);
    auto const run = w.engine().start<ends>({.by = "alice", .why = "to see"});
    w.settle();
    auto const id = to_string(run.id());
    auto const entries = w.journal(run.id());

    auto const text = call(w.engine(), {"journal", id}, {.width = 200});
    CHECK(text.code == 0);
    CHECK(lines_of(text.out).size() == entries.size() + 1);
    CHECK_THAT(text.out, Contains("count#0 (replayable, attempt 1)") && Contains("why: to see") && Contains("by alice") &&
                             Contains("Run succeeded."));

    auto const first = call(w.engine(), {"journal", id, "--limit", "2", "--json"}).json();
    CHECK(first.at("run").as_string() == id.c_str());
    CHECK(first.at("entries").as_array().size() == 2);
    CHECK(first.at("next_after").as_int64() == 2);
    auto const rest = call(w.engine(), {"journal", id, "--after", "2", "--json"}).json();
    CHECK(rest.at("entries").as_array().size() == entries.size() - 2);
    CHECK(rest.at("entries").as_array().front().at("seq").as_int64() == 3);
    CHECK(rest.at("next_after").is_null());
    CHECK_THAT(call(w.engine(), {"journal", id, "--limit", "2"}).out, Contains("go on with --after 2"));
    CHECK_THAT(call(w.engine(), {"journal", id, "--after", "1000"}).out, Contains("No such entries."));
}
