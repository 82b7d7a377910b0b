// A resource whose steps change it, in a process that dies at every write of the store: it is restored as the journal stands.
#include "crash/sweep.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

class counter {
public:
    static std::unique_ptr<counter> open() { return std::make_unique<counter>(); }
    static std::unique_ptr<counter> restore(int at)
    {
        auto c = open();
        c->value = at;
        return c;
    }
    int snapshot() const { return value; }

    int value = 0;
};

flow::workflow<int> counts()
{
    auto c = co_await flow::open_resource<counter>("counter");
    for (int i = 0; i < 3; ++i) {
        co_await flow::step("add", flow::idempotent, [&] { c->value += 1; });
        co_await flow::sleep_for(10s);
        co_await flow::step("double", flow::replayable, [&] { c->value *= 2; });
    }
    co_return co_await flow::step("read", flow::replayable, [&] { return c->value; });
}

void add(flow::engine& e) { e.add<counts>("counts"); }

bool run_to_end(world& w)
{
    try {
        auto const run = w.engine().start<counts>({.idempotency_key = "the one"});
        for (int i = 0; i < 20; ++i) {
            w.pass(11s);
            if (!w.store()->change_counter()) return false;
            if (!is_terminal(run.status().run)) continue;
            CHECK(run.try_result().value() == 14);  // ((1 * 2 + 1) * 2 + 1) * 2
            return true;
        }
    } catch (flow::error const&) {
    }
    return false;
}

scenario const counting{add, run_to_end, [] {}, 15};

}  // namespace

TEST_CASE("a resource, dying before any write lands: memory", "[crash][resource]") { sweep<memory_place>(counting, fault::lose); }
TEST_CASE("a resource, dying after any write, its answer lost: memory", "[crash][resource]") { sweep<memory_place>(counting, fault::crash); }
TEST_CASE("a resource, dying after any write: SQLite", "[crash][resource][slow]") { sweep<sqlite_place>(counting, fault::crash); }
