// A graph drawn, and how its nodes stand by a run's journal.
#include <algorithm>
#include <charconv>
#include <optional>

#include "flow/graph_file.hpp"
#include "src/graph_data.hpp"
#include "src/names.hpp"

namespace flow {

namespace {

using detail::graph_data;

/// Of a node: its own place below a graph's, as graph_run.cpp takes it.
std::string place_of(graph_data const& g, std::size_t i)
{
    std::string place = "." + std::to_string(i) + '/';
    detail::append_place_name(place, g.nodes[i].id);
    return place + "#0";
}

/// The place of the newest graph in the run with a node of this one: "workflow#0/node#0".
std::optional<std::string> graph_place(graph_data const& g, run_view const& run)
{
    for (auto s = run.steps.rbegin(); s != run.steps.rend(); ++s)
        for (std::size_t i = 0; i < g.nodes.size(); ++i) {
            auto const own = place_of(g, i);
            if (!s->place.ends_with(own)) continue;
            auto const above = s->place.substr(0, s->place.size() - own.size());
            auto const slash = above.rfind('/');
            if (std::string_view(above).substr(slash == above.npos ? 0 : slash + 1).starts_with("node#")) return above;
        }
    return std::nullopt;
}

/// By the step itself; by anything below it where it is a workflow.
void read_status(graph_data::node const& n, std::string const& branch, std::string const& own, run_view const& run, node_end& to)
{
    for (auto const& s : run.steps) {
        if (s.place.starts_with(branch) && to.status == node_status::waiting) to.status = node_status::running;
        if (s.place != own) continue;
        switch (s.status) {
        case step_status::completed:
            to.status = node_status::succeeded;
            to.output = s.output;
            break;
        case step_status::failed:
            to.status = status_after_failure(n);
            to.why = s.error;
            break;
        case step_status::skipped: to.status = node_status::skipped; break;
        default: to.why = s.error; break;
        }
    }
}

/// One row a status: the colours of fill, border; readable in black.
struct look {
    node_status status;
    char const* fill;
    char const* border;
};
constexpr look looks[] = {
    {node_status::waiting, "#eeeeee", "#999999"},
    {node_status::running, "#cfe2ff", "#0d6efd"},
    {node_status::succeeded, "#d1e7dd", "#198754"},
    {node_status::failed, "#f8d7da", "#dc3545"},
    {node_status::skipped, "#fff3cd", "#b8860b"},
    {node_status::cancelled, "#e2e3e5", "#6c757d"},
};

std::string replaced(std::string_view text, char what, std::string_view by)
{
    std::string out;
    for (char const c : text) {
        if (c == what) out += by;
        else out += c;
    }
    return out;
}

std::string number(std::size_t i) { return "n" + std::to_string(i); }
std::string test_of(graph_data::status_test const& c)
{
    return std::string(c.equal ? "if " : "if not ") + std::string(to_string(c.status));
}

}  // namespace

std::vector<node_end> graph_states(graph const& g, run_view const& run)
{
    auto const& data = g.data();
    std::vector<node_end> ends;
    for (auto const& n : data.nodes) ends.push_back({n.id, node_status::waiting, {}, {}});
    auto const place = graph_place(data, run);
    if (!place) return ends;
    std::string failed;
    for (std::size_t i = 0; i < ends.size(); ++i) {
        read_status(data.nodes[i], *place + "." + std::to_string(i) + "/", *place + place_of(data, i), run, ends[i]);
        if (ends[i].status == node_status::failed && failed.empty() && fails_graph(data.nodes[i])) failed = ends[i].id;
    }
    bool const over = is_terminal(run.row.status.run);
    bool const well = failed.empty() && (!over || run.row.status.run == run_status::succeeded);
    for (std::size_t i = 0; i < ends.size(); ++i) {  // in the graph's order: what is above is known
        if (ends[i].status == node_status::waiting) {
            auto const v = judge_node(data, i, ends, failed);
            if (v.todo == detail::verdict::what::wait) continue;
            ends[i].status = v.status;  // what can run was begun at once, though its journal may not say so yet
            ends[i].why = v.why;
        }
        auto const& below = data.nodes[i].below;
        auto const has_begun = [&](auto b) { return ends[b].status != node_status::waiting; };
        bool const went_on = over || std::any_of(below.begin(), below.end(), has_begun);
        if (ends[i].status == node_status::running && went_on) ends[i].status = well ? node_status::succeeded : node_status::cancelled;
    }
    return ends;
}

std::string to_mermaid(graph const& g, std::vector<node_end> const& states)
{
    auto const& nodes = g.data().nodes;
    std::string text = "flowchart TD\n";
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        text += "    " + number(i) + "[\"" + replaced(nodes[i].id, '"', "#quot;") + "\"]";
        if (i < states.size()) text += ":::" + std::string(to_string(states[i].status));
        text += '\n';
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        for (auto const d : nodes[i].needs_at) text += "    " + number(d) + " --> " + number(i) + '\n';
        for (auto const d : nodes[i].after_at) text += "    " + number(d) + " -.-> " + number(i) + '\n';
        for (auto const& c : nodes[i].conditions) text += "    " + number(c.on) + " -->|" + test_of(c) + "| " + number(i) + '\n';
    }
    if (states.empty()) return text;
    for (auto const& l : looks)
        text += "    classDef " + std::string(to_string(l.status)) + " fill:" + l.fill + ",stroke:" + l.border + ",color:#000000\n";
    return text;
}

std::string to_dot(graph const& g, std::vector<node_end> const& states)
{
    auto const& nodes = g.data().nodes;
    auto const escaped = [](std::string_view id) { return replaced(replaced(id, '\\', "\\\\"), '"', "\\\""); };
    std::string text = "digraph flow {\n    node [shape=box, style=\"rounded,filled\", fillcolor=\"#ffffff\"];\n";
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        text += "    " + number(i) + " [label=\"" + escaped(nodes[i].id) + "\"";
        if (i < states.size())
            for (auto const& l : looks)
                if (l.status == states[i].status)
                    text += ", fillcolor=\"" + std::string(l.fill) + "\", color=\"" + l.border + "\", tooltip=\"" +
                            std::string(to_string(l.status)) + "\"";
        text += "];\n";
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        for (auto const d : nodes[i].needs_at) text += "    " + number(d) + " -> " + number(i) + ";\n";
        for (auto const d : nodes[i].after_at) text += "    " + number(d) + " -> " + number(i) + " [style=dotted];\n";
        for (auto const& c : nodes[i].conditions) text += "    " + number(c.on) + " -> " + number(i) + " [label=\"" + test_of(c) + "\"];\n";
    }
    return text + "}\n";
}

}  // namespace flow
