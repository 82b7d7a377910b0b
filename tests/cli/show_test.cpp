// flow show: a run on one screen.
#include "calls.hpp"
#include "runtime/cli/text.hpp"
#include "samples.hpp"
#include "support/stores.hpp"

using namespace std::chrono_literals;
using namespace flow::test;
using Catch::Contains;

namespace {

/// The words of the line that begins with this command, as a shell would give them.
std::vector<std::string> command_in(std::string const& text, std::string const& begins)
{
    auto const at = text.find("    prog " + begins);
    REQUIRE(at != text.npos);
    std::istringstream in(text.substr(at, text.find('\n', at) - at));
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    words.erase(words.begin());
    return words;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("show says what a run waits for and the command that lets it go on", "[cli]", every_store)
{
    TestType place;
    world w(place.store, add_samples);
    auto const run = w.engine().start<approves>("report", {.idempotency_key = "r 1", .by = "alice"});
    w.settle();
    w.pass(192s);

    auto const r = call(w.engine(), {"show", "key:r 1"}, {.clock = &w.clock()});
    CHECK(r.code == 0);
    CHECK_THAT(r.out, Contains("run " + to_string(run.id()) + "  approves version 1  waiting"));
    CHECK_THAT(r.out, Contains("It waits for somebody to complete approve#0."));
    CHECK_THAT(r.out, Contains("(3 min 12 s ago)") && Contains("by alice"));
    CHECK_THAT(r.out, Contains("until         2027-01-16 08:00:00 UTC"));
    CHECK_THAT(r.out, Contains("unblocked by  prog complete " + to_string(w.open_token()) + " JSON"));
    CHECK_THAT(r.out, Contains("JSON: {approved:bool,by:str}"));
    CHECK_THAT(r.out, Contains("✓  render#0  idempotent  1 attempt") && Contains("\"draft of report\""));
    CHECK_THAT(r.out, Contains("Run was created and QUEUED."));
    CHECK(std::count(r.out.begin(), r.out.end(), '\n') < 50);

    auto words = command_in(r.out, "complete");
    REQUIRE(words.back() == "JSON");
    words.back() = R"({"approved":true,"by":"bob"})";
    CHECK(call(w.engine(), words).code == 0);
    w.settle();
    auto const ended = call(w.engine(), {"show", to_string(run.id())});
    CHECK_THAT(ended.out,
               Contains("succeeded") && Contains("\"draft of report approved by bob\"") && Contains("approve#0 was answered."));
    CHECK_THAT(ended.out, !Contains("Open") && !Contains("unblocked by"));
}

TEMPLATE_LIST_TEST_CASE("show lists an intervention's choices, and its command decides it", "[cli]", every_store)
{
    TestType place;
    world w(place.store, add_samples);
    auto const run = w.engine().start<pays>();
    w.settle();
    auto const r = call(w.engine(), {"show", to_string(run.id())});
    CHECK_THAT(r.out, Contains("It is not known whether pay#0 happened: connection lost"));
    CHECK_THAT(r.out, Contains("CHOICE: retry, complete --output JSON (str), skip, fail, cancel"));
    auto words = command_in(r.out, "decide");
    words.back() = "complete";
    words.insert(words.end(), {"--output", R"("r-9")", "--by", "carol", "--why", "the bank says so"});
    CHECK(call(w.engine(), words).code == 0);
    w.settle();
    CHECK(w.status(run.id()) == flow::run_status::succeeded);
    auto const after = call(w.engine(), {"show", to_string(run.id())}, {.width = 200});
    CHECK_THAT(after.out, Contains("pay#0 was decided: complete.  by carol: the bank says so"));
}

TEST_CASE("SE-10 text with line breaks, terminal codes and pictures is shown on one line, escaped", "[cli]")
{
    memory_stores place;
    world w(place.store, add_samples);
    std::string const nasty =
        "line\nbreak \x1b[31mred \xc2\x9b"
        "csi 🚀 \xff end";
    auto const run =
        w.engine().start<fails_with>(nasty, {.idempotency_key = "k\x1b[2J", .tags = "t\nt", .by = "eve\x07", .why = nasty});
    w.engine().start<approves>(nasty);
    w.settle();
    auto const id = to_string(run.id());
    auto const token = to_string(w.open_token());

    for (std::vector<std::string> const& words : std::vector<std::vector<std::string>>{{"runs"},
                                                                                       {"show", id},
                                                                                       {"journal", id},
                                                                                       {"tokens"},
                                                                                       {"show", "no\x1bsuch"},
                                                                                       {"complete", token, "\x1b"},
                                                                                       {"runs", "--json"},
                                                                                       {"show", id, "--json"},
                                                                                       {"journal", id, "--json"},
                                                                                       {"tokens", "--json"},
                                                                                       {"show", "no\x1bsuch", "--json"}}) {
        INFO(words.front() + (words.size() > 1 ? " " + words[1] : ""));
        auto const r = call(w.engine(), words);
        for (auto const& text : {r.out, r.err}) {
            CHECK(text.find('\x1b') == text.npos);
            CHECK(text.find('\x07') == text.npos);
            CHECK(text.find("\xc2\x9b") == text.npos);
            CHECK(text.find("line\nbreak") == text.npos);
        }
    }
    auto const shown = call(w.engine(), {"show", id}, {.width = 300}).out;
    CHECK_THAT(shown, Contains(R"(line\nbreak \x1B[31mred \xC2\x9Bcsi 🚀 \xFF end)"));
    CHECK_THAT(shown, Contains("failed") && Contains("step_failed at break#0") && Contains("Unfinished"));
    auto const json = call(w.engine(), {"show", id, "--json"}).json();
    CHECK(json.at("run").at("key").as_string() == "k\x1b[2J");
    CHECK(json.at("run").at("tags").as_string() == "t\nt");
    CHECK(json.at("failure").at("name").as_string() == "step_failed");
    CHECK(json.at("failure").at("message").is_object());  // it is no UTF-8
}

TEST_CASE("escaping leaves backslashes alone and keeps to its limit", "[cli]")
{
    CHECK(flow::cli::shown("a\\b\n\x1b") == "a\\b\\n\\x1B");
    CHECK(flow::cli::shown(std::string(10'000, 'x'), 100).size() <= 100);
    CHECK(flow::cli::shown(std::string(10'000, '\\'), 100).size() <= 100);
}

TEST_CASE("show has colour only where it was asked for", "[cli]")
{
    memory_stores place;
    world w(place.store, add_samples);
    auto const run = w.engine().start<ends>();
    w.settle();
    auto const id = to_string(run.id());
    CHECK(call(w.engine(), {"show", id}).out.find('\x1b') == std::string::npos);
    CHECK(call(w.engine(), {"show", id}, {.colour = true}).out.find("\x1b[32msucceeded\x1b[0m") != std::string::npos);
    CHECK(call(w.engine(), {"show", id, "--json"}, {.colour = true}).out.find('\x1b') == std::string::npos);
}

TEST_CASE("show keeps a long run on one screen and says that there is more", "[cli]")
{
    memory_stores place;
    world w(place.store, add_samples);
    auto const run = w.engine().start<counts_to>(300);
    w.settle();
    auto const text = call(w.engine(), {"show", to_string(run.id())}, {.width = 80}).out;
    CHECK(std::count(text.begin(), text.end(), '\n') < 50);
    CHECK_THAT(text, Contains("Steps (the newest 15 of 300)") && Contains("count#299") && !Contains("count#200 "));
    auto const json = call(w.engine(), {"show", to_string(run.id()), "--limit", "2", "--json"}).json();
    CHECK(json.at("steps").as_array().size() == 2);
    CHECK(json.at("steps_total").as_int64() == 300);
    CHECK(call(w.engine(), {"show", to_string(run.id()), "--json"}).json().at("steps").as_array().size() == 300);
}

TEST_CASE("show --json gives 64-bit numbers exactly and payloads as JSON", "[cli]")
{
    memory_stores place;
    world w(place.store, add_samples);
    auto const run = w.engine().start<large_number>();
    w.settle();
    auto const v = call(w.engine(), {"show", to_string(run.id()), "--json"}).json();
    CHECK(v.at("result").as_int64() == 9'007'199'254'740'993);
    CHECK(v.at("steps").as_array().front().at("output").as_int64() == 9'007'199'254'740'993);
    CHECK(v.at("run").at("id").as_string() == to_string(run.id()).c_str());
    CHECK(v.at("run").at("status").as_string() == "succeeded");
    CHECK(v.at("run").at("waits_for").is_null());
    CHECK(v.at("failure").is_null());
    CHECK(v.at("open").as_array().empty());
    CHECK(v.at("unfinished").as_array().empty());
    CHECK(v.at("happened").as_array().size() == 3);
    CHECK(v.at("entries").as_int64() == static_cast<std::int64_t>(w.journal(run.id()).size()));
}

TEST_CASE("show names a queued run's missing engine", "[cli]")
{
    memory_stores place;
    flow::client client(place.store, "test");
    auto const run = client.start("nobody has it", flow::args());
    auto const text = call(client, {"show", to_string(run.id())}).out;
    CHECK_THAT(text, Contains("queued") && Contains("an engine that has registered \"nobody has it\""));
}
