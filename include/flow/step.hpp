// step: runs a function once, as far as its side-effect class allows, and journals what it returned.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "flow/attempt.hpp"
#include "flow/detail/call.hpp"
#include "flow/detail/closure.hpp"
#include "flow/detail/operation.hpp"
#include "flow/detail/scope.hpp"
#include "flow/journal.hpp"
#include "flow/limit.hpp"
#include "flow/retry.hpp"

#pragma GCC visibility push(default)

namespace flow {

/// The side-effect class of a step, as an argument of `step`.
template <effect E>
struct effect_class {};
/// No effect outside: nothing is waited for before the call; after a crash it may run again at any time.
inline constexpr effect_class<effect::replayable> replayable{};
/// Repeating with the same `attempt::key()` does no harm: earlier results are durable before the call.
inline constexpr effect_class<effect::idempotent> idempotent{};
/// Repeating may do harm: an intent is durable before the call; in doubt it is never run again without knowing.
inline constexpr effect_class<effect::non_replayable> non_replayable{};

/// A plain value; all defaults are usable.
struct step_options {
    /// Time limit of one attempt, by the monotonic clock. 0: the engine's, which is none by default.
    /// A function that runs over it is asked to stop; the body goes on when it has returned (P26).
    time_span timeout{};
    retry_policy retry{};
    /// Call it on the run's own strand instead of a thread for blocking work: for functions of microseconds. `timeout` then
    /// counts for nothing.
    bool inline_ = false;
    /// For people; a literal.
    char const* description = nullptr;
    /// How many of a kind run at once, over all runs. With one, `inline_` counts for nothing.
    flow::limit limit{};
};
static_assert(std::is_trivially_copyable_v<step_options> && sizeof(step_options) <= 80);

/// Marks a function that owns all it uses (captures by value, through flow::moved or by name): after a time-out, a cancel or
/// a shutdown it is left behind instead of waited for.
template <class F>
class detached_callable {
public:
    explicit detached_callable(F fn) : fn_(std::move(fn)) {}
    template <class... A>
        requires std::is_invocable_v<F&, A...>
    decltype(auto) operator()(A&&... a)
    {
        return fn_(std::forward<A>(a)...);
    }

private:
    F fn_;
};
template <class F>
detached_callable<std::decay_t<F>> detached(F&& fn)
{
    static_assert(detail::safe_in_co_await<F>,
                  "flow: g++ 12 copies this closure bit by bit inside co_await and destroys it twice (a compiler bug). Give it "
                  "a name first: auto fn = [x] {...}; co_await flow::step(\"name\", flow::detached(fn))");
    return detached_callable<std::decay_t<F>>(std::forward<F>(fn));
}

namespace detail {

template <class F>
inline constexpr bool is_detached = false;
template <class F>
inline constexpr bool is_detached<detached_callable<F>> = true;

class step_machine;
struct step_record;
struct split_plan;

/// Of a step that is called until it says yes: the pauses between its looks.
struct poll_plan {
    time_span every, cap;
    float backoff = 1.0F;
    duration timeout = duration::max();  ///< unset: none
};

/// The part of a step that does not depend on its function.
class step_base : public journaled_operation {
public:
    /// Binds the step to its place; true: the outcome is there.
    bool start(scope& s, continuation& c);
    bool proceed(scope& s, continuation& c, position at) override;

    virtual std::shared_ptr<call> make_call() = 0;
    virtual std::shared_ptr<call> make_reconcile() { return nullptr; }
    virtual std::shared_ptr<call> make_compensate() { return nullptr; }
    /// Calls the function where it is and keeps its value; false: it is a coroutine.
    virtual bool call_here(attempt& a, call_result& result) noexcept = 0;
    /// Moves the value out of a call that was made here; no decoding.
    virtual void adopt(call& c) = 0;
    /// Its function is called until it says yes (flow::poll_until).
    virtual poll_plan const* polls() const noexcept { return nullptr; }
    /// Its function only begins it (flow::begin_step).
    virtual split_plan const* ends_elsewhere() const noexcept { return nullptr; }

    name const& called() const noexcept { return name_; }
    step_options const& options() const noexcept { return options_; }
    effect cls() const noexcept { return cls_; }

protected:
    step_base(name n, effect cls, step_options o) : name_(std::move(n)), options_(o), cls_(cls)
    {
        if (options_.limit) options_.inline_ = false;  // it may have to wait
    }

private:
    step_machine& go_live_as(scope& s, continuation& c, position at, step_record record, effect cls);
    bool take_recorded(run& r, position const& at, journal_entry const& outcome, std::string_view text);

    name name_;
    step_options options_;
    effect cls_;
};

struct nothing {};

template <class F, class G>
std::shared_ptr<call> wrap(F& fn)
{
    auto c = std::make_shared<G>(std::move(fn));
    c->detached = is_detached<F>;
    return c;
}

/// The step's own function: moved in once; a detached one is copied where it can be, for an attempt that was left behind may
/// still run when the next one is made.
template <class F, class G>
std::shared_ptr<call> wrap_step(F& fn)
{
    if constexpr (is_detached<F> && std::is_copy_constructible_v<F>) {
        F copy = fn;
        return wrap<F, G>(copy);
    } else {
        return wrap<F, G>(fn);
    }
}

template <class F, class R>
using call_of = std::conditional_t<is_awaitable<returned_by<F>>, asio_call<F, R>, plain_call<F, R>>;

/// Reconcile and compensate are called again and again while a doubt is settled, so they are copied, not moved.
template <class F, class R = void>
std::shared_ptr<call> wrap_copy(F const& fn)
{
    F copy = fn;
    if constexpr (std::is_same_v<returned_by<F>, reconciled<R>>) return wrap<F, reconcile_call<F, R>>(copy);
    else return wrap<F, call_of<F, void>>(copy);
}

/// What a refused step is, so that the refusal stays one error.
class refused_step : public operation {
public:
    using refused_operation = void;
    template <class G>
    refused_step reconcile(G&&) &&
    {
        return {};
    }
    template <class G>
    refused_step compensate(G&&) &&
    {
        return {};
    }
    bool start(scope&, continuation&) { return true; }
    error const* failed() const { return nullptr; }
    any_value take() { return {}; }
};

template <class G, class R>
constexpr bool is_reconcile()
{
    if constexpr (!is_step_function<G>) return false;
    else return std::is_same_v<returned_by<G>, reconciled<R>>;
}

template <class F, class Reconcile = nothing, class Compensate = nothing>
class [[nodiscard("a step runs only when it is awaited")]] step_operation final : public step_base {
    using R = typename awaited<returned_by<F>>::type;
    using V = storage_of<R>;
    static constexpr bool storable_result = check_storable<V>();

public:
    step_operation(name n, effect cls, F fn, step_options o, Reconcile r = {}, Compensate c = {})
        : step_base(std::move(n), cls, o), fn_(std::move(fn)), reconcile_(std::move(r)), compensate_(std::move(c))
    {
    }
    step_operation(step_operation&&) noexcept = default;

    /// Asked when this step is in doubt: `flow::reconciled<T> ask()` or with `flow::attempt&`, whose `step_key()` is the
    /// step's key. Runs as an idempotent step of its own. It must be copyable.
    template <class G>
    auto reconcile(G&& ask) &&
    {
        static_assert(safe_in_co_await<G>,
                      "flow: g++ 12 copies this closure bit by bit inside co_await and destroys it twice (a compiler bug). "
                      "Capture by reference [&], or give it a name first: auto fn = [x] {...}; .reconcile(fn)");
        static_assert(is_reconcile<std::decay_t<G>, R>(),
                      "flow: reconcile takes a function that returns flow::reconciled<T>, T being what the step returns");
        if constexpr (is_reconcile<std::decay_t<G>, R>())
            return step_operation<F, std::decay_t<G>, Compensate>(std::move(*this), std::forward<G>(ask), std::move(compensate_));
        else return refused_step{};
    }
    /// Undoes what a step in doubt may have done, so that it can be run again. Runs as an idempotent step of its own.
    template <class G>
    auto compensate(G&& undo) &&
    {
        static_assert(safe_in_co_await<G>,
                      "flow: g++ 12 copies this closure bit by bit inside co_await and destroys it twice (a compiler bug). "
                      "Capture by reference [&], or give it a name first: auto fn = [x] {...}; .compensate(fn)");
        using undo_type = std::decay_t<G>;
        if constexpr (!is_step_function<undo_type>) {
            static_assert(never_true<G>, "flow: compensate takes a function that is called with nothing or with flow::attempt&");
            return refused_step{};
        } else if constexpr (!has_its_header<undo_type>()) {
            static_assert(never_true<G>, "flow: this step's function is an Asio coroutine: #include <flow/asio.hpp>");
            return refused_step{};
        } else {
            return step_operation<F, Reconcile, undo_type>(std::move(*this), std::move(reconcile_), std::forward<G>(undo));
        }
    }

    R take()
    {
        check();
        if constexpr (!std::is_void_v<R>) return std::move(*value_);
    }
    outcome<void> accept(encoding how, std::string_view payload) override
    {
        return decode(how, payload, value_.emplace());
    }
    std::string_view shape() const override { return shape_of<V>(); }
    std::shared_ptr<call> make_call() override { return wrap_step<F, call_of<F, R>>(fn_); }
    std::shared_ptr<call> make_reconcile() override
    {
        if constexpr (std::is_same_v<Reconcile, nothing>) return nullptr;
        else return wrap_copy<Reconcile, R>(reconcile_);
    }
    std::shared_ptr<call> make_compensate() override
    {
        if constexpr (std::is_same_v<Compensate, nothing>) return nullptr;
        else return wrap_copy<Compensate>(compensate_);
    }
    bool call_here(attempt& a, call_result& result) noexcept override
    {
        if constexpr (is_awaitable<returned_by<F>>) return false;
        else return invoke_into<R>(fn_, a, result, value_), true;
    }
    void adopt(call& c) override { value_ = std::move(static_cast<call_of<F, R>&>(c).value); }

private:
    template <class, class, class>
    friend class step_operation;
    template <class OldReconcile, class OldCompensate>
    step_operation(step_operation<F, OldReconcile, OldCompensate>&& old, Reconcile r, Compensate c)
        : step_base(std::move(old)), fn_(std::move(old.fn_)), reconcile_(std::move(r)), compensate_(std::move(c))
    {
    }

    F fn_;
    [[no_unique_address]] Reconcile reconcile_;
    [[no_unique_address]] Compensate compensate_;
    std::optional<V> value_;
};

template <class F>
constexpr bool returns_operation()
{
    if constexpr (!is_step_function<F>) return false;
    else return std::derived_from<std::remove_cvref_t<returned_by<F>>, operation>;
}

template <class F>
auto make_step(name n, effect cls, F&& fn, step_options o)
{
    using fn_type = std::decay_t<F>;
    if constexpr (!safe_in_co_await<F>) {
        static_assert(never_true<F>,
                      "flow: g++ 12 copies this closure bit by bit inside co_await and destroys it twice (a compiler bug). "
                      "Capture by reference [&], or give it a name first: auto fn = [x] {...}; co_await flow::step(\"name\", "
                      "fn), or move it: flow::moved(fn)");
        return refused_step{};
    } else if constexpr (!is_step_function<fn_type>) {
        static_assert(never_true<F>, "flow: a step's function is called with nothing or with flow::attempt&");
        return refused_step{};
    } else if constexpr (returns_operation<fn_type>()) {
        static_assert(never_true<F>,
                      "flow: this step's function returns a durable operation. Steps cannot be nested: await the operation in "
                      "the workflow body, or move both into a sub-workflow and co_await that");
        return refused_step{};
    } else if constexpr (!has_its_header<fn_type>()) {
        static_assert(never_true<F>, "flow: this step's function is an Asio coroutine: #include <flow/asio.hpp>");
        return refused_step{};
    } else if constexpr (!check_storable<storage_of<typename awaited<returned_by<fn_type>>::type>>()) {
        return refused_step{};
    } else {
        return step_operation<fn_type>(std::move(n), cls, std::forward<F>(fn), o);
    }
}

}  // namespace detail

/// Runs `fn` once as far as its class allows, journals its output with its SHA-256, and gives the output to the body. On
/// replay the recorded output is given and `fn` is not called.
///
/// `fn` takes nothing or `flow::attempt&`; it returns void or something that can be stored; with <flow/asio.hpp> it may be an
/// Asio coroutine. It returns what it made: it must not change what it captured, for it does not run on replay (P33). It runs on a
/// thread for blocking work; it must outlive nothing but itself, since the frame lives until it has returned.
///
/// A name need not be unique: in a loop, each turn is a step of its own, told apart by its occurrence (`fetch#0`, `fetch#1`), and
/// so is the same name in another sub-workflow. What must not change between versions is the order.
///
/// Left out, the class is the engine's `default_effect`, non_replayable unless set.
/// Throws at the await: flow::step_error when no attempt is left, flow::step_skipped when a person decided so, flow::cancelled.
/// Throws at the call: flow::error(bad_name).
template <class F>
auto step(detail::name name, F&& fn, step_options options = {})
{
    return detail::make_step(std::move(name), effect::none, std::forward<F>(fn), options);
}
template <effect E, class F>
auto step(detail::name name, effect_class<E>, F&& fn, step_options options = {})
{
    return detail::make_step(std::move(name), E, std::forward<F>(fn), options);
}

}  // namespace flow

#pragma GCC visibility pop
