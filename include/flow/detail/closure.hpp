// Closures that g++ 12 would copy bit by bit inside co_await, and how they are refused.
#pragma once

#include <string_view>
#include <type_traits>
#include <utility>

#pragma GCC visibility push(default)

namespace flow::detail {

template <class T>
constexpr std::string_view pretty_name() noexcept
{
    return __PRETTY_FUNCTION__;
}

template <class T>
constexpr bool detect_closure() noexcept
{
    if constexpr (!std::is_class_v<T>) return false;
    else {
        constexpr std::string_view text = pretty_name<T>();
#if defined(__clang__)
        // "... [T = (lambda at file:1:2)]"
        constexpr auto at = text.rfind("[T = ");
        return text.substr(at + 5).starts_with("(lambda at");
#else
        // "... [with T = f()::<lambda(int)>; std::string_view = ...]"
        constexpr auto begin = text.find("[with T = ") + 10;
        constexpr auto semicolon = text.find("; ", begin);
        constexpr auto end = semicolon == std::string_view::npos ? text.size() - 1 : semicolon;
        constexpr std::string_view type = text.substr(begin, end - begin);
        constexpr auto lambda = type.rfind("<lambda(");
        return lambda != std::string_view::npos && type.ends_with(")>");
#endif
    }
}

template <class T>
inline constexpr bool is_closure = detect_closure<T>();

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
template <class F>
inline constexpr bool safe_in_co_await =
    std::is_lvalue_reference_v<F> || std::is_trivially_copyable_v<std::remove_cvref_t<F>> ||
    !(is_closure<std::remove_cvref_t<F>> || std::is_aggregate_v<std::remove_cvref_t<F>>);
#else
template <class F>
inline constexpr bool safe_in_co_await = true;
#endif

/// A callable that was moved in: see flow::moved.
template <class F>
class moved_callable {
public:
    explicit moved_callable(F&& f) : fn_(std::move(f)) {}
    template <class... A>
        requires std::is_invocable_v<F&, A...>
    decltype(auto) operator()(A&&... a)
    {
        return fn_(std::forward<A>(a)...);
    }

private:
    F fn_;
};

}  // namespace flow::detail

namespace flow {

/// Moves a named callable into an operation: `co_await flow::step("x", flow::moved(fn))`. Where `std::move(fn)` is refused:
/// on g++ 12 a named closure and an unnamed one, which it miscompiles, cannot be told apart.
template <class F>
detail::moved_callable<F> moved(F& fn)
{
    return detail::moved_callable<F>(std::move(fn));
}

}  // namespace flow

#pragma GCC visibility pop
