// begin_step: a step that ends elsewhere: in a later frame of a game, in a callback, behind a GPU's fence, in another process.
#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "flow/detail/call.hpp"
#include "flow/detail/closure.hpp"
#include "flow/retry.hpp"
#include "flow/step.hpp"
#include "flow/token.hpp"

#pragma GCC visibility push(default)

namespace flow {

/// A plain value; all defaults are usable.
struct begin_options {
    /// An attempt fails with `step_timeout` when it was not completed this long after it was begun, by the wall clock, over restarts.
    /// Unset: as the wait policy for tools says (flow/wait_policy.hpp), else no limit.
    wait_limit timeout{};
    /// It fails likewise when engine::heartbeat was not called for so long. Counted in memory alone: nothing is written for a sign of life,
    /// and an engine that takes the run over counts from then. A run with it does not leave memory while it waits. Zero: as
    /// the wait policy says, else none is asked for.
    time_span heartbeat{};
    /// What was begun does not die with this process: it runs in another, or in a service. Then the run leaves memory while it waits.
    /// Else it stays, so that whoever takes it over from a dead process begins the work again. A non_replayable step is never begun
    /// again, and its run leaves memory in any case.
    bool outlives_engine = false;
    /// Attempts, each with a token of its own. Every class but non_replayable, which is never begun again without knowing.
    retry_policy retry{};
    /// As of a step: call `begin` on the run's own strand.
    bool inline_ = false;
    /// As of a token: a value with fields that T does not have is refused.
    bool strict = false;
    /// For people; a literal.
    char const* description = nullptr;
};
static_assert(std::is_trivially_copyable_v<begin_options> && sizeof(begin_options) <= 80);

namespace detail {

/// Of a step that ends elsewhere.
struct split_plan {
    wait_limit timeout;
    time_span heartbeat;
    bool outlives_engine, strict;
};

/// The token of the attempt that this is; nil: the step ends where it is called.
waitpoint_id token_of(attempt const& a) noexcept;

template <class F, class T>
concept begin_function = std::is_invocable_v<F&, token<T> const&, attempt&> || std::is_invocable_v<F&, token<T> const&>;

template <class F, class T>
class begin_call final : public call {
public:
    explicit begin_call(F&& fn) : fn_(std::move(fn)) {}
    void invoke(attempt& a, call_result& result) noexcept override
    {
        try {
            token<T> const ends_by(token_of(a));
            if constexpr (std::is_invocable_v<F&, token<T> const&, attempt&>) static_cast<void>(fn_(ends_by, a));
            else static_cast<void>(fn_(ends_by));
            result.end = call_end::begun;
        } catch (...) {
            take_exception(result);
        }
    }

private:
    F fn_;
};

/// The part that does not depend on the function.
class split_base : public step_base {
public:
    split_plan const* ends_elsewhere() const noexcept override { return &plan_; }
    bool call_here(attempt&, call_result&) noexcept override { return false; }
    void adopt(call&) override {}

protected:
    split_base(name n, effect cls, begin_options const& o);

private:
    split_plan plan_;
};

template <class T, class F>
class [[nodiscard("a step is begun only when it is awaited")]] begin_operation final : public split_base {
    using V = storage_of<T>;

public:
    begin_operation(name n, effect cls, F fn, begin_options const& o) : split_base(std::move(n), cls, o), fn_(std::move(fn)) {}
    begin_operation(begin_operation&&) noexcept = default;

    T take()
    {
        check();
        if constexpr (!std::is_void_v<T>) return std::move(*value_);
    }
    outcome<void> accept(encoding how, std::string_view payload) override { return decode(how, payload, value_.emplace()); }
    std::string_view shape() const override { return shape_of<V>(); }
    std::shared_ptr<call> make_call() override { return wrap_step<F, begin_call<F, T>>(fn_); }

private:
    F fn_;
    std::optional<V> value_;
};

template <class T, class F>
auto make_begin(name n, effect cls, F&& begin, begin_options const& o)
{
    using fn_type = std::decay_t<F>;
    if constexpr (!safe_in_co_await<F>) {
        static_assert(never_true<F>,
                      "flow: g++ 12 copies this closure bit by bit inside co_await and destroys it twice (a compiler bug). "
                      "Capture by reference [&], or give it a name first: auto begin = [x](auto const& ends_by) {...}");
        return refused_step{};
    } else if constexpr (!begin_function<fn_type, T>) {
        static_assert(never_true<F>,
                      "flow: begin_step<T> takes a function that is called with flow::token<T> const&, and with flow::attempt& if it likes");
        return refused_step{};
    } else if constexpr (!check_storable<storage_of<T>>()) {
        return refused_step{};
    } else {
        return begin_operation<T, fn_type>(std::move(n), cls, std::forward<F>(begin), o);
    }
}

}  // namespace detail

/// `auto picture = co_await flow::begin_step<image>("render", flow::idempotent, [&](flow::token<image> const& ends_by) {
/// gpu.submit(scene, ends_by); })`: a step in two halves. `begin` sets the work going and returns at once; whoever sees it end, in
/// whatever thread or process, says so by the token: `engine.complete(token, value)` or `engine.fail(token, why)`, a client's, or `flow
/// complete`. The await gives that value. To do something else meanwhile, put it beside other branches (flow::all).
///
/// `begin` takes `flow::token<T> const&`, and `flow::attempt&` if it likes; the token is in the store before it is called, and may be
/// completed before it returns. The wait costs no thread.
///
/// It is a step of its class. What fails, by `fail`, by a time limit or by an exception of `begin`, is begun again by the retry policy
/// with the same `attempt::key()` and another token; a non_replayable one never, but a person is asked. When another engine takes the run
/// over, as after a crash, a replayable or idempotent step is begun again, with the same key and the same token, for nobody knows whether
/// the work lives (the engine that began it does not, however often the run leaves its memory); a non_replayable one stays open: whoever
/// has its token can still complete it, and at its time limit a person is asked.
///
/// Throws at the await: flow::step_error, flow::step_skipped, flow::cancelled as a step does; then the token has ended (token_ended).
/// Throws at the call: flow::error(bad_name).
template <class T, class F>
auto begin_step(detail::name name, F&& begin, begin_options options = {})
{
    return detail::make_begin<T>(std::move(name), effect::none, std::forward<F>(begin), options);
}
template <class T, effect E, class F>
auto begin_step(detail::name name, effect_class<E>, F&& begin, begin_options options = {})
{
    return detail::make_begin<T>(std::move(name), E, std::forward<F>(begin), options);
}

}  // namespace flow

#pragma GCC visibility pop
