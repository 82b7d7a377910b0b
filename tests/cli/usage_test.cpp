// Wrong command lines, exit codes, and the small words everything else is made of.
#include <sqlite3.h>

#include <iostream>

#include "calls.hpp"
#include "runtime/cli/command.hpp"
#include "runtime/cli/find.hpp"
#include "runtime/cli/text.hpp"
#include "samples.hpp"
#include "support/stores.hpp"

using namespace std::chrono_literals;
using namespace flow::test;
using Catch::Contains;

TEST_CASE("a wrong command line ends with 2 and says how to get help", "[cli]")
{
    memory_stores place;
    flow::client client(place.store, "test");
    for (std::vector<std::string> const& words : std::vector<std::vector<std::string>>{{"explode"},
                                                                                       {"show"},
                                                                                       {"complete", "abc"},
                                                                                       {"runs", "--nonsense"},
                                                                                       {"runs", "--limit", "0"},
                                                                                       {"runs", "--limit", "x"},
                                                                                       {"runs", "--limit", "-5"},
                                                                                       {"runs", "--status", "asleep"},
                                                                                       {"runs", "--since", "yesterday"},
                                                                                       {"journal", "a", "--after", "-1"},
                                                                                       {"runs", "surplus"},
                                                                                       {"show", "a", "--by", "x"},
                                                                                       {"--db", "x", "runs"}}) {
        std::string all;
        for (auto const& word : words) all += word + " ";
        INFO(all);
        auto const r = call(client, words);
        CHECK(r.code == 2);
        CHECK(r.out.empty());
        CHECK_THAT(r.err, Contains("flow: usage: ") && Contains("--help"));
        auto json = words;
        json.push_back("--json");
        auto const j = call(client, json);
        CHECK(j.code == 2);
        CHECK(j.err.empty());
        CHECK(j.json().at("error").at("name").as_string() == "usage");
        CHECK(j.json().at("error").at("next").as_string() == "correct");
    }
    auto const nothing = call(client, {});
    CHECK(nothing.code == 2);
    CHECK_THAT(nothing.err, Contains("Subcommands"));
}

TEST_CASE("--version names the version", "[cli]")
{
    memory_stores place;
    flow::client client(place.store, "test");
    auto const r = call(client, {"--version"});
    CHECK(r.code == 0);
    CHECK_THAT(r.out, Catch::Matches("flow [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST_CASE("help is printed with exit code 0 and lists every verb", "[cli]")
{
    memory_stores place;
    flow::client client(place.store, "test");
    auto const r = call(client, {"--help"});
    CHECK(r.code == 0);
    for (auto const* verb : {"runs", "show", "journal", "tokens", "complete", "secret", "decide", "cancel", "pause", "resume", "backup"})
        CHECK_THAT(r.out, Contains(verb));
    CHECK_THAT(call(client, {"decide", "--help"}).out,
               Contains("INTERVENTION CHOICE") && Contains("--output JSON") && Contains("--why"));
}

TEMPLATE_LIST_TEST_CASE("an unknown run ends every verb that names one with 1", "[cli]", every_store)
{
    TestType place;
    flow::client client(place.store, "test");
    for (std::string const run : {"0190f5c0-0000-7000-8000-000000000000", "0190", "key:none", "no such", ""}) {
        INFO(run);
        for (std::string const verb : {"show", "journal", "cancel", "pause", "resume"}) {
            auto const r = call(client, {verb, run, "--json"});
            CHECK(r.code == 1);
            CHECK(r.json().at("error").at("name").as_string() == "unknown_run");
        }
        CHECK(call(client, {"complete", run, "1"}).code == 1);
        CHECK(call(client, {"decide", run, "retry"}).code == 1);
    }
}

TEST_CASE("a beginning that two runs share names neither", "[cli]")
{
    memory_stores place;
    world w(place.store, add_samples);
    auto const a = to_string(w.engine().start<ends>().id());
    w.engine().start<ends>();
    auto const r = call(w.engine(), {"show", a.substr(0, 8)});
    CHECK(r.code == 1);
    CHECK_THAT(r.err, Contains("more than one run begins with"));
}

TEST_CASE("a store that another process locks ends with 4, and nothing was written", "[cli]")
{
    temp_dir dir;
    flow::sqlite_options options;
    options.busy_timeout = 20ms;
    flow::client client(flow::sqlite(dir.file("flow.db"), options), "test");
    auto const run = to_string(client.start("later", flow::args()).id());
    sqlite3* other = nullptr;
    REQUIRE(sqlite3_open(dir.file("flow.db").c_str(), &other) == SQLITE_OK);
    REQUIRE(sqlite3_exec(other, "begin immediate", nullptr, nullptr, nullptr) == SQLITE_OK);
    auto const r = call(client, {"cancel", run, "--json"});
    CHECK(r.code == 4);
    CHECK(r.json().at("error").at("name").as_string() == "store_busy");
    CHECK(r.json().at("error").at("next").as_string() == "retry");
    CHECK_THAT(call(client, {"cancel", run}).err, Contains("flow.db") && Contains("nothing was written"));
    sqlite3_close(other);
    CHECK(call(client, {"show", run, "--json"}).json().at("run").at("status").as_string() == "queued");
}

TEST_CASE("a program of one's own hands its arguments to flow::command_line", "[cli]")
{
    memory_stores place;
    world w(place.store, add_samples);
    w.engine().start<ends>();
    w.settle();
    std::ostringstream out;
    auto* const before = std::cout.rdbuf(out.rdbuf());
    char const* argv[] = {"./orders", "runs", "--json"};
    auto const code = flow::command_line(3, argv, w.engine());
    std::cout.rdbuf(before);
    CHECK(code == 0);
    CHECK_THAT(out.str(), Contains("\"status\":\"succeeded\""));
}

TEST_CASE("a result that cannot be written ends with 5", "[cli]")
{
    memory_stores place;
    flow::client client(place.store, "test");
    std::ostringstream out, err;
    out.setstate(std::ios::badbit);
    char const* argv[] = {"prog", "runs"};
    CHECK(flow::cli::run_command(2, argv, &client, {out, err}) == flow::exit_code::internal);
    CHECK_THAT(err.str(), Contains("standard output could not be written"));
}

TEST_CASE("lengths of time are written for people", "[cli]")
{
    using flow::cli::length_text;
    CHECK(length_text(-5s) == "0 s");
    CHECK(length_text(0s) == "0 s");
    CHECK(length_text(850us) == "850 µs");
    CHECK(length_text(12ms) == "12 ms");
    CHECK(length_text(3200ms) == "3.2 s");
    CHECK(length_text(59s) == "59 s");
    CHECK(length_text(192s) == "3 min 12 s");
    CHECK(length_text(1h) == "1 h");
    CHECK(length_text(2h + 5min + 9s) == "2 h 5 min");
    CHECK(length_text(76h) == "3 d 4 h");
}

TEST_CASE("--since reads lengths of time, dates and instants, and nothing else", "[cli]")
{
    auto const read_since = [](std::string_view text, flow::time_point when) { return flow::cli::read_time("--since", text, when); };
    auto const now = flow::parse_time("2026-11-30T12:00:00Z");
    CHECK(read_since("90m", now) == now - 90min);
    CHECK(read_since("90min", now) == now - 90min);
    CHECK(read_since("1d12h", now) == now - 36h);
    CHECK(read_since("2w", now) == now - 336h);
    CHECK(read_since("2026-11-29", now) == now - 36h);
    CHECK(read_since("2026-11-30T11:00:00.5Z", now) == now - 1h + 500ms);
    CHECK(read_since("2026-11-30T12:00:00+01:00", now) == now - 1h);
    CHECK(read_since("2026-11-30T12:00:00-00:30", now) == now + 30min);
    for (auto const* wrong : {"", "h", "2", "2x", "-2h", "2h ", "999999999999999999w", "2026-13-01",
                              "2026-11-30T12:00:00+25:00", "2026-11-30T12:00:00+aa:00", "12:00"})
        CHECK_THROWS_AS(read_since(wrong, now), flow::cli::misuse);
}

TEST_CASE("columns are counted and cut as a terminal draws them", "[cli]")
{
    using namespace flow::cli;
    CHECK(columns("plain") == 5);
    CHECK(columns("漢字") == 4);
    CHECK(columns("🚀") == 2);
    CHECK(columns("e\xcc\x81") == 1);
    CHECK(cut("plain", 5) == "plain");
    CHECK(cut("plain", 4) == "pla…");
    CHECK(cut("漢字漢", 4) == "漢…");
    CHECK(cut("plain", 0).empty());
}

TEST_CASE("what is to be typed is quoted for a shell", "[cli]")
{
    CHECK(flow::cli::shell_word("./build/bin/flow") == "./build/bin/flow");
    CHECK(flow::cli::shell_word("my file") == "'my file'");
    CHECK(flow::cli::shell_word("it's") == "'it'\\''s'");
    CHECK(flow::cli::shell_word("") == "''");
}
