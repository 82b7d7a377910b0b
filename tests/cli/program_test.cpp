// The program `flow` as a process of its own, on the file an engine uses.
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "calls.hpp"
#include "runtime/cli/text.hpp"
#include "samples.hpp"
#include "support/stores.hpp"

using namespace std::chrono_literals;
using namespace flow::test;
using Catch::Contains;

namespace {

/// An engine at work, on threads of its own.
class at_work {
public:
    explicit at_work(flow::store_ptr store) : engine_(std::move(store), options()) { add_samples(engine_); }
    flow::engine* operator->() { return &engine_; }

    void wait_until(flow::any_run_handle const& run, flow::run_status status)
    {
        for (int i = 0; i < 1000 && run.status().run != status; ++i) std::this_thread::sleep_for(10ms);
        REQUIRE(run.status().run == status);
    }

private:
    static flow::engine_options options()
    {
        flow::engine_options o;
        o.threads = 2;
        o.name = "worker";
        o.log = nullptr;
        return o;
    }
    flow::engine engine_;
};

}  // namespace

TEST_CASE("another process completes a token while an engine runs", "[cli][process]")
{
    sqlite_stores place;
    at_work engine(place.store);
    auto const run = engine->start<approves>("report");
    engine.wait_until(run, flow::run_status::waiting);
    auto const id = to_string(run.id());

    auto const shown = run_program({"--db", place.file, "show", id});
    CHECK(shown.code == 0);
    CHECK(shown.err.empty());
    CHECK(shown.out.find('\x1b') == std::string::npos);  // no terminal
    CHECK_THAT(shown.out, Contains("waiting") && Contains("worker@") && Contains("(pid " + std::to_string(::getpid()) + ")"));
    CHECK_THAT(shown.out, Contains(std::string(FLOW_PROGRAM) + " --db " + flow::cli::shell_word(place.file) + " complete "));

    auto const done = run_program({"complete", id, R"({"approved":true,"by":"bob's"})", "--by", "alice", "--why", "fine"},
                                  "FLOW_DB=" + flow::cli::shell_word(place.file));
    CHECK(done.err.empty());
    CHECK(done.code == 0);
    REQUIRE(run.wait(10s));
    CHECK(run.result() == "draft of report approved by bob's");
    CHECK_THAT(run_program({"--db", place.file, "show", id}).out, Contains("approve#0 was answered.  by alice: fine"));
}

TEST_CASE("another process cancels, decides and lists while an engine runs", "[cli][process]")
{
    sqlite_stores place;
    outside().clear();
    at_work engine(place.store);
    auto const sleeper = engine->start<sleeps_and_cleans_up>();
    auto const payer = engine->start<pays>();
    engine.wait_until(sleeper, flow::run_status::waiting);
    engine.wait_until(payer, flow::run_status::waiting);

    auto const listed = run_program({"--db", place.file, "runs", "--status", "waiting", "--since", "1h", "--json"});
    CHECK(listed.json().at("runs").as_array().size() == 2);

    auto const cancelled = run_program({"--db", place.file, "cancel", to_string(sleeper.id()), "--json"});
    CHECK(cancelled.code == 0);
    CHECK(cancelled.json().at("fate").as_string() == "left_to_holder");
    REQUIRE(sleeper.wait(10s));
    CHECK(sleeper.status().run == flow::run_status::cancelled);
    CHECK(outside().count("clean up") == 1);

    CHECK(run_program({"--db", place.file, "decide", to_string(payer.id()), "complete", "--output", "\"r-1\""}).code == 0);
    REQUIRE(payer.wait(10s));
    CHECK(payer.result() == "r-1");
    // Whoever does not say who they are acts as the user of the system.
    auto const view = run_program({"--db", place.file, "show", to_string(payer.id()), "--json"}).json();
    bool named = false;
    for (auto const& h : view.at("happened").as_array())
        if (std::string(h.at("text").as_string()) == "pay#0 was decided: complete.") named = !h.at("by").as_string().empty();
    CHECK(named);
}

TEST_CASE("another process sees that an engine has gone", "[cli][process]")
{
    sqlite_stores place;
    auto const run = [&] {
        at_work engine(place.store);
        auto const r = engine->start<asks_for_number>();
        engine.wait_until(r, flow::run_status::waiting);
        return r.id();
    }();
    CHECK(run_program({"--db", place.file, "complete", to_string(run), "5"}).code == 0);
    at_work next(place.again());
    auto const again = next->find(run);
    REQUIRE(again.wait(10s));
    CHECK(again.end().result == "5");
}

TEST_CASE("the program says which store it cannot use, and ends with 4", "[cli][process]")
{
    temp_dir dir;
    auto const missing = run_program({"--db", dir.file("none.db"), "runs"});
    CHECK(missing.code == 4);
    CHECK_THAT(missing.err, Contains("there is no file " + dir.file("none.db")) && Contains("--db FILE"));
    CHECK_THAT(run_program({"--db", dir.file(""), "runs"}).err, Contains("is a folder, not a database file"));
    CHECK_FALSE(std::filesystem::exists(dir.file("none.db")));

    std::ofstream(dir.file("notes.txt"))
        << "these are notes, not a database, and they are long enough to have a header of their own";
    auto const foreign = run_program({"--db", dir.file("notes.txt"), "runs", "--json"});
    CHECK(foreign.code == 4);
    CHECK(foreign.json().at("error").at("name").as_string() == "store_foreign");

    auto const unnamed = run_program({"runs"});
    CHECK(unnamed.code == 2);
    CHECK_THAT(unnamed.err, Contains("--db FILE or --store TEXT, or set FLOW_DB or FLOW_STORE"));
}

TEST_CASE("a file that a process has opened twice is still in use when another process has looked at it", "[cli][process]")
{
    // Closing any descriptor of a file drops all locks that the process has on it: then the other process, the last by its own
    // reckoning, takes the log away, and what is written into it from then on is lost.
    sqlite_stores place;
    flow::client client(place.store, "test");
    auto const second = place.again();
    for (std::size_t runs = 1; runs < 4; ++runs) {
        client.start("later", flow::args());
        CHECK(run_program({"--db", place.file, "runs", "--json"}).json().at("runs").as_array().size() == runs);
        CHECK(std::filesystem::exists(place.file + "-wal"));
    }
}

TEST_CASE("the program copies a file that an engine uses", "[cli][process]")
{
    sqlite_stores place;
    temp_dir dir;
    at_work engine(place.store);
    auto const run = engine->start<approves>("report");
    engine.wait_until(run, flow::run_status::waiting);
    auto const copied = run_program({"--db", place.file, "backup", dir.file("copy.db")});
    CHECK(copied.code == 0);
    CHECK_THAT(copied.out, Contains("copy.db.key: keep that as a secret"));
    CHECK(run_program({"--db", dir.file("copy.db"), "show", to_string(run.id())}).code == 0);
    auto const again = run_program({"--db", place.file, "backup", dir.file("copy.db"), "--json"});
    CHECK(again.code == 3);
    CHECK_THAT(std::string(again.json().at("error").at("message").as_string()), Contains("is there already"));
    CHECK(run_program({"--db", place.file, "backup", dir.file("other.db"), "--json"}).json().at("key").as_string() == dir.file("other.db.key"));

    memory_stores elsewhere;
    flow::client client(elsewhere.store, "test");
    auto const no_file = call(client, {"backup", dir.file("x.db")});
    CHECK(no_file.code == 2);
    CHECK_THAT(no_file.err, Contains("pg_dump"));
}

TEST_CASE("the program takes any store by its text", "[cli][process]")
{
    sqlite_stores place;
    flow::client client(place.store, "test");
    client.start("later", flow::args());
    auto const runs_in = [](flow::test::said const& r) {
        INFO(r.err);
        REQUIRE(r.code == 0);
        return r.json().at("runs").as_array().size();
    };
    auto const text = "sqlite:" + place.file;
    CHECK(runs_in(run_program({"--store", text, "runs", "--json"})) == 1);
    CHECK(runs_in(run_program({"runs", "--json", "--store=" + place.file})) == 1);
    CHECK(runs_in(run_program({"runs", "--json"}, "FLOW_STORE=" + flow::cli::shell_word(text))) == 1);
    CHECK(runs_in(run_program({"--db", place.file, "runs", "--json"}, "FLOW_STORE=nowhere")) == 1);
    CHECK(runs_in(run_program({"--db", "/" + place.file, "runs", "--json"})) == 1);

    auto const code = [](std::vector<std::string> const& words, std::string const& environment = {}) {
        return run_program(words, environment).code;
    };
    CHECK(code({"--store", text, "--db", place.file, "runs"}) == 2);
    CHECK(code({"runs"}, "FLOW_DB=a FLOW_STORE=b") == 2);
    CHECK(code({"--store", "sqlite:" + place.file + ".none", "runs"}) == 4);
    auto const unknown = run_program({"--store", "redis://host", "runs"});
    CHECK(unknown.code == 2);
    CHECK_THAT(unknown.err, Contains("no kind of store redis") && Contains("sqlite:FILE"));
    auto const memory = run_program({"--store", "memory", "runs"});
    CHECK(memory.code == 2);
    CHECK_THAT(memory.err, Contains("no other can open it"));
}

#if FLOW_POSTGRES
TEST_CASE("the program takes a PostgreSQL store by its text, and does not repeat its password", "[cli][process]")
{
    postgres_stores place;
    flow::client client(place.store, "test");
    auto const words = postgres_server();  // host=FOLDER dbname=postgres user=postgres; trusts, and so takes any password
    auto const text = "postgresql://postgres:s3cret@/postgres?host=" + words.substr(5, words.find(' ') - 5) + "&schema=" + place.schema();
    at_work engine(place.store);
    auto const run = engine->start<approves>("report");
    engine.wait_until(run, flow::run_status::waiting);
    auto const shown = run_program({"--store", text, "show", to_string(run.id())});
    INFO(shown.err);
    CHECK(shown.code == 0);
    CHECK_THAT(shown.out, Contains("--store 'postgresql://postgres:PASSWORD@") && Contains(" complete ") && !Contains("s3cret"));
    CHECK(run_program({"--store", text, "complete", to_string(run.id()), R"({"approved":true,"by":"bob"})"}).code == 0);
    REQUIRE(run.wait(10s));
    CHECK(run_program({"--store", text + "_none", "runs"}).code == 4);
    CHECK(run_program({"--store", "postgresql://postgres@/postgres?host=/nowhere", "runs"}).code == 4);
}
#endif

TEST_CASE("the program's exit codes are those of its page", "[cli][process]")
{
    sqlite_stores place;
    flow::client client(place.store, "test");
    auto const run = to_string(client.start("later", flow::args()).id());
    auto const code = [&](std::vector<std::string> words) {
        words.insert(words.begin(), {"--db", place.file});
        return run_program(words).code;
    };
    CHECK(code({"runs"}) == 0);
    CHECK(code({"--help"}) == 0);
    CHECK(code({"show", "ffff"}) == 1);
    CHECK(code({"explode"}) == 2);
    CHECK(code({"resume", run}) == 3);
    CHECK(code({"cancel", run}) == 0);
    CHECK(code({"cancel", run}) == 3);
    auto const full = "sh -c " + flow::cli::shell_word(std::string(FLOW_PROGRAM) + " --db " +
                                                       flow::cli::shell_word(place.file) + " runs > /dev/full 2> /dev/null");
    CHECK(WEXITSTATUS(std::system(full.c_str())) == 5);
}

TEST_CASE("every verb of the program prints one JSON document", "[cli][process]")
{
    sqlite_stores place;
    at_work engine(place.store);
    auto const asking = engine->start<asks_for_number>();
    auto const paying = engine->start<pays>();
    auto const sleeping = engine->start<sleeps_and_cleans_up>();
    engine.wait_until(asking, flow::run_status::waiting);
    engine.wait_until(paying, flow::run_status::waiting);
    engine.wait_until(sleeping, flow::run_status::waiting);
    auto const ask = [&](std::vector<std::string> words) {
        words.insert(words.begin(), {"--json", "--db", place.file});
        auto const r = run_program(words);
        INFO(words[3]);
        CHECK(r.err.empty());
        return r.json().as_object();
    };
    CHECK(ask({"runs"}).contains("runs"));
    CHECK(ask({"show", to_string(asking.id())}).contains("doing"));
    CHECK(ask({"journal", to_string(asking.id())}).contains("entries"));
    CHECK(ask({"tokens"}).at("tokens").as_array().size() == 1);
    CHECK(ask({"complete", to_string(asking.id()), "4"}).contains("counted"));
    CHECK(ask({"decide", to_string(paying.id()), "skip"}).contains("choice"));
    CHECK(ask({"cancel", to_string(sleeping.id())}).contains("fate"));
    CHECK(ask({"resume", to_string(paying.id())}).contains("error"));
}
