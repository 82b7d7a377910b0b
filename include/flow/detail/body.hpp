// A workflow's body without its type: what an engine keeps of a registered workflow, and of a run.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "flow/codec.hpp"
#include "flow/detail/call.hpp"
#include "flow/detail/operation.hpp"
#include "flow/detail/scope.hpp"
#include "flow/workflow.hpp"

#pragma GCC visibility push(default)

namespace flow::detail {

/// One run's body.
class body {
public:
    virtual ~body() = default;

    /// Enters it at the top; true: it has ended. Once.
    virtual bool start(scope& top, continuation& c) = 0;
    /// After its end: what it threw, or nothing.
    virtual std::exception_ptr failure() const = 0;
    /// After an end without failure: its result, encoded. May throw flow::error(bad_payload).
    virtual void result(call_result& into) = 0;
    virtual std::string_view result_shape() const = 0;
};

template <class T>
struct workflow_traits;
template <class T, class... A>
struct workflow_traits<workflow<T> (*)(A...)> {
    using result = T;
    using arguments = std::tuple<std::decay_t<A>...>;
    static constexpr std::size_t arity = sizeof...(A);
};
template <class T, class... A>
struct workflow_traits<workflow<T> (*)(A...) noexcept> : workflow_traits<workflow<T> (*)(A...)> {};

template <auto Fn>
inline constexpr bool is_workflow = requires { typename workflow_traits<std::decay_t<decltype(Fn)>>::result; };

template <auto Fn>
using arguments_of = typename workflow_traits<std::decay_t<decltype(Fn)>>::arguments;
template <auto Fn>
using workflow_result = typename workflow_traits<std::decay_t<decltype(Fn)>>::result;

/// Number and types of parameters; friendly to overload resolution.
template <auto Fn>
inline constexpr std::size_t workflow_arity = [] {
    if constexpr (is_workflow<Fn>) return workflow_traits<std::decay_t<decltype(Fn)>>::arity;
    else return static_cast<std::size_t>(-1);
}();
template <auto Fn, std::size_t I>
struct argument_at_impl {};
template <auto Fn, std::size_t I>
    requires(workflow_arity<Fn> != static_cast<std::size_t>(-1) && I < workflow_arity<Fn>)
struct argument_at_impl<Fn, I> : std::tuple_element<I, arguments_of<Fn>> {};
template <auto Fn, std::size_t I>
using argument_at = typename argument_at_impl<Fn, I>::type;

template <class T>
class body_of final : public body {
public:
    explicit body_of(workflow<T> w) : workflow_(std::move(w)) {}

    bool start(scope& top, continuation& c) override { return workflow_.enter(top, c); }
    std::exception_ptr failure() const override { return workflow_.thrown(); }
    void result(call_result& into) override
    {
        if constexpr (std::is_void_v<T>) encode_result(into, unit{});
        else encode_result(into, workflow_.take());
    }
    std::string_view result_shape() const override { return shape_of<storage_of<T>>(); }

private:
    workflow<T> workflow_;
};

/// What an engine knows of a registered workflow function. Static: one a function.
struct workflow_functions {
    /// Decodes the arguments and calls the function. undecodable: the stored arguments no longer fit its parameters.
    outcome<std::unique_ptr<body>> (*make)(encoding how, std::string_view arguments);
    std::string_view (*arguments_shape)();
    std::string_view (*result_shape)();
};

template <auto Fn>
struct functions_of {
    static outcome<std::unique_ptr<body>> make(encoding how, std::string_view text)
    {
        arguments_of<Fn> arguments;
        if (auto ok = decode(how, text, arguments); !ok) return ok.error();
        return std::unique_ptr<body>(std::make_unique<body_of<workflow_result<Fn>>>(
            std::apply([](auto&&... a) { return Fn(std::move(a)...); }, std::move(arguments))));
    }
    static std::string_view arguments_shape() { return shape_of<arguments_of<Fn>>(); }
    static std::string_view result_shape() { return shape_of<storage_of<workflow_result<Fn>>>(); }

    static constexpr workflow_functions value{&make, &arguments_shape, &result_shape};
};

}  // namespace flow::detail

#pragma GCC visibility pop
