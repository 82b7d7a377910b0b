// The function of a graph's node, whatever its type: called with its inputs, its output as JSON.
#pragma once

#include <concepts>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include "flow/codec.hpp"
#include "flow/detail/call.hpp"
#include "flow/graph_inputs.hpp"
#include "flow/groups.hpp"
#include "flow/workflow.hpp"

#pragma GCC visibility push(default)

namespace flow::detail {

using node_function = std::function<void(node_inputs const&, attempt&, call_result&)>;
using node_body = std::function<workflow<std::string>(node_inputs const&)>;

template <class F>
concept node_callable =
    std::is_invocable_v<F&, node_inputs const&, attempt&> || std::is_invocable_v<F&, node_inputs const&> || std::is_invocable_v<F&>;

template <class F>
decltype(auto) call_node(F& fn, node_inputs const& in, attempt& a)
{
    if constexpr (std::is_invocable_v<F&, node_inputs const&, attempt&>) return fn(in, a);
    else if constexpr (std::is_invocable_v<F&, node_inputs const&>) return fn(in);
    else return fn();
}
template <class F>
using node_returns =
    std::remove_cvref_t<decltype(call_node(std::declval<F&>(), std::declval<node_inputs const&>(), std::declval<attempt&>()))>;

template <class W>
struct workflow_value {
    using type = W;
};
template <class T>
struct workflow_value<workflow<T>> {
    using type = T;
};

template <class T>
workflow<std::string> as_json(workflow<T> w)
{
    std::string text;
    if constexpr (std::is_void_v<T>) {
        co_await std::move(w);
        text = "null";
    } else {
        auto const value = co_await std::move(w);
        encode(encoding::json, value, text);
    }
    co_return text;
}

template <class R, class F>
void call_node_into(F& fn, node_inputs const& in, attempt& a, call_result& result) noexcept
{
    try {
        if constexpr (std::is_void_v<R>) {
            call_node(fn, in, a);
            result.payload = "null";
        } else {
            R const value = call_node(fn, in, a);
            try {
                encode(encoding::json, value, result.payload);
            } catch (...) {
                take_exception(result);
                result.end = call_end::unstorable;
                result.payload.clear();
                return;
            }
        }
        result.encoding = encoding::json;
        result.end = call_end::value;
    } catch (...) {
        take_exception(result);
    }
}

template <class Data, class F, class Options>
Data make_node(std::string id, effect cls, F fn, Options const& options)
{
    Data d;
    d.id = std::move(id);
    d.cls = cls;
    d.options = options;
    if constexpr (!node_callable<F> || !std::is_copy_constructible_v<F>) {
        static_assert(never_true<F>,
                      "flow: a node's function is copyable, and called with nothing, with flow::node_inputs const&, or with that and flow::attempt&");
    } else {
        using R = node_returns<F>;
        using T = typename workflow_value<R>::type;
        if constexpr (check_storable<storage_of<T>>()) {
            d.shape = &shape_of<storage_of<T>>;
            if constexpr (is_workflow_object<R>) {
                static_assert(!std::is_invocable_v<F&, node_inputs const&, attempt&>, "flow: a node that is a workflow has no attempt");
                d.body = [fn](node_inputs const& in) mutable {
                    if constexpr (std::is_invocable_v<F&, node_inputs const&>) return as_json<T>(fn(in));
                    else return as_json<T>(fn());
                };
            } else {
                d.run = [fn](node_inputs const& in, attempt& a, call_result& result) mutable { call_node_into<T>(fn, in, a, result); };
            }
        }
    }
    return d;
}

}  // namespace flow::detail

#pragma GCC visibility pop
