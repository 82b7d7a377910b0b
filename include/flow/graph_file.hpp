// A graph as JSON: read with the functions of its nodes looked up by name, written, drawn.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flow/graph.hpp"
#include "flow/inspect.hpp"

#pragma GCC visibility push(default)

namespace flow {

/// What the nodes of a file do, by name. A value.
class node_handlers {
public:
    /// `fn` as of flow::node. Throws flow::error(usage) for a name that is taken.
    template <class F>
    void add(std::string name, F fn)
    {
        keep(detail::make_node<detail::node_data>(std::move(name), effect::none, std::move(fn), node_options{}));
    }
    template <effect E, class F>
    void add(std::string name, effect_class<E>, F fn)
    {
        keep(detail::make_node<detail::node_data>(std::move(name), E, std::move(fn), node_options{}));
    }

    detail::node_data const* find(std::string_view name) const;
    std::vector<std::string> names() const;

private:
    void keep(detail::node_data d);
    std::map<std::string, detail::node_data, std::less<>> handlers_;
};

/// Reads `{"nodes":[{"id":"tests","deps":["code"],"after":[],"condition":"code.status ==
/// succeeded","handler":"run_tests","timeout_s":180,
/// "retry":3,"retry_delay_s":1,"budget_tokens":50000,"on_fail":"cancel_downstream","optional":false}]}`. Only `id` must be there. `deps`:
/// what it needs; `handler`: by default the id; `retry`: how often it is tried again; `timeout_s`: of an attempt, 30 by default. The
/// side-effect class is the handler's: a file cannot make a call repeatable.
///
/// Throws flow::error: bad_payload, wrong_shape for what is no such JSON (a field that is not known is refused, by its name);
/// bad_argument for a handler that is missing, naming the node, and as flow::graph.
graph graph_from_json(std::string_view json, node_handlers const& handlers);
/// The same without functions, to be drawn.
graph graph_from_json(std::string_view json);
/// What graph_from_json reads.
std::string to_json(graph const& g);

/// How the nodes of a run's graph stand, by its journal: the newest graph in the run that has these nodes. A node that is a workflow
/// counts as running until a node below it has begun, or the run has ended.
std::vector<node_end> graph_states(graph const& g, run_view const& run);

/// The graph as a Mermaid flowchart, or for Graphviz: full lines for data, dotted ones for order, labelled ones for conditions. With states
/// (graph_states, or graph_result::nodes) nodes are coloured by their status, else all alike.
std::string to_mermaid(graph const& g, std::vector<node_end> const& states = {});
std::string to_dot(graph const& g, std::vector<node_end> const& states = {});

}  // namespace flow

#pragma GCC visibility pop
