// A graph as it runs and is drawn: nodes in an order in which they can run, dependencies by index.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "flow/graph.hpp"

namespace flow::detail {

struct graph_data {
    struct status_test {
        std::size_t on;
        bool equal;
        node_status status;
    };
    struct node : node_data {
        std::vector<std::size_t> needs_at, after_at;
        std::vector<status_test> conditions;
        std::vector<std::size_t> below;  ///< whoever depends on it, in any way
    };
    std::vector<node> nodes;
};

/// "a.status == succeeded and b.status != failed". bad_argument.
outcome<std::vector<node_condition>> read_condition(std::string_view text);

/// What there is to do with a node, as the others stand: decided alike for the run and for the drawing.
struct verdict {
    enum class what : std::uint8_t { wait, run, end } todo = what::wait;
    node_status status = node_status::waiting;  ///< of `end`: skipped or cancelled
    std::string why{};
};
/// `ends`: of all nodes, in the graph's order. `failed`: of the node whose failure ends the graph; empty: none.
verdict judge_node(graph_data const& g, std::size_t i, std::vector<node_end> const& ends, std::string_view failed);

/// What its failure makes of a node.
node_status status_after_failure(node_data const& n) noexcept;
/// Its failure ends the graph.
bool fails_graph(node_data const& n) noexcept;

inline bool has_ended(node_status s) noexcept { return s != node_status::waiting && s != node_status::running; }

}  // namespace flow::detail
