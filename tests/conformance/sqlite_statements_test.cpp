// How many statements a call takes, and that none is left open (field cases PF-01, PF-05).
#include <atomic>
#include <filesystem>

#include <catch2/catch.hpp>
#include <sqlite3.h>

#include "flow/engine.hpp"
#include "flow/store_reader.hpp"
#include "runtime/store/sqlite/sqlite_store.hpp"
#include "support/runs.hpp"
#include "support/stores.hpp"

using namespace flow;
using namespace flow::test;

namespace {

std::atomic<int> statements{0};

int count_statements(sqlite3* db, char const**, void const*)
{
    return sqlite3_trace_v2(
        db, SQLITE_TRACE_STMT,
        [](unsigned, void*, void*, void*) {
            ++statements;
            return 0;
        },
        nullptr);
}

/// Every connection opened meanwhile counts.
struct counting {
    counting() { sqlite3_auto_extension(reinterpret_cast<void (*)()>(&count_statements)); }
    ~counting() { sqlite3_cancel_auto_extension(reinterpret_cast<void (*)()>(&count_statements)); }
};

}  // namespace

TEST_CASE("PF-01: a journal is loaded by at most five statements, whatever its length", "[store][sqlite][load]")
{
    counting all;
    sqlite_stores place;
    auto run = start_and_claim(*place.store, some_owner(*place.store));
    for (int i = 0; i < 10; ++i) applied(*place.store, run, run.steps(1000));
    statements = 0;
    CHECK(place.store->load(run.id()).value()->entries.size() == 10'003);
    CHECK(statements > 0);
    CHECK(statements <= 5);
}

TEST_CASE("a claim reads the queue from its index: nothing is sorted, and no run is looked at that is not taken", "[store][sqlite][claim]")
{
    static std::atomic<int> sorts, steps;
    auto const watch = +[](sqlite3* db, char const**, void const*) {
        return sqlite3_trace_v2(
            db, SQLITE_TRACE_PROFILE,
            [](unsigned, void*, void* statement, void*) {
                auto* const s = static_cast<sqlite3_stmt*>(statement);
                if (std::string_view(sqlite3_sql(s)).find("order by priority") == std::string_view::npos) return 0;
                sorts += sqlite3_stmt_status(s, SQLITE_STMTSTATUS_SORT, 1);
                steps = sqlite3_stmt_status(s, SQLITE_STMTSTATUS_VM_STEP, 1);
                return 0;
            },
            nullptr);
    };
    sqlite3_auto_extension(reinterpret_cast<void (*)()>(watch));
    sqlite_stores place;
    sqlite3_cancel_auto_extension(reinterpret_cast<void (*)()>(watch));
    sorts = steps = 0;
    auto const owner = some_owner(*place.store);
    for (int i = 0; i < 1000; ++i) REQUIRE(place.store->start(some_run()).has_value());
    CHECK(claim_all(*place.store, owner, {{"greeting", 1}}, 10).size() == 10);
    CHECK(sorts == 0);
    CHECK(steps > 0);
    CHECK(steps < 1000);
}

TEST_CASE("PF-05: no statement is left open between calls, and the log stays short", "[store][sqlite]")
{
    temp_dir dir;
    auto const file = dir.file("flow.db");
    sqlite_options options;
    options.synchronous = sqlite_options::sync::normal;
    auto const store = flow::sqlite(file, options);
    auto& sqlite = dynamic_cast<sqlite_detail::sqlite_store&>(*store);
    auto const owner = some_owner(*store);
    auto run = start_and_claim(*store, owner);
    auto const token = some_token();
    auto g = run.change(status_event::block);
    g.effects = {insert_waitpoint{token}, add_edge{token.id, "1", "approve#0"}};
    applied(*store, run, g);
    for (int i = 0; i < 3000; ++i) {
        applied(*store, run, run.steps(1, "\"" + std::string(1000, 'x') + "\""));
        if (i % 100) continue;
        (void)store->load(run.id()).value();
        (void)store->look(owner, 10).value();
        (void)store->next_due().value();
        (void)store->change_counter().value();
        (void)store->scan(at(9), 10).value();
        (void)claim_all(*store, owner);
        (void)store->complete(some_completion(token.id)).value();
        (void)store->ask(some_request(run.id())).value();
        (void)store->reader().runs({}).value();
        (void)store->run(run.id()).value();
        (void)store->reader().run_by_key("", "k").value();
        (void)store->reader().runs_like("0").value();
        (void)store->journal(run.id(), seq_no{1}, 5).value();
        (void)store->waitpoint(token.id).value();
        (void)store->reader().waitpoints({}).value();
        (void)store->reader().requests(run.id()).value();
        (void)store->reader().owners().value();
        CHECK(store->load_blob(sha256("none")).error().code() == errc::store_corrupt);
        CHECK(sqlite.open_statements() == 0);
    }
    CHECK(std::filesystem::file_size(file + "-wal") < 8u << 20);
}

TEST_CASE("PF-05: a log that a reader keeps from being reset is told, until the reader ends", "[store][sqlite]")
{
    temp_dir dir;
    auto const file = dir.file("flow.db");
    sqlite_options options;
    options.synchronous = sqlite_options::sync::normal;
    options.log_warning = 6u << 20;
    auto const store = flow::sqlite(file, options);
    auto run = start_and_claim(*store, some_owner(*store));
    CHECK(store->warning().empty());

    sqlite3* reader = nullptr;
    REQUIRE(sqlite3_open(file.c_str(), &reader) == SQLITE_OK);
    REQUIRE(sqlite3_exec(reader, "begin; select count(*) from runs", nullptr, nullptr, nullptr) == SQLITE_OK);
    auto const write_on = [&] {
        for (int i = 0; i < 200; ++i) applied(*store, run, run.steps(50, "\"" + std::string(1000, 'x') + "\""));
    };
    write_on();
    CHECK_THAT(store->warning(), Catch::Contains("flow.db-wal has grown to") && Catch::Contains("end that reader"));
    flow::engine_options quiet;
    quiet.threads = 0;
    std::vector<std::string> log;
    quiet.log = [&](log_level, std::string_view line) { log.emplace_back(line); };
    flow::engine engine(store, quiet);
    engine.poll(std::chrono::milliseconds{100});
    REQUIRE(log.size() == 1);
    CHECK_THAT(log[0], Catch::Contains("end that reader"));
    auto const findings = engine.health().findings;
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].what == flow::health_report::cause::store_warning);

    sqlite3_close(reader);
    write_on();
    CHECK(store->warning().empty());
}
