// A graph's JSON: what a file holds, and what a run publishes of its graph.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flow/graph.hpp"

namespace flow::detail {

struct node_file {
    std::string id;
    std::optional<std::vector<std::string>> deps, after;
    std::optional<std::string> condition, handler;
    std::optional<double> timeout_s;
    std::optional<std::uint16_t> retry;
    std::optional<double> retry_delay_s;
    std::optional<std::int64_t> budget_tokens;
    std::optional<std::string> on_fail;
    std::optional<bool> optional;
};
struct graph_file {
    std::vector<node_file> nodes;
};

graph_file file_of(graph const& g);

}  // namespace flow::detail
