// poll_until: looks again and again until something is so; then the answer is journaled, once.
#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "flow/detail/call.hpp"
#include "flow/detail/closure.hpp"
#include "flow/limit.hpp"
#include "flow/retry.hpp"
#include "flow/step.hpp"
#include "flow/token.hpp"

#pragma GCC visibility push(default)

namespace flow {

/// A plain value; all defaults are usable.
struct poll_options {
    /// From the end of a look to the next. Above zero.
    time_span every = std::chrono::seconds{1};
    /// Each pause is this many times the one before it, up to `cap`. 1: all are the same.
    float backoff = 1.0F;
    time_span cap = std::chrono::minutes{5};
    /// It ends by flow::wait_timeout this long after its first look, by the wall clock, whatever happens to the process meanwhile. Unset:
    /// no limit. At the limit it looks once more; a look that still runs then is asked to stop.
    wait_limit timeout{};
    /// Looks that throw: `max_attempts` of them in a row are the poll's failure. One that says "not yet" lies between two rows.
    retry_policy retry{};
    /// As of a step: look on the run's own strand, for functions of microseconds.
    bool inline_ = false;
    /// For people; a literal.
    char const* description = nullptr;
    /// As of a step: how many of a kind look at once, over all runs.
    flow::limit limit{};
};
static_assert(std::is_trivially_copyable_v<poll_options> && sizeof(poll_options) <= 80);

namespace detail {

/// What a look gives when it says yes: nothing for bool, T for std::optional<T>; anything else is no look.
template <class R>
struct look_result {};
template <>
struct look_result<bool> {
    using type = void;
};
template <class T>
struct look_result<std::optional<T>> {
    using type = T;
};
template <class F>
concept look_function = is_step_function<F> && requires { typename look_result<std::remove_cvref_t<returned_by<F>>>::type; };

template <class F>
using look_value = storage_of<typename look_result<std::remove_cvref_t<returned_by<F>>>::type>;

/// Calls `fn` and keeps its value, if it says yes.
template <class T, class F>
void look_into(F& fn, attempt& a, call_result& result, std::optional<storage_of<T>>& value) noexcept
{
    try {
        auto said = call_with(fn, a);
        if (!said) {
            result.end = call_end::not_yet;
            return;
        }
        if constexpr (std::is_void_v<T>) value.emplace();
        else value = std::move(said);
    } catch (...) {
        take_exception(result);
        return;
    }
    encode_result(result, *value);
}

template <class F, class T>
class look_call final : public call {
public:
    explicit look_call(F&& fn) : fn_(std::move(fn)) {}
    void invoke(attempt& a, call_result& result) noexcept override { look_into<T>(fn_, a, result, value); }

    std::optional<storage_of<T>> value;

private:
    F fn_;
};

/// The part that does not depend on the function.
class poll_base : public step_base {
public:
    poll_plan const* polls() const noexcept override { return &plan_; }

protected:
    /// Throws flow::error(bad_argument).
    poll_base(name n, poll_options const& o);

private:
    poll_plan plan_;
};

template <class F>
class [[nodiscard("nothing is looked for until it is awaited")]] poll_operation final : public poll_base {
    using T = typename look_result<std::remove_cvref_t<returned_by<F>>>::type;
    using V = storage_of<T>;

public:
    poll_operation(name n, F fn, poll_options const& o) : poll_base(std::move(n), o), fn_(std::move(fn)) {}
    poll_operation(poll_operation&&) noexcept = default;

    T take()
    {
        check();
        if constexpr (!std::is_void_v<T>) return std::move(*value_);
    }
    outcome<void> accept(encoding how, std::string_view payload) override { return decode(how, payload, value_.emplace()); }
    std::string_view shape() const override { return shape_of<V>(); }
    std::shared_ptr<call> make_call() override { return wrap_step<F, look_call<F, T>>(fn_); }
    bool call_here(attempt& a, call_result& result) noexcept override { return look_into<T>(fn_, a, result, value_), true; }
    void adopt(call& c) override { value_ = std::move(static_cast<look_call<F, T>&>(c).value); }

private:
    F fn_;
    std::optional<V> value_;
};

}  // namespace detail

/// `auto grip = co_await flow::poll_until("arm there", look, {.every = 50ms, .timeout = 2min})`: calls `look` until it says yes. It takes
/// nothing or `flow::attempt&`, and returns bool, or std::optional<T> whose T is then the await's value. That answer is journaled, once; on
/// replay `look` is not called.
///
/// It only looks: it is a step of class `replayable`, called again at any time, and must change nothing outside. While it says "not yet",
/// nothing is written: only once the time limit, which so counts from the first look over all restarts (WT-19), and, where a pause is
/// longer than the engine's `suspend_threshold` (5 s), the instant of the next look. For such a pause the run stands on a timer and costs
/// nothing. After a restart within a shorter one it looks again at once, and one entry says that it went on.
///
/// Throws at the await: flow::wait_timeout; flow::step_error when `look` threw `retry.max_attempts` times in a row, or threw
/// flow::permanent_error; flow::cancelled, at once between two looks, else when the look has returned. Throws at the call:
/// flow::error(bad_name); flow::error(bad_argument) for a pause of zero or a backoff below 1.
template <class F>
auto poll_until(detail::name name, F&& look, poll_options options = {})
{
    using look_type = std::decay_t<F>;
    if constexpr (!detail::safe_in_co_await<F>) {
        static_assert(detail::never_true<F>,
                      "flow: g++ 12 copies this closure bit by bit inside co_await and destroys it twice (a compiler bug). "
                      "Capture by reference [&], or give it a name first: auto look = [x] {...}; co_await "
                      "flow::poll_until(\"name\", look)");
        return detail::refused_step{};
    } else if constexpr (!detail::look_function<look_type>) {
        static_assert(detail::never_true<F>,
                      "flow: poll_until takes a function that is called with nothing or with flow::attempt& and returns bool, or "
                      "std::optional<T> for a value");
        return detail::refused_step{};
    } else if constexpr (!detail::check_storable<detail::look_value<look_type>>()) {
        return detail::refused_step{};
    } else {
        return detail::poll_operation<look_type>(std::move(name), std::forward<F>(look), options);
    }
}

}  // namespace flow

#pragma GCC visibility pop
