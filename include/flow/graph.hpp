// graph: named nodes that depend on each other, run side by side as far as they can, each a step or a workflow of its own.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "flow/attempt.hpp"
#include "flow/codec.hpp"
#include "flow/detail/call.hpp"
#include "flow/detail/graph_function.hpp"
#include "flow/graph_inputs.hpp"
#include "flow/limit.hpp"
#include "flow/retry.hpp"
#include "flow/step.hpp"
#include "flow/workflow.hpp"

#pragma GCC visibility push(default)

namespace flow {

/// What the failure of a node means, once its retries are used up.
enum class on_fail : std::uint8_t {
    fail,               ///< the graph ends: what runs is cancelled, nothing more begins
    skip,               ///< the node counts as skipped, the graph goes on
    cancel_downstream,  ///< the node has failed, what stands below it is cancelled; everything else runs to its end
};

/// Journaled with a graph's result, by name.
enum class node_status : std::uint8_t { waiting, running, succeeded, failed, skipped, cancelled };
std::string_view to_string(node_status s) noexcept;
std::string_view to_string(on_fail f) noexcept;

/// A plain value; all defaults are usable.
struct node_options {
    /// Of one attempt. Zero: the engine's.
    time_span timeout{};
    retry_policy retry{};
    flow::on_fail on_fail = flow::on_fail::fail;
    /// What needs its output goes on without it, where there is none. Its failure is a skip, whatever `on_fail` says.
    bool optional = false;
    /// How many of a kind run at once, over all runs.
    flow::limit limit{};
    /// Handed to the function; the library does not meter it. 0: none.
    std::int64_t budget_tokens = 0;
};
static_assert(std::is_trivially_copyable_v<node_options> && sizeof(node_options) <= 80);

namespace detail {

struct node_condition {
    std::string node;
    bool equal = true;
    node_status status = node_status::succeeded;
};

struct node_data {
    std::string id;
    effect cls = effect::none;
    node_options options;
    std::vector<std::string> needs, after;
    std::string condition;
    std::string handler;  ///< of one from a file, where it has another name than the id
    node_function run;    ///< one of both
    node_body body;
    std::string_view (*shape)() = nullptr;
};

struct graph_data;

}  // namespace detail

/// One node, as it is declared. `needs`: its function gets their outputs, and it runs when they have succeeded. `after`: order alone,
/// once they have ended and not failed. `only_if`: a condition on how others ended, `"tests.status == succeeded"`, several joined by `and`; the statuses
/// are succeeded, failed, skipped, cancelled; where it does not hold the node is skipped.
class graph_node {
public:
    explicit graph_node(detail::node_data d) : data_(std::move(d)) {}

    template <std::convertible_to<std::string>... S>
    graph_node needs(S&&... nodes) &&
    {
        (data_.needs.emplace_back(std::forward<S>(nodes)), ...);
        return std::move(*this);
    }
    template <std::convertible_to<std::string>... S>
    graph_node after(S&&... nodes) &&
    {
        (data_.after.emplace_back(std::forward<S>(nodes)), ...);
        return std::move(*this);
    }
    graph_node only_if(std::string condition) &&
    {
        data_.condition += (data_.condition.empty() ? "" : " and ") + std::move(condition);
        return std::move(*this);
    }

    detail::node_data take() && { return std::move(data_); }

private:
    detail::node_data data_;
};

/// A node: `fn` takes nothing, `flow::node_inputs const&`, or that and `flow::attempt&`, and returns something that can be stored, or
/// void; then it is a step of this class. Or it returns a flow::workflow<T>: then that runs, and may sleep and wait; class, time-out and
/// retries are then those of its own steps. It must be copyable, and lives as long as the graph. `id` is a name as of a step; it is
/// checked when the graph is made.
template <class F>
graph_node node(std::string id, F fn, node_options options = {})
{
    return graph_node(detail::make_node<detail::node_data>(std::move(id), effect::none, std::move(fn), options));
}
template <effect E, class F>
graph_node node(std::string id, effect_class<E>, F fn, node_options options = {})
{
    return graph_node(detail::make_node<detail::node_data>(std::move(id), E, std::move(fn), options));
}

/// Nodes in an order in which they can run. Immutable: copy it freely, from any thread.
class graph {
public:
    /// Throws flow::error(bad_argument) that names the node: an id given twice, a dependency that is no node, a condition that cannot be
    /// read; a cycle, all of whose nodes it names. flow::error(bad_name).
    template <std::same_as<graph_node>... N>
    explicit graph(N... nodes) : graph(collect(std::move(nodes)...))
    {
    }
    explicit graph(std::vector<graph_node> nodes);

    /// The ids, in the order they run where nothing speaks against it: each behind what it depends on, else as declared.
    std::vector<std::string> nodes() const;
    /// Whatever a node stands behind, by data, order or condition. Throws flow::error(bad_argument) for no such node.
    std::vector<std::string> depends_on(std::string_view id) const;

    detail::graph_data const& data() const noexcept { return *data_; }

private:
    template <class... N>
    static std::vector<graph_node> collect(N&&... nodes)
    {
        std::vector<graph_node> all;
        all.reserve(sizeof...(N));
        (all.push_back(std::move(nodes)), ...);
        return all;
    }
    std::shared_ptr<detail::graph_data const> data_;
};

/// How one node stands, or ended.
struct node_end {
    std::string id;
    node_status status = node_status::waiting;
    std::string why;     ///< an error, or a sentence
    std::string output;  ///< JSON; of one that succeeded

    friend bool operator==(node_end const&, node_end const&) = default;
};

/// What a graph came to. A value that a workflow can return.
struct graph_result {
    std::string failed_node;      ///< the first that failed; empty: the graph is complete
    std::string why;              ///< its error
    std::vector<node_end> nodes;  ///< in the order of graph::nodes()

    bool completed() const noexcept { return failed_node.empty(); }
    /// Throws flow::error(bad_argument) for no such node.
    node_end const& at(std::string_view id) const;
    node_status status_of(std::string_view id) const { return at(id).status; }
    std::vector<std::string> with(node_status status) const;
    std::vector<std::string> skipped() const { return with(node_status::skipped); }
    /// Throws flow::error: bad_argument where it has none, undecodable where it is no T.
    template <class T>
    T output(std::string_view id) const
    {
        auto const& n = at(id);
        if (n.output.empty()) throw error(errc::bad_argument, "node " + n.id + " has no output: it is " + std::string(to_string(n.status)));
        T value{};
        detail::decode(encoding::json, n.output, value).value();
        return value;
    }
};

namespace detail {
workflow<graph_result> run_graph_on(graph g, std::string given);
}

/// `auto const r = co_await flow::run_graph(g)`: runs it to its end, each node when what it depends on has ended, independent ones side
/// by side. A node is a branch of its own, begun in the same order on every replay; a crash costs what a crash costs its steps, and no
/// node that has ended is run again. `given`: a value for all of them, node_inputs::given. A node that fails does not throw: the result
/// says so. Throws at the await: flow::cancelled; what a person decided to skip is skipped.
inline workflow<graph_result> run_graph(graph g) { return detail::run_graph_on(std::move(g), {}); }
template <class T>
workflow<graph_result> run_graph(graph g, T const& given)
{
    static_assert(detail::check_storable<T>());
    std::string text;
    detail::encode(encoding::json, given, text);
    return detail::run_graph_on(std::move(g), std::move(text));
}

}  // namespace flow

#pragma GCC visibility pop
