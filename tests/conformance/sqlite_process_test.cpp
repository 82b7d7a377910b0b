// Several processes on one file. A child opens a store of its own and ends by _exit.
#include <csignal>
#include <cstdio>
#include <filesystem>

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <sqlite3.h>

#include "flow/store_reader.hpp"
#include "support/runs.hpp"
#include "support/stores.hpp"

using namespace flow;
using namespace flow::test;

namespace {

template <class Body>
pid_t child(Body const& body)
{
    pid_t const pid = ::fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
        int code = 1;
        try {
            code = body();
        } catch (std::exception const& e) {
            std::fprintf(stderr, "child: %s\n", e.what());
        }
        ::_exit(code);
    }
    return pid;
}

int exit_code(pid_t pid)
{
    int status = 0;
    ::waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/// A run that a child claimed before it says so through a pipe and stands still.
struct stopped_owner {
    pid_t pid;
    run_id run;
};

stopped_owner owner_in_a_child(std::string const& file)
{
    int pipe[2];
    REQUIRE(::pipe(pipe) == 0);
    auto const what = some_run();
    auto const pid = child([&] {
        auto store = flow::sqlite(file);
        if (!store->start(what)) return 2;
        auto const owner = store->add_owner({"a child", ::getpid(), at(0)}).value();
        workflow_version const w{"greeting", 1};
        if (store->claim({owner, {&w, 1}, 10, at(1)}).value().size() != 1) return 3;
        if (::write(pipe[1], "x", 1) != 1) return 4;
        for (;;) ::pause();
    });
    char c = 0;
    ::close(pipe[1]);
    REQUIRE(::read(pipe[0], &c, 1) == 1);
    ::close(pipe[0]);
    return {pid, what.id};
}

}  // namespace

TEST_CASE("ST-15: of 24 processes that open a fresh file one makes it and the rest wait", "[store][sqlite][process]")
{
    temp_dir dir;
    auto const file = dir.file("flow.db");
    std::vector<pid_t> children;
    for (int i = 0; i < 24; ++i)
        children.push_back(child([&, i] {
            sqlite_options options;
            options.busy_timeout = std::chrono::seconds{60};
            auto store = flow::sqlite(file, options);
            auto what = some_run();
            what.id.value.bytes[0] = static_cast<std::uint8_t>(i + 1);
            return store->start(what).has_value() ? 0 : 2;
        }));
    for (auto const pid : children) CHECK(exit_code(pid) == 0);
    auto store = flow::sqlite(file);
    CHECK(store->reader().runs({}).value().size() == 24);
    CHECK(store->secret_of({fresh_uuid()}).has_value());
}

TEST_CASE("PR-08: runs of a process killed by SIGKILL are taken over at once, those of a stopped one are not",
          "[store][sqlite][process][owner]")
{
    temp_dir dir;
    auto const file = dir.file("flow.db");
    flow::sqlite(file);  // so that parent and child do not both make it
    auto const dead = owner_in_a_child(file);
    auto store = flow::sqlite(file);
    auto const me = some_owner(*store);
    CHECK(claim_all(*store, me).empty());
    ::kill(dead.pid, SIGSTOP);
    CHECK(claim_all(*store, me).empty());
    ::kill(dead.pid, SIGKILL);
    exit_code(dead.pid);

    auto const taken = claim_all(*store, me);
    REQUIRE(taken.size() == 1);
    CHECK(taken[0].taken_over);
    CHECK(taken[0].row.id == dead.run);
    CHECK(taken[0].row.epoch == epoch_no{2});
    CHECK(store->reader().owners().value().size() == 1);
    int locks = 0;
    for (auto const& entry : std::filesystem::directory_iterator(dir.path()))
        locks += entry.path().filename().string().find(".owner-") != std::string::npos;
    CHECK(locks == 1);
}

TEST_CASE("ST-06: a lock held from outside is waited for, and named when the wait is over", "[store][sqlite][busy]")
{
    temp_dir dir;
    auto const file = dir.file("flow.db");
    sqlite_options options;
    options.busy_timeout = std::chrono::milliseconds{500};
    auto store = flow::sqlite(file, options);
    auto run = start_and_claim(*store, some_owner(*store));
    auto const g = run.steps();

    sqlite3* outside = nullptr;
    REQUIRE(sqlite3_open(file.c_str(), &outside) == SQLITE_OK);
    REQUIRE(sqlite3_exec(outside, "begin immediate", nullptr, nullptr, nullptr) == SQLITE_OK);
    auto const begin = std::chrono::steady_clock::now();
    CHECK(store->apply({&g, 1}, time_limit::zero()).error().code() == errc::store_busy);
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::milliseconds{250});
    CHECK(store->start(some_run()).error().code() == errc::store_busy);
    CHECK(store->load(run.id()).value()->entries.size() == 3);  // reading goes on

    std::thread release([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds{150});
        sqlite3_exec(outside, "rollback", nullptr, nullptr, nullptr);
    });
    CHECK(store->apply({&g, 1}, std::chrono::seconds{5}).value().front().kind == answer_kind::applied);
    release.join();
    sqlite3_close(outside);
}
