// What the function of a graph's node is given.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "flow/codec.hpp"
#include "flow/error.hpp"

#pragma GCC visibility push(default)

namespace flow {

/// The outputs of the nodes that this one `needs`, and what the whole graph was given. A value; owns its texts.
class node_inputs {
public:
    node_inputs() = default;
    /// `outputs`: of each node that is needed, JSON or nothing.
    node_inputs(std::string node, std::map<std::string, std::string, std::less<>> outputs, std::string given, std::int64_t budget_tokens)
        : node_(std::move(node)), outputs_(std::move(outputs)), given_(std::move(given)), budget_tokens_(budget_tokens)
    {
    }

    /// The id of the node itself.
    std::string const& node() const noexcept { return node_; }
    /// False: an optional node that has no output. Throws flow::error(usage) for a node that this one does not `needs`.
    bool has(std::string_view of) const { return !text(of).empty(); }
    /// Throws flow::error: usage for a node that this one does not `needs`; bad_argument where there is no output; undecodable where it
    /// is no T.
    template <class T>
    T get(std::string_view of) const
    {
        auto const& json = text(of);
        if (json.empty())
            throw error(errc::bad_argument,
                        "node " + node_ + " asks for the output of " + std::string(of) + ", which has none; ask has() first");
        return decoded<T>(json);
    }
    template <class T>
    std::optional<T> find(std::string_view of) const
    {
        auto const& json = text(of);
        return json.empty() ? std::nullopt : std::optional<T>(decoded<T>(json));
    }
    /// What run_graph was given. Throws flow::error: bad_argument for nothing, undecodable where it is no T.
    template <class T>
    T given() const
    {
        if (given_.empty()) throw error(errc::bad_argument, "node " + node_ + " asks what the graph was given: flow::run_graph(g, value)");
        return decoded<T>(given_);
    }
    /// As declared with the node; 0: none.
    std::int64_t budget_tokens() const noexcept { return budget_tokens_; }

private:
    std::string const& text(std::string_view of) const
    {
        auto const at = outputs_.find(of);
        if (at == outputs_.end())
            throw error(errc::usage, "node " + node_ + " asks for the output of " + std::string(of) + ", which it does not need: .needs(\"" +
                                         std::string(of) + "\")");
        return at->second;
    }
    template <class T>
    static T decoded(std::string_view json)
    {
        T value{};
        detail::decode(encoding::json, json, value).value();
        return value;
    }

    std::string node_;
    std::map<std::string, std::string, std::less<>> outputs_;
    std::string given_;
    std::int64_t budget_tokens_ = 0;
};

}  // namespace flow

#pragma GCC visibility pop
