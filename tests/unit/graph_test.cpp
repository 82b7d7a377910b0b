// A graph as it is made: refused with the names of what is wrong; from a file; drawn.
#include <catch2/catch.hpp>

#include "flow/graph.hpp"
#include "flow/graph_file.hpp"
#include "src/graph_data.hpp"

using namespace std::chrono_literals;
using Catch::Contains;
using Catch::Equals;

namespace {

int one() { return 1; }

flow::graph_node n(std::string id) { return flow::node(std::move(id), one); }

using ids = std::vector<std::string>;

}  // namespace

TEST_CASE("TS-04 nodes stand behind what they depend on, else as they are declared", "[graph]")
{
    flow::graph const g{n("review").needs("test_exec").after("static_analysis"),
                        n("spec_load"),
                        n("test_exec").needs("code_gen"),
                        n("static_analysis").needs("code_gen"),
                        n("code_gen").needs("file_retrieval", "spec_load"),
                        n("file_retrieval"),
                        n("alone").only_if("review.status == succeeded and test_exec.status != skipped")};
    CHECK(g.nodes() == ids{"spec_load", "file_retrieval", "code_gen", "test_exec", "static_analysis", "review", "alone"});
    CHECK(g.depends_on("code_gen") == ids{"spec_load", "file_retrieval"});
    CHECK(g.depends_on("alone") == ids{"test_exec", "review"});
    CHECK_THROWS_WITH(g.depends_on("nowhere"), Contains("no node \"nowhere\""));
}

TEST_CASE("TS-04 a cycle is refused, and all of it is named", "[graph]")
{
    CHECK_THROWS_WITH((flow::graph{n("start"), n("a").needs("c", "start"), n("b").after("a"), n("c").only_if("b.status == succeeded"), n("below").needs("c")}),
                      Contains("bad_argument") && Contains("the graph has a cycle: \"a\" -> \"b\" -> \"c\" -> \"a\""));
    CHECK_THROWS_WITH((flow::graph{n("a").needs("a")}), Contains("cycle: \"a\" -> \"a\""));
}

TEST_CASE("ids given twice, dependencies that are nowhere and conditions that say nothing are refused by name", "[graph]")
{
    CHECK_THROWS_WITH((flow::graph{n("a"), n("b"), n("a")}), Contains("two nodes of the graph are called \"a\""));
    CHECK_THROWS_WITH((flow::graph{n("a").needs("b")}), Contains("node \"a\" needs \"b\", and the graph has no such node"));
    CHECK_THROWS_WITH((flow::graph{n("a").after("b")}), Contains("node \"a\" comes after \"b\""));
    CHECK_THROWS_WITH((flow::graph{n("a").only_if("b.status == failed")}), Contains("node \"a\" asks for the status of \"b\""));
    CHECK_THROWS_WITH((flow::graph{n("a"), n("b").only_if("a.status")}), Contains("node \"b\": ") && Contains("compares nothing"));
    CHECK_THROWS_WITH((flow::graph{n("a"), n("b").only_if("a.output == 3")}), Contains("node's status"));
    CHECK_THROWS_WITH((flow::graph{n("a"), n("b").only_if("a.status == done")}), Contains("names no status"));
    CHECK_THROWS_WITH((flow::graph{n("a"), n("b").only_if("a.status == failed and ")}), Contains("compares nothing"));
    CHECK_THROWS_WITH((flow::graph{n("")}), Contains("bad_name"));
    CHECK_THROWS_WITH(flow::graph{std::vector<flow::graph_node>{}}, Contains("at least one node"));
}

TEST_CASE("TS-06 the same graph from a file, its functions found by name", "[graph]")
{
    flow::node_handlers handlers;
    handlers.add("spec_load", flow::replayable, one);
    handlers.add("run_tests", flow::idempotent, [](flow::node_inputs const& in) { return in.get<int>("spec_load"); });
    auto const g = flow::graph_from_json(R"({"nodes": [
        {"id": "tests", "deps": ["spec_load"], "handler": "run_tests", "timeout_s": 180, "retry": 3, "budget_tokens": 50000,
         "on_fail": "cancel_downstream", "condition": "spec_load.status == succeeded"},
        {"id": "spec_load", "optional": true}]})", handlers);
    CHECK(g.nodes() == ids{"spec_load", "tests"});
    auto const text = flow::to_json(g);
    CHECK_THAT(text, Contains(R"("id":"tests")") && Contains(R"("deps":["spec_load"])") && Contains(R"("timeout_s":180)") && Contains(R"("retry":3)") &&
                         Contains(R"("budget_tokens":50000)") && Contains(R"("on_fail":"cancel_downstream")") &&
                         Contains(R"("condition":"spec_load.status == succeeded")") && Contains(R"("optional":true)"));
    CHECK_THAT(text, Contains(R"("handler":"run_tests")"));
    CHECK(flow::to_json(flow::graph_from_json(text, handlers)) == text);  // it can be read again, and run
    auto const patient = flow::graph_from_json(R"({"nodes": [{"id": "spec_load", "retry_delay_s": 900}]})", handlers);
    CHECK(flow::delay_after(patient.data().nodes[0].options.retry, 1) == std::chrono::minutes{15});
    CHECK_THAT(text, Contains(R"("timeout_s":30)"));  // EX-02, of the node that gives none
    CHECK(flow::to_json(flow::graph_from_json(text)) == text);
}

TEST_CASE("EX-01 a handler that is missing is an error that names the node, and what there is", "[graph]")
{
    flow::node_handlers handlers;
    handlers.add("spec_load", one);
    handlers.add("code_gen", one);
    CHECK_THROWS_WITH(flow::graph_from_json(R"({"nodes":[{"id":"spec_load"},{"id":"tests"}]})", handlers),
                      Contains("node \"tests\": there is no handler \"tests\"; there are: code_gen, spec_load"));
    CHECK_THROWS_WITH(handlers.add("spec_load", one), Contains("usage") && Contains("spec_load"));
}

TEST_CASE("a file that is none is refused by what is wrong with it", "[graph]")
{
    flow::node_handlers handlers;
    handlers.add("a", one);
    auto const read = [&](char const* text) { return flow::graph_from_json(text, handlers); };
    CHECK_THROWS_WITH(read("{"), Contains("bad_payload"));
    CHECK_THROWS_WITH(read(R"({"nodes":[{"id":"a","dependson":[]}]})"), Contains("wrong_shape") && Contains("dependson"));
    CHECK_THROWS_WITH(read(R"({"nodes":[{"deps":[]}]})"), Contains("wrong_shape") && Contains("id"));
    CHECK_THROWS_WITH(read(R"({"nodes":[{"id":"a","on_fail":"explode"}]})"), Contains("node \"a\": on_fail is \"explode\"") && Contains("cancel_downstream"));
    CHECK_THROWS_WITH(read(R"({"nodes":[{"id":"a","timeout_s":-1}]})"), Contains("node \"a\": timeout_s"));
    CHECK_THROWS_WITH(read(R"({"nodes":[{"id":"a","deps":["b"]}]})"), Contains("node \"a\" needs \"b\""));
}

TEST_CASE("a graph is drawn as Mermaid and for Graphviz, with its states in colour", "[graph]")
{
    flow::graph const g{n("spec \"1\""), n("code").needs("spec \"1\""), n("lint").after("code"), n("tell").only_if("code.status != failed")};
    CHECK(flow::to_mermaid(g) == "flowchart TD\n"
                                 "    n0[\"spec #quot;1#quot;\"]\n    n1[\"code\"]\n    n2[\"lint\"]\n    n3[\"tell\"]\n"
                                 "    n0 --> n1\n    n1 -.-> n2\n    n1 -->|if not failed| n3\n");
    CHECK(flow::to_dot(g) == "digraph flow {\n    node [shape=box, style=\"rounded,filled\", fillcolor=\"#ffffff\"];\n"
                             "    n0 [label=\"spec \\\"1\\\"\"];\n    n1 [label=\"code\"];\n    n2 [label=\"lint\"];\n    n3 [label=\"tell\"];\n"
                             "    n0 -> n1;\n    n1 -> n2 [style=dotted];\n    n1 -> n3 [label=\"if not failed\"];\n}\n");
    std::vector<flow::node_end> const states{{"spec \"1\"", flow::node_status::succeeded, "", "1"}, {"code", flow::node_status::running, "", ""},
                                             {"lint", flow::node_status::waiting, "", ""}, {"tell", flow::node_status::skipped, "", ""}};
    auto const mermaid = flow::to_mermaid(g, states);
    CHECK_THAT(mermaid, Contains("n0[\"spec #quot;1#quot;\"]:::succeeded\n") && Contains("n1[\"code\"]:::running\n") && Contains("n3[\"tell\"]:::skipped\n"));
    for (auto const* s : {"waiting", "running", "succeeded", "failed", "skipped", "cancelled"}) CHECK_THAT(mermaid, Contains("classDef " + std::string(s) + " fill:#"));
    CHECK_THAT(flow::to_dot(g, states), Contains("n1 [label=\"code\", fillcolor=\"#cfe2ff\", color=\"#0d6efd\", tooltip=\"running\"]"));
}
