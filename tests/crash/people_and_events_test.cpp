// WT-13, PR-10: a process that dies at any write between a run that waits and those who tell, ask and answer it.
#include "crash/sweep.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

flow::workflow<std::string> hears_and_asks()
{
    std::string all;
    auto const early = co_await flow::wait_for_event<int>("early", "order-17");
    all += std::to_string(early);
    co_await flow::step("note", flow::idempotent, [] { outside().note("note"); });
    for (int i = 0; i < 2; ++i) all += std::to_string(co_await flow::wait_for_event<int>("own"));
    int const cents = 120;
    auto const said = co_await flow::ask("pay", flow::question("Pay?").about(cents).to("ann", "bob", "cy").quorum(2));
    all += said.approved ? " yes" : " no";
    all += " of " + std::to_string(said.votes.size());
    auto const nobody = co_await flow::ask("late", flow::question("In time?").deadline(1h).otherwise(false));
    all += nobody.by_default ? " default" : " answered";
    auto const first = co_await flow::any(flow::wait_for_event<int>("left"), flow::wait_for_event<int>("right"));
    all += first.index() == 0 ? " left" : " right";
    co_return all;
}

flow::workflow<int> tells(flow::run_id to)
{
    co_await flow::send(to, "own", 2);
    co_await flow::send(to, "own", 3);
    co_return 0;
}

void add(flow::engine& e)
{
    e.add<hears_and_asks>("hears_and_asks");
    e.add<tells>("tells");
}

/// Whoever tells and answers tries again until it counts, as a webhook does.
bool run(world& w)
{
    try {
        auto& on = w.engine();
        on.send_event("early", "order-17", 1, {.id = "e1"});
        auto const id = on.start<hears_and_asks>({.idempotency_key = "the one"}).id();
        on.start<tells>(id, {.idempotency_key = "teller"});
        for (int i = 0; i < 60; ++i) {
            w.pass(5min);
            if (!w.store()->change_counter()) return false;
            if (is_terminal(w.status(id))) {
                CHECK(on.find(id).end().result == R"("123 yes of 2 default right")");
                // Each event is with the run, once.
                for (auto const& e : on.events()) CHECK(e.fate == flow::event_fate::taken);
                CHECK(on.events().size() == 4);
                CHECK(on.questions_for().empty());
                return true;
            }
            for (auto const& q : on.questions_for())
                if (q.row.name == "pay")
                    for (auto const* who : {"bob", "cy"})
                        if (on.responses(q.row.id).size() < 2) on.respond(q.row.id, true, {.by = who});
            for (auto const& o : w.view(id).open)
                if (o.row.name == "right") on.send(id, "right", 1, {.id = "e2"});
        }
        UNSCOPED_INFO(w.view(id).doing);
    } catch (flow::error const& e) {
        UNSCOPED_INFO(e.what());
    }
    return false;
}

scenario const all_waits{add, run, [] { CHECK(outside().count("note") >= 1); }, 20};

}  // namespace

TEST_CASE("WT-13: events and questions survive a death before any write: memory", "[crash][event][people]") { sweep<memory_place>(all_waits, fault::lose); }
TEST_CASE("WT-13: events and questions survive a death after any write: memory", "[crash][event][people]") { sweep<memory_place>(all_waits, fault::crash); }
TEST_CASE("WT-13: events and questions survive a death before any write: SQLite", "[crash][event][people][slow]") { sweep<sqlite_place>(all_waits, fault::lose); }
TEST_CASE("WT-13: events and questions survive a death after any write: SQLite", "[crash][event][people][slow]") { sweep<sqlite_place>(all_waits, fault::crash); }
