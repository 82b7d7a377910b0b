// Polls, steps that end elsewhere and a graph, in a process that dies at every write of the store.
#include "crash/sweep.hpp"
#include "flow/graph.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

flow::graph tasks()
{
    auto const notes = [](flow::node_inputs const& in) { return outside().note(in.node()), 1; };
    return flow::graph{
        flow::node("load", flow::idempotent, notes),
        flow::node("build", flow::idempotent, notes).needs("load"),
        flow::node("lint", flow::replayable, []() -> int { throw std::runtime_error("untidy"); }, {.retry = {.max_attempts = 2}, .optional = true})
            .after("load"),
        flow::node("approve", [](flow::node_inputs) -> flow::workflow<int> { co_return co_await flow::wait_for_token<int>("approve"); })
            .needs("build"),
        flow::node("ship", flow::idempotent, [](flow::node_inputs const& in) {
            outside().note("ship");
            return in.get<int>("approve") + in.find<int>("lint").value_or(10);
        }).needs("approve", "lint"),
    };
}

flow::workflow<std::string> waits_in_every_way()
{
    co_await flow::poll_until("near", [] { return outside().note("near look"), outside().count("near look") >= 3; });
    auto const far = co_await flow::poll_until("far", [] {
        outside().note("far look");
        return outside().count("far look") >= 3 ? std::optional<int>(7) : std::nullopt;
    }, {.every = 20s, .timeout = 24h});
    auto const drawn = co_await flow::begin_step<int>("draw", flow::idempotent, [](flow::token<int> const&) { outside().note("draw"); });
    auto const paid = co_await flow::begin_step<int>("pay", flow::non_replayable, [](flow::token<int> const&) { outside().note("pay"); });
    auto const shipped = co_await flow::run_graph(tasks());
    co_return std::to_string(far + drawn + paid) + ' ' + std::to_string(shipped.output<int>("ship"));
}

void add(flow::engine& e) { e.add<waits_in_every_way>("waits_in_every_way"); }

/// Time passes, and everybody answers what they are asked.
bool advance(world& w)
{
    try {
        auto const id = w.engine().start("waits_in_every_way", flow::args(), {.idempotency_key = "the one"}).id();
        w.pass(1min);
        if (!w.store()->change_counter()) return false;
        for (auto const& o : w.engine().inspect(id).open) {
            if (o.row.purpose == flow::waitpoint_purpose::token) w.engine().complete_json(o.row.id, "1");
            else w.engine().decide(o.row.id, "complete", "1");
        }
        w.settle();
        return w.store()->change_counter().has_value();
    } catch (flow::error const&) {
        return false;
    }
}

bool has_ended(world& w)
{
    try {
        auto const run = w.engine().find_by_key("the one");
        return is_terminal(run.status().run) && run.end().result == R"("9 11")";
    } catch (flow::error const&) {
        return false;
    }
}

bool run_to_end(world& w) { return step_to_end(w, 30, advance, has_ended); }

scenario const every_wait{add, run_to_end,
                          [] {
                              CHECK(outside().count("pay") <= 1);  // in doubt it stays open: never begun again
                              CHECK(outside().count("ship") <= 2);
                          },
                          25};

}  // namespace

TEST_CASE("waiting in every way, dying before any write lands: memory", "[crash]") { sweep<memory_place>(every_wait, fault::lose); }
TEST_CASE("waiting in every way, dying after any write, its answer lost: memory", "[crash]") { sweep<memory_place>(every_wait, fault::crash); }
TEST_CASE("waiting in every way, dying before any write lands: SQLite", "[crash][slow]") { sweep<sqlite_place>(every_wait, fault::lose); }
TEST_CASE("waiting in every way, dying after any write: SQLite", "[crash][slow]") { sweep<sqlite_place>(every_wait, fault::crash); }
