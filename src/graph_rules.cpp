// When a node of a graph runs, is skipped or cancelled. Decides by how the others stand, and by nothing else.
#include <algorithm>

#include "src/graph_data.hpp"

namespace flow {

std::string_view to_string(node_status s) noexcept
{
    using enum node_status;
    switch (s) {
    case waiting: return "waiting";
    case running: return "running";
    case succeeded: return "succeeded";
    case failed: return "failed";
    case skipped: return "skipped";
    case cancelled: return "cancelled";
    }
    return "unknown";
}

std::string_view to_string(on_fail f) noexcept
{
    switch (f) {
    case on_fail::fail: return "fail";
    case on_fail::skip: return "skip";
    case on_fail::cancel_downstream: return "cancel_downstream";
    }
    return "unknown";
}

}  // namespace flow

namespace flow::detail {

node_status status_after_failure(node_data const& n) noexcept
{
    return n.options.optional || n.options.on_fail == on_fail::skip ? node_status::skipped : node_status::failed;
}

bool fails_graph(node_data const& n) noexcept { return !n.options.optional && n.options.on_fail == on_fail::fail; }

verdict judge_node(graph_data const& g, std::size_t i, std::vector<node_end> const& ends, std::string_view failed)
{
    using what = verdict::what;
    auto const& n = g.nodes[i];
    if (!failed.empty()) return {what::end, node_status::cancelled, "node " + std::string(failed) + " failed"};
    auto const open = [&](std::size_t d) { return !has_ended(ends[d].status); };
    bool const waits = std::any_of(n.needs_at.begin(), n.needs_at.end(), open) || std::any_of(n.after_at.begin(), n.after_at.end(), open) ||
                       std::any_of(n.conditions.begin(), n.conditions.end(), [&](auto const& c) { return open(c.on); });
    if (waits) return {};
    // Below a failure: by data or order. A condition asks for it by name, and so may stand behind it.
    for (auto const* deps : {&n.needs_at, &n.after_at})
        for (auto const d : *deps) {
            auto const& above = ends[d];
            if (above.status == node_status::failed) return {what::end, node_status::cancelled, "node " + above.id + " failed"};
            if (above.status == node_status::cancelled) return {what::end, node_status::cancelled, "node " + above.id + " was cancelled"};
        }
    for (auto const& c : n.conditions)
        if ((ends[c.on].status == c.status) != c.equal)
            return {what::end, node_status::skipped, "node " + ends[c.on].id + " is " + std::string(to_string(ends[c.on].status))};
    for (auto const d : n.needs_at)
        if (ends[d].status != node_status::succeeded && !g.nodes[d].options.optional)
            return {what::end, node_status::skipped, "it needs the output of node " + ends[d].id + ", which was skipped"};
    return {what::run, node_status::running, {}};
}

}  // namespace flow::detail
