// Child runs: a workflow body starts runs of their own, and waits for their ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "flow/as_outcome.hpp"
#include "flow/codec.hpp"
#include "flow/detail/body.hpp"
#include "flow/detail/closure.hpp"
#include "flow/detail/operation.hpp"
#include "flow/detail/storable.hpp"
#include "flow/rows.hpp"
#include "flow/start.hpp"
#include "flow/token.hpp"

#pragma GCC visibility push(default)

namespace flow {

/// A run that this one started, whose result is a T. A value: copy it, keep it in results and checkpoints, pass it on; it is stored as the
/// run's id. `co_await child` waits for its end, as often as one likes.
template <class T = void>
class child {
public:
    child() = default;
    explicit child(run_id id) noexcept : id_(id) {}

    /// Also for flow::client::find, from outside.
    run_id id() const noexcept { return id_; }

    friend bool operator==(child const&, child const&) = default;

private:
    run_id id_;
};

template <class T>
struct codec_traits<child<T>> {
    static constexpr std::string_view shape = "child";
    static std::string to_text(child<T> const& c) { return to_string(c.id()); }
    static bool from_text(std::string_view text, child<T>& into)
    {
        auto id = parse_uuid(text);
        if (id) into = child<T>(run_id{*id});
        return id.has_value();
    }
};

/// A plain value; all defaults are usable. Texts are copied when the operation is made.
struct child_options {
    /// What becomes of the child when this run, or the branch that started it, ends before it.
    close_policy on_close = close_policy::cancel;
    /// Of runs that stand in the queue, those with the highest are taken first; among equals the oldest.
    std::int32_t priority = 0;
    /// The child is not begun before so long from now.
    duration delay{};
    /// It must have ended so long from now, else it is cancelled and ends `expired`. Zero: none.
    duration deadline{};
    /// Unique among the runs of the tenant. If another run has it, the start throws flow::error(start_conflict). Empty: none; the
    /// child's id, made of this run and the place of the start, is unique without.
    std::string_view idempotency_key{};
    /// For finding runs again: words, parted by spaces or commas.
    std::string_view tags{};
};
static_assert(std::is_trivially_copyable_v<child_options> && sizeof(child_options) <= 80);

namespace detail {

class start_run_base : public journaled_operation {
public:
    bool start(scope& s, continuation& c);
    bool proceed(scope& s, continuation& c, position at) override;
    outcome<void> accept(encoding, std::string_view) override { return {}; }
    std::string_view shape() const override { return functions_ ? functions_->result_shape() : std::string_view(); }

protected:
    start_run_base(workflow_functions const& f, std::string arguments, child_options o) : start_run_base(&f, {}, {}, std::move(arguments), {}, o) {}
    /// By name, where the function may be another process's. `w.version` 0: the newest registered here, else 1.
    start_run_base(workflow_version w, std::string arguments, std::string arguments_shape, child_options o)
        : start_run_base(nullptr, std::move(w.workflow), w.version, std::move(arguments), std::move(arguments_shape), o)
    {
    }
    run_id id_;

private:
    friend class starting;
    start_run_base(workflow_functions const* f, std::string name, std::uint32_t version, std::string arguments, std::string arguments_shape, child_options o)
        : functions_(f), name_(std::move(name)), version_(version), arguments_(std::move(arguments)), arguments_shape_(std::move(arguments_shape)),
          on_close_(o.on_close), priority_(o.priority), delay_(o.delay), deadline_(o.deadline), key_(o.idempotency_key), tags_(o.tags)
    {
    }
    std::optional<error> find_workflow(run& r);
    std::optional<error> objection(run const& r) const;
    void write(run& r, position const& at, bool shielded, bool late);
    void refuse(run& r, position const& at, run_row const& other);
    void refuse(run& r, position const& at, error_detail const& why, bool late);

    workflow_functions const* functions_;  ///< null: started by name
    std::string name_;                     ///< under which the function is registered; known once it has started
    std::uint32_t version_ = 1;
    std::string arguments_, arguments_shape_;
    close_policy on_close_;
    std::int32_t priority_;
    duration delay_, deadline_;
    std::string key_, tags_;
};

template <class T>
class [[nodiscard("a child is started only when it is awaited")]] start_run_operation final : public start_run_base {
public:
    start_run_operation(workflow_functions const& f, std::string arguments, child_options o) : start_run_base(f, std::move(arguments), o) {}
    start_run_operation(start_run_operation&&) noexcept = default;
    child<T> take() { return check(), child<T>(id_); }
};

template <class T>
class [[nodiscard("a wait happens only when it is awaited")]] child_wait final : public wait_base {
    using V = storage_of_answer<T>;

public:
    explicit child_wait(flow::child<T> const& which, wait_options o = {}) : wait_base("child", end_of(which.id()), o), child_(which.id()) {}
    child_wait(child_wait&&) noexcept = default;

    T take()
    {
        check();
        if constexpr (!std::is_void_v<T>) return std::move(*value_);
    }
    outcome<void> accept(encoding how, std::string_view payload) override { return decode(how, payload, value_.emplace()); }
    std::string_view shape() const override { return shape_of<V>(); }
    std::optional<run_id> child_run() const noexcept override { return child_; }

private:
    run_id child_;
    std::optional<V> value_;
};

template <class T>
struct operation_of_handle<child<T>> {
    using type = child_wait<T>;
};

template <auto Fn, std::size_t I, class A>
constexpr bool may_be_given_to_child()
{
    static_assert(std::is_lvalue_reference_v<A> || safe_in_co_await<A>,
                  "flow: g++ 12 copies this unnamed value bit by bit inside co_await and destroys it twice (a compiler bug). Give it a name "
                  "first: order const o{...}; auto c = co_await flow::start_run<ship>(o)");
    static_assert(std::is_convertible_v<A, argument_at<Fn, I>>, "flow: start_run<fn>(...): this argument is not what the workflow takes there");
    return (std::is_lvalue_reference_v<A> || safe_in_co_await<A>)&&std::is_convertible_v<A, argument_at<Fn, I>>;
}

template <auto Fn, class... A, std::size_t... I>
auto start_run_with(child_options o, std::index_sequence<I...>, A&&... a)
{
    if constexpr (!(may_be_given_to_child<Fn, I, A>() && ...)) {
        return refused{};
    } else {
        static_assert(check_storable<arguments_of<Fn>>());
        std::string text;
        encode(encoding::json, arguments_of<Fn>(static_cast<argument_at<Fn, I>>(std::forward<A>(a))...), text);
        return start_run_operation<workflow_result<Fn>>(functions_of<Fn>::value, std::move(text), o);
    }
}

}  // namespace detail

/// `auto c = co_await flow::start_run<ship>(order)`: starts a run of that workflow, which this run's engine must have registered
/// (`engine.add<ship>`); any engine on the store may execute it. The run goes on at once; `co_await c` waits for the child's end. Both may
/// stand in branches: `flow::for_each(orders, ...)` with a lambda that starts and awaits is a fan-out.
///
/// The child is written in the same transaction as this run's entry: after a crash there are both or neither, and one child only. Its id is
/// made of this run's id and the place of the start, so a body that begins anew in place finds it again.
///
/// Awaited at the start it throws flow::error: start_conflict (the key is another run's), unknown_workflow, payload_too_large, bad_argument
/// (delay or deadline); flow::cancelled. Awaiting the child throws flow::child_error where it ended by anything else than a result, with the
/// whole path in its message; flow::cancelled where this run was.
///
/// One overload a number of parameters: g++ 12 does not take options behind a pack.
template <auto Fn>
    requires(detail::workflow_arity<Fn> == 0)
auto start_run(child_options o = {})
{
    return detail::start_run_with<Fn>(o, std::index_sequence_for<>{});
}
template <auto Fn, class A0>
    requires(detail::workflow_arity<Fn> == 1)
auto start_run(A0&& a0, child_options o = {})
{
    return detail::start_run_with<Fn>(o, std::make_index_sequence<1>{}, std::forward<A0>(a0));
}
template <auto Fn, class A0, class A1>
    requires(detail::workflow_arity<Fn> == 2)
auto start_run(A0&& a0, A1&& a1, child_options o = {})
{
    return detail::start_run_with<Fn>(o, std::make_index_sequence<2>{}, std::forward<A0>(a0), std::forward<A1>(a1));
}
template <auto Fn, class A0, class A1, class A2>
    requires(detail::workflow_arity<Fn> == 3)
auto start_run(A0&& a0, A1&& a1, A2&& a2, child_options o = {})
{
    return detail::start_run_with<Fn>(o, std::make_index_sequence<3>{}, std::forward<A0>(a0), std::forward<A1>(a1), std::forward<A2>(a2));
}
template <auto Fn, class A0, class A1, class A2, class A3>
    requires(detail::workflow_arity<Fn> == 4)
auto start_run(A0&& a0, A1&& a1, A2&& a2, A3&& a3, child_options o = {})
{
    return detail::start_run_with<Fn>(o, std::make_index_sequence<4>{}, std::forward<A0>(a0), std::forward<A1>(a1), std::forward<A2>(a2),
                                      std::forward<A3>(a3));
}
template <auto Fn, class A0, class A1, class A2, class A3, class A4>
    requires(detail::workflow_arity<Fn> == 5)
auto start_run(A0&& a0, A1&& a1, A2&& a2, A3&& a3, A4&& a4, child_options o = {})
{
    return detail::start_run_with<Fn>(o, std::make_index_sequence<5>{}, std::forward<A0>(a0), std::forward<A1>(a1), std::forward<A2>(a2),
                                      std::forward<A3>(a3), std::forward<A4>(a4));
}
template <auto Fn, class A0, class A1, class A2, class A3, class A4, class A5>
    requires(detail::workflow_arity<Fn> == 6)
auto start_run(A0&& a0, A1&& a1, A2&& a2, A3&& a3, A4&& a4, A5&& a5, child_options o = {})
{
    return detail::start_run_with<Fn>(o, std::make_index_sequence<6>{}, std::forward<A0>(a0), std::forward<A1>(a1), std::forward<A2>(a2),
                                      std::forward<A3>(a3), std::forward<A4>(a4), std::forward<A5>(a5));
}

/// `co_await flow::wait_for_run(c, {.timeout = 1h})`: the wait that `co_await c` is, with options; as an operation it may stand in
/// flow::as_outcome. When its time is over the child goes on. Throws besides: flow::wait_timeout; flow::error(unknown_run) for a child that
/// was started detached, or that is not in this store.
template <class T>
detail::child_wait<T> wait_for_run(child<T> const& which, wait_options options = {})
{
    return detail::child_wait<T>(which, options);
}

}  // namespace flow

#pragma GCC visibility pop
