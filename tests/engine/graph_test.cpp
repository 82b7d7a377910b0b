// A graph runs: in order, side by side, over failures, over crashes.
#include <catch2/catch.hpp>

#include <algorithm>

#include "dying.hpp"
#include "flow/flow.hpp"
#include "flow/graph.hpp"
#include "flow/graph_file.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace std::chrono_literals;
using namespace flow::test;
using flow::node_status;
using ids = std::vector<std::string>;

namespace {

std::string fails;      ///< the node that fails
int fails_times = 1000;

/// Notes that it ran, and fails if it is to.
std::string does(flow::node_inputs const& in)
{
    outside().note(in.node());
    if (in.node() == fails && fails_times-- > 0) throw std::runtime_error(in.node() + " is broken");
    return in.node() + "!";
}
flow::graph_node n(std::string id, flow::node_options o = {.retry = {.max_attempts = 1}}) { return flow::node(std::move(id), flow::idempotent, does, o); }

/// A node that takes its time: it ends when its token is completed.
flow::workflow<int> waits(flow::node_inputs in)
{
    outside().note(in.node());
    auto const n = co_await flow::wait_for_token<int>(in.node());
    outside().note(in.node() + " ends");
    co_return n;
}
flow::graph_node w_(std::string id, flow::node_options o = {}) { return flow::node(std::move(id), waits, o); }

flow::graph code_review()
{
    return flow::graph{
        flow::node("file_retrieval", flow::replayable, [](flow::node_inputs const& in) { return std::vector<std::string>{in.given<std::string>() + ".cpp"}; }),
        flow::node("spec_load", flow::replayable, [] { return 3; }),
        flow::node("code_gen", flow::idempotent, [](flow::node_inputs const& in, flow::attempt& a) {
            outside().note("key " + std::string(a.key()));
            return in.get<std::vector<std::string>>("file_retrieval").at(0) + std::string(static_cast<std::size_t>(in.get<int>("spec_load")), '!');
        }).needs("file_retrieval", "spec_load"),
        w_("test_exec").needs("code_gen"),
        w_("static_analysis").needs("code_gen"),
        flow::node("review", flow::idempotent, [](flow::node_inputs const& in) {
            outside().note("review");
            return in.get<std::string>("code_gen") + " " + std::to_string(in.get<int>("test_exec"));
        }).needs("code_gen", "test_exec").after("static_analysis").only_if("test_exec.status == succeeded"),
    };
}

flow::workflow<flow::graph_result> reviews(std::string file)
{
    auto const r = co_await flow::run_graph(code_review(), file);
    co_await flow::wait_for_token<void>("go on");
    co_return r;
}

using maker = flow::graph (*)();
maker which = nullptr;

flow::workflow<flow::graph_result> runs_it()
{
    co_return co_await flow::run_graph(which());
}

flow::workflow<std::vector<flow::graph_result>> twice()
{
    auto const [a, b] = co_await flow::all(flow::run_graph(which()), flow::run_graph(which()));
    std::vector<flow::graph_result> both{a, b};
    co_return both;
}

void add_all(flow::engine& e)
{
    e.add<reviews>("reviews");
    e.add<runs_it>("runs_it");
    e.add<twice>("twice");
}

flow::graph_result result_of(world& w, flow::run_id id) { return flow::run_handle<flow::graph_result>(w.engine().find(id)).result(); }

/// Runs `g` to its end.
flow::graph_result outcome_of(maker g, std::string broken = {}, int times = 1000)
{
    memory_stores place;
    world w(place.store, add_all);
    which = g;
    fails = std::move(broken);
    fails_times = times;
    auto const run = w.engine().start<runs_it>();
    w.pass(1h);
    REQUIRE(is_terminal(run.status().run));
    return run.result();
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("TS-04 data, order and conditions; test_exec and static_analysis overlap; the same outputs on replay", "[engine][graph]", every_store)
{
    bool const tests_first = GENERATE(false, true);
    TestType place;
    world w(place.store, add_all);
    auto const id = w.engine().start<reviews>("a").id();
    w.settle();
    // Both run at once, nothing behind them.
    CHECK(outside().count("test_exec") == 1);
    CHECK(outside().count("static_analysis") == 1);
    auto const first = tests_first ? "test_exec" : "static_analysis", second = tests_first ? "static_analysis" : "test_exec";
    w.engine().complete_json(w.open_token(first), "7");
    w.settle();
    CHECK(outside().count("review") == 0);  // `after` holds it as well as `needs`
    w.restart();
    w.settle();
    w.engine().complete_json(w.open_token(second), "7");
    w.settle();
    CHECK(outside().count("review") == 1);
    w.restart();
    w.settle();
    w.engine().complete_json(w.open_token("go on"), "null");
    w.settle();

    auto const r = result_of(w, id);
    CHECK(r.completed());
    CHECK(r.output<std::string>("review") == "a.cpp!!! 7");
    CHECK(r.with(node_status::succeeded).size() == 6);
    CHECK(outside().count("review") == 1);
    auto const all = outside().all();
    CHECK(std::count_if(all.begin(), all.end(), [](auto const& l) { return l.starts_with("key "); }) == 1);
}

TEMPLATE_LIST_TEST_CASE("TS-04 a process killed after any node leaves no node run twice", "[engine][graph]", every_store)
{
    dying_place<TestType> place;
    world w(place.open(), add_all);
    auto const id = w.engine().start<reviews>("a").id();
    w.settle();
    place.die(w);
    w.settle();
    w.engine().complete_json(w.open_token("test_exec"), "1");
    w.settle();
    place.die(w);
    w.settle();
    w.engine().complete_json(w.open_token("static_analysis"), "2");
    w.settle();
    place.die(w);
    w.settle();
    w.engine().complete_json(w.open_token("go on"), "null");
    w.settle();
    CHECK(result_of(w, id).output<std::string>("review") == "a.cpp!!! 1");
    CHECK(outside().count("review") == 1);
    auto const all = outside().all();
    CHECK(std::count_if(all.begin(), all.end(), [](auto const& l) { return l.starts_with("key "); }) == 1);
}

TEST_CASE("TS-05 a node is tried again N times, each pause longer than the one before", "[engine][graph]")
{
    memory_stores place;
    world w(place.store, add_all);
    which = [] { return flow::graph{n("flaky", {.retry = {.max_attempts = 4, .first_delay = 1s}}), n("next").needs("flaky")}; };
    fails = "flaky";
    SECTION("and ends well")
    {
        fails_times = 3;
        auto const run = w.engine().start<runs_it>();
        std::vector<int> ran;
        for (auto const pause : {0s, 1s, 2s, 4s}) {
            w.pass(pause);
            ran.push_back(outside().count("flaky"));
        }
        CHECK(ran == std::vector<int>{1, 2, 3, 4});
        CHECK(run.result().completed());
        CHECK(outside().count("next") == 1);
    }
    SECTION("and fails")
    {
        fails_times = 1000;
        auto const run = w.engine().start<runs_it>();
        w.pass(1h);
        CHECK(outside().count("flaky") == 4);
        CHECK(run.result().failed_node == "flaky");
    }
}

TEST_CASE("TS-05 an optional node that fails is skipped, and the graph goes on without its output", "[engine][graph]")
{
    auto const r = outcome_of([] {
        return flow::graph{n("code"), n("lint", {.retry = {.max_attempts = 1}, .optional = true}).needs("code"),
                           flow::node("review", [](flow::node_inputs const& in) { return in.find<std::string>("lint").value_or("no lint"); }).needs("code", "lint")};
    }, "lint");
    CHECK(r.completed());
    CHECK(r.skipped() == ids{"lint"});
    CHECK(r.at("lint").why == "lint is broken");
    CHECK(r.output<std::string>("review") == "no lint");
    CHECK_THROWS_WITH(r.output<std::string>("lint"), Catch::Contains("node lint has no output: it is skipped"));
}

TEST_CASE("TS-05 on_fail skip skips what needs the output, and what comes after it runs", "[engine][graph]")
{
    auto const r = outcome_of([] {
        return flow::graph{n("lint", {.retry = {.max_attempts = 1}, .on_fail = flow::on_fail::skip}), n("report").needs("lint"), n("next").after("lint")};
    }, "lint");
    CHECK(r.completed());
    CHECK(r.skipped() == ids{"lint", "report"});
    CHECK(r.at("report").why == "it needs the output of node lint, which was skipped");
    CHECK(r.status_of("next") == node_status::succeeded);
}

TEST_CASE("TS-05 cancel_downstream cancels exactly the branch below, the rest runs to its end", "[engine][graph]")
{
    auto const r = outcome_of([] {
        return flow::graph{n("root"),
                           n("build", {.retry = {.max_attempts = 1}, .on_fail = flow::on_fail::cancel_downstream}).needs("root"),
                           n("package").needs("build"), n("ship").after("package"),
                           n("docs").needs("root"), n("publish").needs("docs"),
                           n("alarm").only_if("build.status == failed")};
    }, "build");
    CHECK_FALSE(r.completed());
    CHECK(r.failed_node == "build");
    CHECK(r.why == "build is broken");
    CHECK(r.with(node_status::cancelled) == ids{"package", "ship"});
    CHECK(r.at("package").why == "node build failed");
    CHECK(r.at("ship").why == "node package was cancelled");
    CHECK(r.with(node_status::succeeded) == ids{"root", "docs", "publish", "alarm"});
}

TEMPLATE_LIST_TEST_CASE("EX-04 a failure ends the graph: what runs is cancelled, nothing more begins, and the result says which and why",
                        "[engine][graph]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    which = [] { return flow::graph{w_("slow"), n("broken"), n("below").needs("broken"), n("behind").needs("slow")}; };
    fails = "broken";
    fails_times = 1000;
    auto const id = w.engine().start<runs_it>().id();
    w.settle();
    auto const r = result_of(w, id);
    CHECK(r.failed_node == "broken");
    CHECK(r.why == "broken is broken");
    CHECK(r.with(node_status::cancelled) == ids{"slow", "below", "behind"});
    CHECK(r.at("slow").why == "node broken failed");
    CHECK(outside().count("slow ends") == 0);
    CHECK(outside().count("behind") == 0);
}

TEST_CASE("TS-03 a condition that does not hold skips the node, and what needs it", "[engine][graph]")
{
    auto const r = outcome_of([] {
        return flow::graph{n("tests"), n("rollback").only_if("tests.status == failed"), n("told").needs("rollback"), n("ship").only_if("tests.status != failed and rollback.status == skipped")};
    });
    CHECK(r.completed());
    CHECK(r.skipped() == ids{"rollback", "told"});
    CHECK(r.at("rollback").why == "node tests is succeeded");
    CHECK(r.status_of("ship") == node_status::succeeded);
}

TEST_CASE("a node gets only what it says it needs", "[engine][graph]")
{
    auto const r = outcome_of([] {
        return flow::graph{n("a"), flow::node("b", flow::replayable, [](flow::node_inputs const& in) { return in.get<std::string>("a"); }, {.retry = {.max_attempts = 1}}).after("a")};
    });
    CHECK(r.failed_node == "b");
    CHECK_THAT(r.why, Catch::Contains("node b asks for the output of a, which it does not need"));
}

TEMPLATE_LIST_TEST_CASE("a cancel of the run ends its graph", "[engine][graph]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto run = w.engine().start<reviews>("a");
    w.settle();
    run.cancel("enough");
    w.settle();
    CHECK(w.status(run.id()) == flow::run_status::cancelled);
    CHECK(outside().count("review") == 0);
}

TEST_CASE("EX-03 a node in doubt asks a person: complete goes on, skip skips", "[engine][graph]")
{
    std::string const choice = GENERATE("complete", "skip");
    memory_stores place;
    world w(place.store, add_all);
    which = [] {
        return flow::graph{flow::node("pay", flow::non_replayable, []() -> int { throw std::runtime_error("line went dead"); }),
                           flow::node("tell", [](flow::node_inputs const& in) { return in.get<int>("pay") + 1; }).needs("pay")};
    };
    auto const run = w.engine().start<runs_it>();
    w.settle();
    w.engine().decide(w.engine().intervention_of(run.id()), choice, choice == "complete" ? std::optional<std::string_view>("41") : std::nullopt);
    w.settle();
    auto const r = run.result();
    CHECK(r.completed());
    if (choice == "complete") CHECK(r.output<int>("tell") == 42);
    else CHECK(r.skipped() == ids{"pay", "tell"});
}

TEST_CASE("two graphs side by side in one run", "[engine][graph]")
{
    sqlite_stores place;
    world w(place.store, add_all);
    fails.clear();
    which = [] { return flow::graph{n("a"), n("b").needs("a"), n("c").needs("a"), n("d").needs("b", "c")}; };
    auto const run = w.engine().start<twice>();
    w.settle();
    auto const both = run.result();
    CHECK((both[0].completed() && both[1].completed()));
    CHECK(outside().count("d") == 2);
}

TEST_CASE("a hundred layers, each of three nodes that need all above, run in order", "[engine][graph]")
{
    which = [] {
        std::vector<flow::graph_node> nodes;
        for (int layer = 0; layer < 100; ++layer)
            for (int i = 0; i < 3; ++i) {
                auto node = n(std::to_string(layer) + "." + std::to_string(i));
                for (int up = 0; layer > 0 && up < 3; ++up) node = std::move(node).needs(std::to_string(layer - 1) + "." + std::to_string(up));
                nodes.push_back(std::move(node));
            }
        std::reverse(nodes.begin(), nodes.end());
        return flow::graph(std::move(nodes));
    };
    auto const r = outcome_of(which);
    CHECK(r.completed());
    auto const all = outside().all();
    REQUIRE(all.size() == 300);
    CHECK(std::is_sorted(all.begin(), all.end(), [](auto const& a, auto const& b) { return std::stoi(a) < std::stoi(b); }));
}

TEMPLATE_LIST_TEST_CASE("anybody sees how a run's graph stands, while it runs and after", "[engine][graph]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const id = w.engine().start<reviews>("a").id();
    w.settle();
    w.engine().complete_json(w.open_token("static_analysis"), "1");
    w.settle();
    flow::client anybody(place.store);
    std::string text;
    for (auto const& p : anybody.published(id))
        if (p.key == "graph") text = p.value;
    auto const g = flow::graph_from_json(text);
    auto states = flow::graph_states(g, anybody.inspect(id));
    auto const status_of = [&](std::string_view node) {
        return std::find_if(states.begin(), states.end(), [&](auto const& s) { return s.id == node; })->status;
    };
    CHECK(status_of("code_gen") == node_status::succeeded);
    CHECK(status_of("test_exec") == node_status::running);
    CHECK(status_of("review") == node_status::waiting);
    w.engine().complete_json(w.open_token("test_exec"), "1");
    w.settle();
    states = flow::graph_states(g, anybody.inspect(id));
    CHECK(status_of("test_exec") == node_status::succeeded);
    CHECK(status_of("review") == node_status::succeeded);
}

namespace {

flow::workflow<std::string> read_without_handlers()
{
    try {
        co_await flow::run_graph(flow::graph_from_json(R"({"nodes": [{"id": "only"}]})"));
    } catch (flow::error const& e) {
        co_return e.what();
    }
    co_return "it ran";
}

}  // namespace

TEST_CASE("a graph that was read without handlers is not run, and says which node has no function", "[engine][graph]")
{
    world w(flow::memory(), [](flow::engine& e) { e.add<read_without_handlers>("read_without_handlers"); });
    auto const run = w.engine().start<read_without_handlers>();
    w.settle();
    REQUIRE(w.status(run.id()) == flow::run_status::succeeded);
    CHECK_THAT(run.result(), Catch::Contains("\"only\"") && Catch::Contains("handlers"));
}
