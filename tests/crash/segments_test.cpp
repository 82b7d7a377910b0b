// Checkpoints, a continuation and what is kept over them, in one process that dies at every write, and in two of which one does.
#include "crash/sweep.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

struct stage {
    int turn = 0, sum = 0;
    flow::token<int> answer;
};

flow::workflow<std::string> in_turns(int round, std::string text)
{
    auto const mark = ' ' + std::to_string(round);
    auto s = co_await flow::state<stage>();
    bool const fresh = s.turn == 0;
    if (fresh) {
        s.answer = co_await flow::make_token<int>("answer");
        co_await flow::step("ask", flow::idempotent, [&] { outside().note("ask" + mark); });
        s.turn = 1;
        co_await flow::checkpoint(s);
    }
    bool const second = s.turn == 1;
    if (second) {
        auto const [a, b] = co_await flow::all(flow::step("left", flow::idempotent, [&] { return outside().note("left" + mark), 4; }),
                                               [&]() -> flow::workflow<int> {
                                                   co_await flow::sleep_for(1min);
                                                   co_return co_await flow::step("right", flow::replayable, [] { return 2; });
                                               });
        s.sum = a + b;
        s.turn = 2;
        co_await flow::checkpoint(s);
    }
    s.sum += co_await flow::wait_for_token(s.answer);
    co_await flow::step("pay", flow::non_replayable, [&] { outside().note("pay" + mark); }).reconcile([&] {
        return outside().count("pay" + mark) > 0 ? flow::reconciled<void>::done() : flow::reconciled<void>::not_done();
    });
    text += std::to_string(s.sum) + mark + ';';
    bool const again = round < 2;
    if (again) co_await flow::continue_as_new(round + 1, text);
    co_return text;
}

void add(flow::engine& e) { e.add<in_turns>("in_turns"); }

bool advance(world& w)
{
    try {
        auto const id = w.engine().start("in_turns", flow::args(1, std::string()), {.idempotency_key = "the one"}).id();
        w.pass(5min);
        if (!w.store()->change_counter()) return false;
        for (auto const& o : w.engine().inspect(id).open)
            if (o.row.name == "answer") w.engine().complete_json(o.row.id, "30");
    } catch (flow::error const&) {
        return false;
    }
    return true;
}

bool has_ended(world& w)
{
    try {
        auto const run = w.engine().find_by_key("the one");
        return is_terminal(run.status().run) && run.end().result == R"("36 1;36 2;")";
    } catch (flow::error const&) {
        return false;
    }
}

bool run_to_end(world& w) { return step_to_end(w, 50, advance, has_ended); }

void check_outside()
{
    for (auto const* once : {"pay 1", "pay 2"}) CHECK(outside().count(once) == 1);
    for (auto const* again : {"ask 1", "ask 2", "left 1", "left 2"}) {
        CHECK(outside().count(again) >= 1);
        CHECK(outside().count(again) <= 2);  // in the lost window, under the same key
    }
}

scenario const turns{add, run_to_end, check_outside, 20};

}  // namespace

TEST_CASE("segments: dying before any write lands", "[crash][segment]")
{
    sweep<memory_place>(turns, fault::lose);
    sweep<sqlite_place>(turns, fault::lose);
}
TEST_CASE("segments: dying after any write, its answer lost", "[crash][segment]")
{
    sweep<memory_place>(turns, fault::crash);
    sweep<sqlite_place>(turns, fault::crash);
}

TEST_CASE("two processes on one file, one dies at any write: the other takes over while it lives", "[crash][segment]")
{
    for (auto const what : {fault::lose, fault::crash}) {
        int n = 1;
        for (;; ++n) {
            CAPTURE(n, static_cast<int>(what));
            sqlite_place place;
            auto const alive = place.open();
            world survivor(alive, add);
            bool reached = false;
            {
                auto const faulty = std::make_shared<fault_store>(place.open());
                world mortal(faulty, add);
                faulty->plan(n, what);
                // In turns, so that each holds the run now and then.
                for (int i = 0; i < 50 && !faulty->reached() && !has_ended(survivor); ++i) {
                    advance(mortal);
                    advance(survivor);
                }
                reached = faulty->reached();
            }
            REQUIRE(run_to_end(survivor));
            check_outside();
            check_invariants(*alive);
            if (!reached) break;
        }
        CHECK(n > 5);  // what the survivor writes does not count
    }
}
