// What a file must be to be opened, and what is never done to one that is not ours.
#include <filesystem>
#include <fstream>

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <sqlite3.h>

#include "flow/store_reader.hpp"
#include "support/fault_vfs.hpp"
#include "support/runs.hpp"
#include "support/stores.hpp"

using namespace flow;
using namespace flow::test;

namespace {

std::string content(std::string const& file)
{
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void write(std::string const& file, std::string const& text) { std::ofstream(file, std::ios::binary) << text; }

void run_sql(std::string const& file, char const* sql)
{
    sqlite3* db = nullptr;
    REQUIRE(sqlite3_open(file.c_str(), &db) == SQLITE_OK);
    CHECK(sqlite3_exec(db, sql, nullptr, nullptr, nullptr) == SQLITE_OK);
    sqlite3_close(db);
}

std::string read_text(std::string const& file, char const* sql)
{
    sqlite3* db = nullptr;
    REQUIRE(sqlite3_open(file.c_str(), &db) == SQLITE_OK);
    std::string out;
    auto const keep = [](void* to, int, char** values, char**) {
        *static_cast<std::string*>(to) = values[0];
        return 0;
    };
    CHECK(sqlite3_exec(db, sql, keep, &out, nullptr) == SQLITE_OK);
    sqlite3_close(db);
    return out;
}

errc error_of_opening(std::string const& file, sqlite_options options = {})
{
    try {
        flow::sqlite(file, std::move(options));
    } catch (error const& e) {
        CHECK(std::string(e.what()).find(std::filesystem::path(file).filename().string()) != std::string::npos);
        return e.code();
    }
    FAIL("it was opened");
    return {};
}

}  // namespace

TEST_CASE("a file that is not ours is refused and left as it is", "[store][sqlite]")
{
    temp_dir dir;
    auto const file = dir.file("other.db");
    SECTION("no SQLite file") { write(file, std::string(5000, 'x')); }
    SECTION("a short text") { write(file, "hello"); }
    SECTION("somebody's tables") { run_sql(file, "create table t(a); insert into t values(1)"); }
    SECTION("somebody's tables, in WAL mode") { run_sql(file, "pragma journal_mode=wal; create table t(a); insert into t values(1)"); }
    SECTION("another application's number") { run_sql(file, "pragma application_id = 7"); }
    SECTION("a version number, but not ours") { run_sql(file, "pragma user_version = 7"); }
    auto const before = content(file);
    CHECK(error_of_opening(file) == errc::store_foreign);
    CHECK(content(file) == before);
    CHECK_FALSE(std::filesystem::exists(file + ".key"));
}

TEST_CASE("a file made by a newer flow is refused", "[store][sqlite]")
{
    temp_dir dir;
    auto const file = dir.file("flow.db");
    flow::sqlite(file);
    run_sql(file, "pragma user_version = 99");
    CHECK(error_of_opening(file) == errc::store_newer);
}

TEST_CASE("a file of an older version is brought up to this one, and its queue stands in line as before", "[store][sqlite][claim]")
{
    temp_dir dir;
    auto const file = dir.file("flow.db");
    auto const older = some_run(), newer = some_run();
    {
        auto const store = flow::sqlite(file);
        for (auto const& what : {older, newer}) REQUIRE(store->start(what).has_value());
    }
    // As version 2 wrote it: the due instant of a start that is not delayed was none.
    run_sql(file, "drop index runs_queued; create index runs_queued on runs(workflow, version, priority desc, num) where execution = 2;"
                  "update runs set due_at = 0; pragma user_version = 2");
    auto const store = flow::sqlite(file);
    auto const fresh = some_run();
    REQUIRE(store->start(fresh).has_value());
    auto const taken = claim_all(*store, some_owner(*store));
    REQUIRE(taken.size() == 3);
    CHECK(taken[0].row.id == older.id);
    CHECK(taken[1].row.id == newer.id);
    CHECK(taken[2].row.id == fresh.id);
    CHECK_THAT(read_text(file, "select sql from sqlite_schema where name = 'runs_queued'"), Catch::Contains("due_at"));
    CHECK(read_text(file, "pragma user_version") == "3");
}

TEST_CASE("under another name the file is the same store, with the same living owners", "[store][sqlite][owner]")
{
    temp_dir dir;
    auto const store = flow::sqlite(dir.file("flow.db"));
    auto const run = start_and_claim(*store, some_owner(*store));
    std::filesystem::create_directory(dir.file("elsewhere"));
    std::filesystem::create_symlink(dir.file("flow.db"), dir.file("elsewhere/link.db"));
    auto const other = flow::sqlite(dir.file("elsewhere/link.db"));
    CHECK(claim_all(*other, some_owner(*other)).empty());
    CHECK(row_of(*other, run.id()).epoch == run.row.epoch);
    CHECK(other->secret_of({fresh_uuid()}).has_value());
}

TEST_CASE("a file that must exist is not made", "[store][sqlite]")
{
    temp_dir dir;
    sqlite_options options;
    options.must_exist = true;
    CHECK(error_of_opening(dir.file("flow.db"), options) == errc::store_unavailable);
    CHECK(std::filesystem::is_empty(dir.path()));
}

TEST_CASE("ST-11: a damaged file gives one clear error and is neither deleted nor made anew", "[store][sqlite]")
{
    temp_dir dir;
    auto const file = dir.file("flow.db");
    auto const what = some_run();
    {
        auto store = flow::sqlite(file);
        REQUIRE(store->start(what).value().answer == start_answer::started);
    }
    {
        std::fstream f(file, std::ios::in | std::ios::out | std::ios::binary);
        auto const pages = std::filesystem::file_size(file) / 4096;
        for (std::uintmax_t page = 1; page < pages; ++page) {
            f.seekp(static_cast<std::streamoff>(page * 4096));
            f << std::string(4096, '\xa5');
        }
    }
    auto const before = content(file);
    try {
        auto store = flow::sqlite(file);
        auto const loaded = store->load(what.id);
        REQUIRE_FALSE(loaded);
        CHECK(loaded.error().code() == errc::store_corrupt);
        CHECK(store->start(some_run()).error().code() == errc::store_corrupt);
    } catch (error const& e) {
        CHECK(e.code() == errc::store_corrupt);
    }
    CHECK(content(file) == before);
}

TEST_CASE("the store key lies beside the file, for its owner's eyes", "[store][sqlite][secret]")
{
    temp_dir dir;
    auto const file = dir.file("flow.db");
    auto store = flow::sqlite(file);
    auto const key = file + ".key";
    struct stat info {};
    REQUIRE(::stat(key.c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0600);
    CHECK(content(key).size() == 65);
    waitpoint_id const id{fresh_uuid()};
    auto const secret = store->secret_of(id).value();
    CHECK(flow::sqlite(file)->secret_of(id).value() == secret);
    for (auto const& entry : std::filesystem::directory_iterator(dir.path()))
        if (entry.path() != key) CHECK(content(entry.path().string()).find(content(key).substr(0, 64)) == std::string::npos);

    SECTION("another key is refused where a secret is asked for, and the store goes on")
    {
        write(key, std::string(64, 'a') + "\n");
        auto other = flow::sqlite(file);
        CHECK(other->secret_of(id).error().code() == errc::store_key);
        CHECK(other->start(some_run()).has_value());
    }
    SECTION("so is a missing one, and it is not made anew")
    {
        std::filesystem::remove(key);
        CHECK(flow::sqlite(file)->secret_of(id).error().code() == errc::store_key);
        CHECK_FALSE(std::filesystem::exists(key));
    }
    SECTION("so is a damaged one")
    {
        write(key, "not a key");
        CHECK(flow::sqlite(file)->secret_of(id).error().code() == errc::store_key);
    }
    SECTION("it may lie elsewhere")
    {
        sqlite_options options;
        options.key_file = dir.file("elsewhere");
        std::filesystem::rename(key, options.key_file);
        CHECK(flow::sqlite(file, options)->secret_of(id).value() == secret);
    }
}

TEST_CASE("a store that cannot be written says so, and writes again when it can", "[store][sqlite][fault]")
{
    fault_vfs vfs;
    temp_dir dir;
    sqlite_options options;
    options.vfs = vfs.name();
    auto store = flow::sqlite(dir.file("flow.db"), options);
    auto const owner = some_owner(*store);
    REQUIRE(store->start(some_run()).has_value());
    auto const [fault, code] = GENERATE(table<fault_vfs::what, errc>({{fault_vfs::what::read_only, errc::store_read_only},
                                                                      {fault_vfs::what::full, errc::store_full},
                                                                      {fault_vfs::what::io_error, errc::store_unavailable}}));
    vfs.plan(1, fault, true);
    CHECK(store->ping(owner, std::chrono::milliseconds{200}).has_value() == false);
    auto const refused = store->start(some_run());
    REQUIRE_FALSE(refused);
    CHECK((refused.error().code() == code));
    vfs.heal();
    CHECK(store->start(some_run()).value().answer == start_answer::started);
    CHECK(store->reader().runs({}).value().size() == 2);
}
