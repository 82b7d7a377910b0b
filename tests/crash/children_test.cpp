// PR-10: a process that dies at any write between a parent and its children: both or neither, one child, and the parent goes on.
#include <signal.h>

#include <fstream>

#include "crash/processes.hpp"
#include "crash/sweep.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

flow::workflow<int> works(int x)
{
    co_await flow::step("work", flow::idempotent, [&] { outside().note("work " + std::to_string(x)); });
    co_return 10 * x;
}

flow::workflow<int> never_ends() { co_return co_await flow::wait_for_token<int>("never"); }

flow::workflow<int> parent()
{
    auto const first = co_await flow::start_run<works>(1);
    co_await flow::step("between", flow::idempotent, [] { outside().note("between"); });
    auto const keyed = co_await flow::start_run<works>(2, {.idempotency_key = "second"});
    auto const slow = co_await flow::start_run<never_ends>();
    auto const won = co_await flow::any(keyed, slow);
    auto const a = co_await first;
    co_return a + std::get<0>(won);
}

void add(flow::engine& e)
{
    e.add<works>("works");
    e.add<never_ends>("never_ends");
    e.add<parent>("parent");
}

bool run(world& w)
{
    try {
        auto const id = w.engine().start<parent>({.idempotency_key = "the one"}).id();
        w.pass(1min);
        if (!w.store()->change_counter()) return false;
        if (w.status(id) != flow::run_status::succeeded) return false;
        CHECK(flow::run_handle<int>(w.engine().find(id)).result() == 30);
        auto const children = w.engine().children(id);
        REQUIRE(children.size() == 3);
        CHECK(children[0].run.status.run == flow::run_status::succeeded);
        CHECK(children[1].run.status.run == flow::run_status::succeeded);
        CHECK(children[2].run.status.run == flow::run_status::cancelled);
        CHECK(w.engine().runs().size() == 4);
        // Each child has its parent's entry, and each such entry its child.
        CHECK(w.entries(id, flow::entry_kind::child) == 3);
        CHECK(w.entries(id, flow::entry_kind::child_ended) == 2);
    } catch (flow::error const&) {
        return false;
    }
    return true;
}

/// Goes through it on a file, and dies at the n-th point of its store's transactions.
int live(std::string const& file, int die_at)
{
    int points = 0;
    flow::sqlite_options o;
    o.synchronous = flow::sqlite_options::sync::normal;
    o.probe = [&](std::string_view, flow::probe_point) {
        if (++points == die_at) ::raise(SIGKILL);
    };
    world w(flow::sqlite(file, o), add);
    return run(w) ? 0 : 2;
}

scenario const family{add, run, [] { CHECK(outside().count("between") >= 1); }, 20};

}  // namespace

TEST_CASE("PR-10 dying before any write between a parent and its children lands: memory", "[crash][child]") { sweep<memory_place>(family, fault::lose); }
TEST_CASE("PR-10 dying after any write between a parent and its children, its answer lost: memory", "[crash][child]")
{
    sweep<memory_place>(family, fault::crash);
}
TEST_CASE("PR-10 dying before any write between a parent and its children lands: SQLite", "[crash][child]") { sweep<sqlite_place>(family, fault::lose); }
TEST_CASE("PR-10 dying after any write between a parent and its children, its answer lost: SQLite", "[crash][child]")
{
    sweep<sqlite_place>(family, fault::crash);
}

#if FLOW_POSTGRES
namespace {

class postgres_place {
public:
    flow::store_ptr open() { return postgres_store(schema_.name(), dir_.file("store.key")); }
    void died() {}  // the store object is gone, and with it its leases

private:
    temp_dir dir_;
    postgres_schema schema_;
};

}  // namespace

TEST_CASE("PR-10 dying before any write between a parent and its children lands: PostgreSQL", "[crash][child][postgres]")
{
    sweep<postgres_place>(family, fault::lose);
}
TEST_CASE("PR-10 dying after any write between a parent and its children, its answer lost: PostgreSQL", "[crash][child][postgres]")
{
    sweep<postgres_place>(family, fault::crash);
}
#endif

TEST_CASE("PR-10 SIGKILL inside the transactions between a parent and its children: the next process ends with the same result", "[crash][child]")
{
    int killed = 0;
    for (int die_at = 3; die_at < 400; die_at += 5) {
        CAPTURE(die_at);
        temp_dir dir;
        auto const file = dir.file("flow.db");
        int const first = wait_for(in_a_process([&] { return live(file, die_at); }));
        CHECK((WIFSIGNALED(first) || (WIFEXITED(first) && WEXITSTATUS(first) == 0)));
        int const second = wait_for(in_a_process([&] { return live(file, 0); }));
        CHECK((WIFEXITED(second) && WEXITSTATUS(second) == 0));
        check_invariants(*flow::sqlite(file));
        if (!WIFSIGNALED(first)) break;
        ++killed;
    }
    CHECK(killed > 10);
}
