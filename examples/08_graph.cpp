// A graph of tasks: what depends on nothing runs side by side. The process is killed in the middle; the next one goes on there.
#include <flow/flow.hpp>

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

#include "scratch.hpp"
#include "store_option.hpp"

std::string calls;  // a file in which each function notes that it was called
bool dies_in_tests = false;

using files = std::vector<std::string>;

files retrieve(flow::node_inputs const& in)
{
    append_line(calls, "file_retrieval");
    return {in.given<std::string>() + "/parser.cpp", in.given<std::string>() + "/lexer.cpp"};
}
std::string load_spec()
{
    append_line(calls, "spec_load");
    return "numbers may be negative";
}
std::string generate(flow::node_inputs const& in)
{
    append_line(calls, "code_gen");
    return "patch of " + std::to_string(in.get<files>("file_retrieval").size()) + " files: " + in.get<std::string>("spec_load");
}
int run_tests()
{
    append_line(calls, "test_exec");
    if (dies_in_tests) std::raise(SIGKILL);
    return 118;
}
int analyse()
{
    append_line(calls, "static_analysis");
    throw std::runtime_error("the analyser is not installed");
}
std::string review(flow::node_inputs const& in)
{
    append_line(calls, "review");
    return in.get<std::string>("code_gen") + "; " + std::to_string(in.get<int>("test_exec")) + " tests passed, " +
           (in.has("static_analysis") ? "analysed" : "not analysed");
}

// [graph]
flow::graph change_of_code()
{
    using namespace std::chrono_literals;
    return flow::graph{
        flow::node("file_retrieval", flow::replayable, retrieve),
        flow::node("spec_load", flow::replayable, load_spec),
        flow::node("code_gen", flow::idempotent, generate, {.timeout = 300s}).needs("file_retrieval", "spec_load"),
        flow::node("test_exec", flow::idempotent, run_tests, {.timeout = 180s, .on_fail = flow::on_fail::cancel_downstream})
            .needs("code_gen"),
        flow::node("static_analysis", flow::replayable, analyse,
                   {.retry = {.max_attempts = 2, .first_delay = 10ms}, .optional = true})
            .needs("code_gen"),
        flow::node("review", flow::idempotent, review)
            .needs("code_gen", "test_exec", "static_analysis")
            .only_if("test_exec.status == succeeded"),
    };
}

flow::workflow<std::string> change(std::string project)
{
    auto const ended = co_await flow::run_graph(change_of_code(), project);
    if (!ended.completed()) co_return ended.failed_node + ": " + ended.why;
    co_return ended.output<std::string>("review");
}
// [/graph]

// [file]
// The same graph, kept in a file: what its nodes do is found by name.
constexpr char const* in_a_file = R"({"nodes": [
    {"id": "file_retrieval"},
    {"id": "spec_load"},
    {"id": "code_gen", "deps": ["file_retrieval", "spec_load"], "timeout_s": 300},
    {"id": "test_exec", "deps": ["code_gen"], "timeout_s": 180, "on_fail": "cancel_downstream"},
    {"id": "static_analysis", "deps": ["code_gen"], "retry": 1, "retry_delay_s": 0.01, "optional": true},
    {"id": "review", "deps": ["code_gen", "test_exec", "static_analysis"], "condition": "test_exec.status == succeeded"}
]})";

flow::graph read_graph(std::string const& json)
{
    flow::node_handlers handlers;
    handlers.add("file_retrieval", flow::replayable, retrieve);
    handlers.add("spec_load", flow::replayable, load_spec);
    handlers.add("code_gen", flow::idempotent, generate);
    handlers.add("test_exec", flow::idempotent, run_tests);
    handlers.add("static_analysis", flow::replayable, analyse);
    handlers.add("review", flow::idempotent, review);
    return flow::graph_from_json(json, handlers);
}
// [/file]

flow::workflow<bool> change_from_file(std::string json)
{
    auto const ended = co_await flow::run_graph(read_graph(json), std::string("parser"));
    co_return ended.completed() && ended.output<int>("test_exec") == 118;
}

std::string run_in_this_process(std::string const& store)
{
    flow::engine engine{flow::open_store(store)};
    engine.add<change>("change");
    return engine.start<change>("parser", {.idempotency_key = "change-1"}).result();
}

int main(int argc, char** argv)
{
    scratch_folder const folder;
    auto const store = shared_store_text(argc, argv, "sqlite:" + folder.file("flow.db"));
    calls = folder.file("calls.txt");

    ::pid_t const child = ::fork();  // before there are threads
    if (child == 0) {
        dies_in_tests = true;
        run_in_this_process(store);
        ::_exit(0);  // not reached
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "the first process was killed in the middle of 'test_exec'");

    auto const result = run_in_this_process(store);
    expect(result == "patch of 2 files: numbers may be negative; 118 tests passed, not analysed",
           "the second process brought the graph to its end");
    expect(lines_with(calls, "code_gen") == 1, "what had ended was not run again");
    expect(lines_with(calls, "test_exec") == 2, "'test_exec' was: nobody knew whether it had ended");

    {
        flow::engine engine{flow::open_store(store)};
        engine.add<change_from_file>("change_from_file");
        expect(engine.start<change_from_file>(in_a_file).result(), "the graph of a file runs likewise");

        // [draw]
        auto const run = engine.find_by_key("change-1");
        auto const g = change_of_code();
        std::string const drawn = flow::to_mermaid(g, flow::graph_states(g, run.view()));
        // [/draw]
        expect(drawn.find("n4[\"static_analysis\"]:::skipped") != std::string::npos, "it is drawn with what became of each node");
    }
}
