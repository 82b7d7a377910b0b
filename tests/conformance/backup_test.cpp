// A copy of a SQLite store that is in use: one moment of it, whole, with its key; or nothing.
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <sqlite3.h>

#include "flow/backup.hpp"
#include "flow/store_reader.hpp"
#include "support/runs.hpp"
#include "support/stores.hpp"

using namespace flow;
using namespace flow::test;
using Catch::Contains;

namespace {

std::string content(std::string const& file)
{
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

error refused(std::string const& file, std::string const& target, backup_options options = {})
{
    try {
        backup(file, target, std::move(options));
    } catch (error const& e) {
        return e;
    }
    FAIL("it was copied");
    return {errc::usage, {}};
}

bool is_sound(std::string const& file)
{
    sqlite3* db = nullptr;
    REQUIRE(sqlite3_open_v2(file.c_str(), &db, SQLITE_OPEN_READWRITE, nullptr) == SQLITE_OK);
    std::string said;
    sqlite3_exec(db, "pragma integrity_check",
                 [](void* out, int, char** texts, char**) { return *static_cast<std::string*>(out) += texts[0], 0; }, &said, nullptr);
    sqlite3_close(db);
    return said == "ok";
}

}  // namespace

TEST_CASE("a back-up is the store as it was, and goes on from there", "[store][sqlite][backup]")
{
    temp_dir dir;
    auto const file = dir.file("flow.db"), copy = dir.file("copy.db");
    auto const store = flow::sqlite(file);
    auto run = start_and_claim(*store, some_owner(*store));
    auto const token = park(*store, run);

    backup(file, copy);
    auto const later = some_run();
    REQUIRE(store->start(later).has_value());

    CHECK(is_sound(copy));
    auto const restored = flow::sqlite(copy, {.must_exist = true});
    CHECK(restored->run(run.id()).value()->status == store->run(run.id()).value()->status);
    CHECK(restored->journal(run.id(), seq_no::none, 100).value().size() == store->journal(run.id(), seq_no::none, 100).value().size());
    CHECK_FALSE(restored->run(later.id).value().has_value());
    // The two go their own ways.
    CHECK(restored->complete(some_completion(token.id)).has_value());
    CHECK(store->waitpoint(token.id).value()->status == waitpoint_status::pending);
    CHECK(restored->waitpoint(token.id).value()->status != waitpoint_status::pending);
}

TEST_CASE("with the back-up goes its key, for its owner's eyes", "[store][sqlite][backup][secret]")
{
    temp_dir dir;
    auto const file = dir.file("flow.db"), copy = dir.file("copy.db");
    auto const store = flow::sqlite(file);
    waitpoint_id const id{fresh_uuid()};
    backup(file, copy);
    struct stat key{};
    REQUIRE(::stat((copy + ".key").c_str(), &key) == 0);
    CHECK((key.st_mode & 0777) == 0600);
    CHECK(flow::sqlite(copy)->secret_of(id).value() == store->secret_of(id).value());

    std::filesystem::rename(file + ".key", dir.file("elsewhere"));
    auto const lost = refused(file, dir.file("second.db"));
    CHECK(lost.code() == errc::store_key);
    CHECK_THAT(lost.message(), Contains("flow.db.key"));
    CHECK_FALSE(std::filesystem::exists(dir.file("second.db")));
    backup(file, dir.file("second.db"), {.key_file = dir.file("elsewhere")});
    CHECK(flow::sqlite(dir.file("second.db"))->secret_of(id).has_value());
    backup(file, dir.file("third.db"), {.with_key = false});
    CHECK_FALSE(std::filesystem::exists(dir.file("third.db.key")));
}

TEST_CASE("a back-up replaces nothing and makes nothing of what is no store", "[store][sqlite][backup]")
{
    temp_dir dir;
    auto const file = dir.file("flow.db"), copy = dir.file("copy.db");
    flow::sqlite(file);
    std::ofstream(copy) << "somebody's";
    auto const there = refused(file, copy);
    CHECK(there.code() == errc::usage);
    CHECK_THAT(there.message(), Contains("copy.db is there already"));
    CHECK(content(copy) == "somebody's");
    CHECK_FALSE(std::filesystem::exists(copy + ".key"));

    std::ofstream(dir.file("other.db.key")) << "somebody's";
    CHECK(refused(file, dir.file("other.db")).code() == errc::store_key);
    CHECK(content(dir.file("other.db.key")) == "somebody's");

    CHECK(refused(dir.file("none.db"), dir.file("a.db")).code() == errc::store_unavailable);
    CHECK(refused(file, dir.file("no/folder/a.db")).code() == errc::store_key);
    std::ofstream(dir.file("text.db")) << std::string(5000, 'x');
    CHECK(refused(dir.file("text.db"), dir.file("a.db")).code() == errc::store_foreign);
    std::ofstream(dir.file("empty.db")).flush();
    CHECK(refused(dir.file("empty.db"), dir.file("a.db")).code() == errc::store_foreign);
    for (auto const* name : {"none.db", "a.db", "a.db.key", "a.db.part", "other.db"}) CHECK_FALSE(std::filesystem::exists(dir.file(name)));
}

TEST_CASE("back-ups made while others write are each one moment", "[store][sqlite][backup][race]")
{
    temp_dir dir;
    auto const file = dir.file("flow.db");
    auto const store = flow::sqlite(file);
    std::atomic<bool> over{false};
    std::atomic<int> written{0};
    std::thread writer([&] {
        while (!over) written += store->start(some_run()).has_value();
    });
    std::size_t before = 0;
    for (int i = 0; i < 5; ++i) {
        auto const copy = dir.file("copy" + std::to_string(i) + ".db");
        auto const least = static_cast<std::size_t>(written.load());
        backup(file, copy);
        CHECK(is_sound(copy));
        auto const runs = flow::sqlite(copy)->reader().runs({.limit = 1'000'000}).value().size();
        CHECK(runs >= least);
        CHECK(runs >= before);
        before = runs;
    }
    over = true;
    writer.join();
    CHECK(store->reader().runs({.limit = 1'000'000}).value().size() == static_cast<std::size_t>(written.load()));
}

TEST_CASE("a process killed in a back-up leaves nothing that looks like one", "[store][sqlite][backup][process]")
{
    temp_dir dir;
    auto const file = dir.file("flow.db"), copy = dir.file("copy.db");
    auto const what = some_run();
    {
        auto const store = flow::sqlite(file, {.synchronous = sqlite_options::sync::normal});
        REQUIRE(store->start(what).has_value());
        for (int i = 0; i < 500; ++i) REQUIRE(store->start(some_run()).has_value());
    }
    auto const numbered = [&](int i) { return dir.file("copy" + std::to_string(i) + ".db"); };
    ::pid_t const child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        try {
            for (int i = 0;; ++i) backup(file, numbered(i));
        } catch (...) {
            ::_exit(1);
        }
    }
    while (!std::filesystem::exists(numbered(2)) && ::waitpid(child, nullptr, WNOHANG) == 0) ::usleep(1000);
    ::kill(child, SIGKILL);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
    for (int i = 0; i < 3 || std::filesystem::exists(numbered(i)); ++i) {
        INFO(i);
        CHECK(is_sound(numbered(i)));
        CHECK(flow::sqlite(numbered(i), {.must_exist = true})->secret_of({fresh_uuid()}).has_value());
    }

    std::ofstream(copy + ".part") << "half of one";
    std::ofstream(copy + ".part-journal") << "and its log";
    CHECK_FALSE(std::filesystem::exists(copy));
    backup(file, copy);  // what an earlier one left is no hindrance
    CHECK(flow::sqlite(copy)->run(what.id).value().has_value());
    CHECK_FALSE(std::filesystem::exists(copy + ".part"));
    CHECK_FALSE(std::filesystem::exists(copy + ".part-journal"));
}
