// flow graph: how the graph of a run stands, as a table or to be drawn.
#include <ostream>

#include "flow/graph_file.hpp"
#include "runtime/cli/find.hpp"
#include "runtime/cli/json.hpp"
#include "runtime/cli/table.hpp"
#include "runtime/cli/text.hpp"
#include "runtime/cli/verbs.hpp"

namespace flow::cli {

namespace {

std::string joined(std::vector<std::string> const& all)
{
    std::string text;
    for (auto const& one : all) text += (text.empty() ? "" : ", ") + one;
    return text;
}

}  // namespace

void show_graph(session const& s)
{
    auto const run = find_run(s, s.asked.which);
    std::string text;
    for (auto const& p : s.on.published(run))
        if (p.key == "graph") text = p.value;  // what flow::run_graph publishes
    if (text.empty()) throw error(errc::usage, "run " + to_string(run) + " has no graph (flow::run_graph), or has not come to it yet");
    auto const g = graph_from_json(text);
    auto const states = graph_states(g, s.on.inspect(run));

    if (s.asked.dot) {
        s.io.out << without_terminal_codes(to_dot(g, states));
        return;
    }
    if (s.asked.mermaid) {
        s.io.out << without_terminal_codes(to_mermaid(g, states));
        return;
    }
    if (s.asked.json) {
        std::vector<std::string> nodes;
        for (auto const& n : states) {
            json_object o;
            o.text("id", n.id).text("status", to_string(n.status)).text("why", n.why);
            nodes.push_back(o.str());
        }
        json_object o;
        return s.print_json(o.text("run", to_string(run)).raw("graph", text).raw("nodes", json_list(nodes)).str());
    }
    table t({{"NODE"}, {"STATUS"}, {"BEHIND"}, {"WHY", true}});
    for (std::size_t i = 0; i < states.size(); ++i)
        t.add({{states[i].id, style::strong},
               {std::string(to_string(states[i].status))},
               {joined(g.depends_on(states[i].id)), style::dim},
               {states[i].why.substr(0, 1000)}});
    t.print(s.io);
}

}  // namespace flow::cli
