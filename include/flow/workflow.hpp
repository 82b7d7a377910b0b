// workflow<T>: the coroutine type a durable workflow is written as.
#pragma once

#include <coroutine>
#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <ranges>
#include <type_traits>
#include <utility>

#include "flow/detail/closure.hpp"
#include "flow/detail/operation.hpp"
#include "flow/detail/scope.hpp"

#pragma GCC visibility push(default)

namespace flow {

template <class T>
class workflow;

namespace detail {

/// Resumes a body when what it awaits is there.
template <class Op>
struct awaiter {
    Op& op;
    class promise_base& promise;

    awaiter(Op& o, promise_base& p) : op(o), promise(p) {}
    awaiter(awaiter&&) = delete;

    // All the work happens here: what is recorded, or can be had at once, never suspends the body. So replay neither
    // grows the stack nor needs symmetric transfer, which g++ 12 does not give below -O2.
    bool await_ready();
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    decltype(auto) await_resume() { return op.take(); }
};

/// The same where a handle is awaited: it holds the operation.
template <class Op>
struct handle_awaiter {
    Op op;
    class promise_base& promise;

    template <class Handle>
    handle_awaiter(Handle const& h, promise_base& p) : op(h), promise(p)
    {
    }
    handle_awaiter(handle_awaiter&&) = delete;

    bool await_ready();
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    decltype(auto) await_resume() { return op.take(); }
};

class promise_base : public continuation {
public:
    std::suspend_always initial_suspend() const noexcept { return {}; }

    struct final_awaiter {
        bool await_ready() const noexcept { return false; }
        template <class Promise>
        void await_suspend(std::coroutine_handle<Promise> self) const noexcept
        {
            promise_base& p = self.promise();
            if (p.parked_) p.continuation_->done();  // may destroy this frame: nothing of it is touched afterwards
        }
        void await_resume() const noexcept {}
    };
    final_awaiter final_suspend() const noexcept { return {}; }
    void unhandled_exception() noexcept
    {
        failure_ = std::current_exception();
        if (thrown_in_destructor_) *thrown_in_destructor_ = true;
    }

    template <class Op>
    auto await_transform(Op&& op)
    {
        using plain = std::remove_cvref_t<Op>;
        if constexpr (std::is_same_v<plain, refused>) {
            return refused{};  // what made it has said why
        } else if constexpr (awaited_handle<Op>) {
            return handle_awaiter<typename operation_of_handle<plain>::type>(op, *this);
        } else if constexpr (!durable_operation<Op>) {
            static_assert(never_true<Op>,
                          "flow: a workflow body may await durable operations only. Wrap it: co_await flow::step(\"name\", "
                          "[&]() -> asio::awaitable<T> { co_return co_await ...; })");
            return refused{};
        } else if constexpr (std::is_lvalue_reference_v<Op>) {
            static_assert(never_true<Op>, "flow: an operation is awaited once: co_await std::move(op)");
            return refused{};
        } else if constexpr (requires { typename plain::refused_operation; }) {
            return refused{};
        } else {
            return awaiter<plain>(op, *this);
        }
    }

    // Defined in a .cpp: inline, g++ -O1 prints a false -Wmismatched-new-delete for every workflow.
    static void* operator new(std::size_t size);
    static void operator delete(void* frame, std::size_t size) noexcept;

    scope* in_scope = nullptr;

    void await_by(continuation& c) noexcept { continuation_ = &c; }
    void park() noexcept { parked_ = true; }
    /// Before the frame is taken down: nobody is told any more; a destructor that throws is noted.
    void let_go(bool& thrown) noexcept
    {
        parked_ = false;
        thrown_in_destructor_ = &thrown;
    }
    std::exception_ptr const& failure() const noexcept { return failure_; }

protected:
    ~promise_base() = default;

private:
    continuation* continuation_ = nullptr;
    bool parked_ = false;  ///< whoever awaits this body has been suspended
    bool* thrown_in_destructor_ = nullptr;
    std::exception_ptr failure_;
};

/// Destroys a frame, suspended or ended. A destructor of a local that throws is contained: there is nobody to tell (CO-07).
void destroy_frame(std::coroutine_handle<> frame, promise_base& p) noexcept;

template <class Op>
bool awaiter<Op>::await_ready()
{
    return op.start(*promise.in_scope, promise);
}

template <class Op>
bool handle_awaiter<Op>::await_ready()
{
    return op.start(*promise.in_scope, promise);
}

template <class T>
class promise final : public promise_base {
public:
    workflow<T> get_return_object() noexcept;
    void done() override { std::coroutine_handle<promise>::from_promise(*this).resume(); }

    template <class U = T>
        requires std::convertible_to<U&&, T>
    void return_value(U&& value)
    {
        value_.emplace(std::forward<U>(value));
    }
    T take() { return std::move(*value_); }

private:
    std::optional<T> value_;
};

template <>
class promise<void> final : public promise_base {
public:
    workflow<void> get_return_object() noexcept;
    void done() override { std::coroutine_handle<promise>::from_promise(*this).resume(); }
    void return_void() const noexcept {}
    void take() const noexcept {}
};

/// What is thrown out of a body, as an error: the same text live as on replay.
error describe(std::exception_ptr const& failure);

/// A sub-workflow's own scope, made when it is awaited.
class inner_scope {
public:
    scope& open(scope& outer);

private:
    std::optional<scope> scope_;
};

template <class P>
inline constexpr bool owned_parameter =
    !std::is_pointer_v<P> && !std::ranges::view<P> && !std::is_same_v<P, std::string_view>;
template <class P>
inline constexpr bool owned_parameter<std::reference_wrapper<P>> = false;
template <class P>
inline constexpr bool owned_parameter<P&> = is_closure<std::remove_const_t<P>>;
template <class P>
inline constexpr bool owned_parameter<P&&> = false;

template <class... A>
constexpr bool check_parameters()
{
    static_assert((owned_parameter<A> && ...),
                  "flow: a workflow's parameters must own their values: the frame outlives the caller. Take T instead of "
                  "T&, std::string instead of string_view or char*");
    return true;
}

}  // namespace detail

/// A durable workflow's body, not yet run. Returned by a coroutine function; `engine.add` registers such a function, and
/// `co_await` inside another body runs it inline: same run, its own positions.
///
/// Parameters must own their values. Move-only; destroying one destroys its frame: the destructors of the body's locals run,
/// so they must have no effect outside. Not for use from several threads.
template <class T = void>
class [[nodiscard("a workflow runs only when it is awaited or started by an engine")]] workflow : public detail::operation {
public:
    using promise_type = detail::promise<T>;
    using value_type = T;

    workflow(workflow&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
    workflow& operator=(workflow&& other) noexcept
    {
        std::swap(frame_, other.frame_);
        return *this;
    }
    ~workflow()
    {
        if (frame_) detail::destroy_frame(frame_, frame_.promise());
    }

    /// For the engine and `co_await`.
    bool start(detail::scope& outer, detail::continuation& c) { return enter(scope_.open(outer), c); }
    bool enter(detail::scope& own, detail::continuation& c)
    {
        auto& p = frame_.promise();
        p.in_scope = &own;
        p.await_by(c);
        frame_.resume();
        if (frame_.done()) return true;
        p.park();
        return false;
    }
    std::exception_ptr const& thrown() const noexcept { return frame_.promise().failure(); }
    error const* failed()
    {
        if (!failure_ && frame_.promise().failure()) failure_.emplace(detail::describe(frame_.promise().failure()));
        return failure_ ? &*failure_ : nullptr;
    }
    T take()
    {
        if (auto const& failure = frame_.promise().failure()) std::rethrow_exception(failure);
        return frame_.promise().take();
    }

private:
    friend promise_type;
    explicit workflow(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}

    detail::inner_scope scope_;  // outlives the frame: operations in it read it
    std::coroutine_handle<promise_type> frame_;
    std::optional<error> failure_;
};

template <class T>
workflow<T> detail::promise<T>::get_return_object() noexcept
{
    return workflow<T>(std::coroutine_handle<promise>::from_promise(*this));
}
inline workflow<void> detail::promise<void>::get_return_object() noexcept
{
    return workflow<void>(std::coroutine_handle<promise>::from_promise(*this));
}

}  // namespace flow

template <class T, class... A>
struct std::coroutine_traits<flow::workflow<T>, A...> {
    static_assert(flow::detail::check_parameters<A...>());
    using promise_type = flow::detail::promise<T>;
};

#pragma GCC visibility pop
