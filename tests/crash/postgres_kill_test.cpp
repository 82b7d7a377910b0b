// Workers on one PostgreSQL server, killed with SIGKILL at random: no run is lost, and none ends otherwise than it would have.
#if FLOW_POSTGRES
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <map>
#include <random>

#include "flow/flow.hpp"
#include "flow/store_reader.hpp"
#include "support/invariants.hpp"
#include "support/postgres.hpp"
#include "support/temp_dir.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

constexpr int steps = 12;

/// One write of one line: whole or not at all, whoever is killed meanwhile.
void note(std::string const& file, std::string const& line)
{
    int const fd = ::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ::write(fd, line.data(), line.size()) != static_cast<ssize_t>(line.size())) throw std::runtime_error("no ledger");
    ::close(fd);
}

// The ledger of calls: which step of which run, once a call.
flow::workflow<int> adds_up(int n, std::string file)
{
    int sum = 0;
    for (int i = 0; i < steps; ++i) {
        sum += co_await flow::step("add", flow::idempotent, [&] {
            note(file, std::to_string(n) + "." + std::to_string(i) + "\n");
            std::this_thread::sleep_for(40ms);
            return n * i;
        });
        if (i == 3) co_await flow::sleep_for(20ms);
    }
    co_return sum;
}

flow::store_ptr open(std::string const& schema)
{
    flow::postgres_options o;
    o.schema = schema;
    o.lease = 900ms;
    o.renew_every = 250ms;
    return flow::postgres(postgres_server(), o);
}

pid_t worker(std::string const& schema)
{
    pid_t const child = ::fork();
    REQUIRE(child >= 0);
    if (child != 0) return child;
    try {
        flow::engine_options o;
        o.threads = 2;
        o.log = nullptr;
        o.max_recoveries = 1000;  // their processes are killed, they do not kill them
        flow::engine e(open(schema), o);
        e.add<adds_up>("adds_up");
        std::this_thread::sleep_for(10min);
    } catch (...) {
    }
    ::_exit(1);  // nothing of the test's own is torn down here
}

void kill_and_wait(pid_t child)
{
    REQUIRE(::kill(child, SIGKILL) == 0);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
}

}  // namespace

TEST_CASE("two workers on PostgreSQL, killed with SIGKILL at random, lose nothing", "[crash][engine][postgres]")
{
    constexpr int runs = 30;  // few: from its second death on a run is resumed alone (P31)
    postgres_schema schema;
    temp_dir dir;
    auto const file = dir.file("calls");
    {
        flow::client client(open(schema.name()), "alice");
        for (int n = 0; n < runs; ++n) client.start("adds_up", flow::args{n, file}, {.idempotency_key = "run " + std::to_string(n)});
    }
    std::array<pid_t, 2> workers{worker(schema.name()), worker(schema.name())};
    std::mt19937 random(20261130);  // which one and when; what it hits is chance
    int killed = 0;
    auto const store = [&] { return open(schema.name()); };
    auto const ended = [&] { return ask_postgres(schema.name(), "select count(*) from runs where execution = 7"); };
    auto const deadline = std::chrono::steady_clock::now() + 90s;
    while (ended() != std::to_string(runs) && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100 + random() % 300));
        // Now and then both: then nobody is left to take over but who comes next.
        bool const both = killed < 16 && random() % 4 == 0;
        for (auto& w : workers) {
            if (killed >= 16 || !(both || random() % 2)) continue;
            kill_and_wait(w);
            ++killed;
            w = worker(schema.name());
        }
    }
    for (auto const w : workers) kill_and_wait(w);
    CHECK(killed >= 4);

    auto const last = store();
    std::map<std::string, int> calls;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) ++calls[line];
    int outcomes = 0, taken_over = 0;
    for (int n = 0; n < runs; ++n) {
        auto const row = last->reader().run_by_key("", "run " + std::to_string(n)).value();
        REQUIRE(row);
        CAPTURE(n, flow::to_string(row->status.run));
        REQUIRE(row->status.run == flow::run_status::succeeded);
        int recoveries = 0;
        for (auto const& e : last->journal(row->id, flow::seq_no::none, 100'000).value()) {
            recoveries += e.kind == flow::entry_kind::recovered;
            outcomes += e.kind == flow::entry_kind::step;
            if (e.kind == flow::entry_kind::result) CHECK(e.payload == std::to_string(n * steps * (steps - 1) / 2));
        }
        taken_over += recoveries;
        for (int i = 0; i < steps; ++i) {
            auto const count = calls[std::to_string(n) + "." + std::to_string(i)];
            CHECK(count >= 1);
            CHECK(count <= 1 + recoveries);  // again only after a death
        }
    }
    CHECK(taken_over > 0);
    CHECK(outcomes == steps * runs);
    check_invariants(*last);
}
#endif
