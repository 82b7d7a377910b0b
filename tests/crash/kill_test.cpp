// Real processes, really killed with SIGKILL: within store writes, and in the middle of a step.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "crash/everything.hpp"
#include "crash/processes.hpp"
#include "flow/store_reader.hpp"
#include "support/eventually.hpp"
#include "support/invariants.hpp"
#include "support/temp_dir.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

/// A ledger that survives its process.
void keep(std::string const& file)
{
    for (auto const& line : outside().all()) std::ofstream(file, std::ios::app) << line << '\n';
}

/// Goes through the workflow on a file, and dies at the n-th point of its store's transactions.
int live(std::string const& file, int die_at)
{
    int points = 0;
    flow::sqlite_options o;
    o.synchronous = flow::sqlite_options::sync::normal;
    o.probe = [&](std::string_view, flow::probe_point) {
        if (++points == die_at) {
            keep(file + ".ledger");
            ::raise(SIGKILL);
        }
    };
    world w(flow::sqlite(file, o), add_everything);
    std::ifstream before(file + ".ledger");
    for (std::string line; std::getline(before, line);) outside().note(line);
    return run_everything(w) ? 0 : 2;
}

flow::workflow<int> slow_step(std::string file)
{
    auto const r = co_await flow::step("slow", flow::idempotent, [&](flow::attempt& a) {
        std::ofstream(file, std::ios::app) << static_cast<std::int64_t>(a.epoch()) << '\n';
        for (int i = 0; i < 2000 && !a.stop_requested(); ++i) std::this_thread::sleep_for(5ms);
        return 1;
    });
    co_return r;
}

flow::workflow<int> asks()
{
    co_return co_await flow::wait_for_token<int>("answer");
}

int lines_in(std::string const& file)
{
    std::ifstream in(file);
    int n = 0;
    for (std::string line; std::getline(in, line);) ++n;
    return n;
}

flow::engine_options quiet(int threads)
{
    flow::engine_options o;
    o.threads = threads;
    o.log = nullptr;
    return o;
}

}  // namespace

TEST_CASE("SIGKILL inside store transactions: the next process ends with the same result", "[crash][slow]")
{
    for (int die_at = 1; die_at < 400; die_at += 13) {
        CAPTURE(die_at);
        temp_dir dir;
        auto const file = dir.file("flow.db");
        int const first = wait_for(in_a_process([&] { return live(file, die_at); }));
        CHECK((WIFSIGNALED(first) || (WIFEXITED(first) && WEXITSTATUS(first) == 0)));
        int const second = wait_for(in_a_process([&] { return live(file, 0); }));
        CHECK((WIFEXITED(second) && WEXITSTATUS(second) == 0));
        check_invariants(*flow::sqlite(file));
        if (!WIFSIGNALED(first)) break;
    }
}

TEST_CASE("PR-08 a run is taken over at once after a SIGKILL, and a stopped process keeps its runs", "[crash][engine]")
{
    temp_dir dir;
    auto const file = dir.file("flow.db"), marks = dir.file("marks");
    auto const owner = in_a_process([&] {
        flow::engine e(flow::sqlite(file), quiet(1));
        e.add<slow_step>("slow_step");
        e.start<slow_step>(marks, {.idempotency_key = "k"}).wait(1h);
        return 0;
    });
    REQUIRE(eventually([&] { return lines_in(marks) == 1; }));

    REQUIRE(::kill(owner, SIGSTOP) == 0);
    flow::engine second(flow::sqlite(file), quiet(1));
    second.add<slow_step>("slow_step");
    auto const run = second.find_by_key("k");
    std::this_thread::sleep_for(600ms);
    CHECK(lines_in(marks) == 1);  // it is frozen, not dead
    CHECK(second.inspect(run.id()).row.epoch == flow::epoch_no{1});

    REQUIRE(::kill(owner, SIGKILL) == 0);
    wait_for(owner);
    REQUIRE(eventually([&] { return lines_in(marks) == 2; }));
    // No lease was waited for: there is none on SQLite (P46).
    CHECK(second.inspect(run.id()).row.epoch == flow::epoch_no{2});
    second.stop();
}

TEST_CASE("TD-01 a killed process's wait is readable and completed by another, and goes on in a third", "[crash][engine][wait]")
{
    temp_dir dir;
    auto const file = dir.file("flow.db");
    auto const owner = in_a_process([&] {
        flow::engine e(flow::sqlite(file), quiet(1));
        e.add<asks>("asks");
        e.start<asks>({.idempotency_key = "k"}).wait(1h);
        return 0;
    });
    flow::waitpoint_filter open;
    open.status = flow::waitpoint_status::pending;
    auto const client_store = flow::sqlite(file);
    flow::client client(client_store, "alice");
    REQUIRE(eventually([&] { return client.waitpoints(open).size() == 1; }));
    REQUIRE(::kill(owner, SIGKILL) == 0);
    wait_for(owner);
    client.complete_json(client.waitpoints(open).front().id, "42");
    flow::engine third(flow::sqlite(file), quiet(1));
    third.add<asks>("asks");
    CHECK(third.find_by_key("k").end().result == "42");
}
