// A step's function on its way: called somewhere, its result encoded there, and brought back to the run's strand.
#pragma once

#include <concepts>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>

#include "flow/attempt.hpp"
#include "flow/codec.hpp"
#include "flow/detail/operation.hpp"
#include "flow/error.hpp"

#pragma GCC visibility push(default)

namespace boost::asio {
class any_io_executor;
template <typename T, typename Executor>
class awaitable;
}  // namespace boost::asio

namespace flow {

/// What `reconcile` found out about a step whose outcome is not known (P60).
template <class T>
class reconciled {
public:
    enum class kind : std::uint8_t { done, not_done, unknown };

    /// It happened, and this is its output.
    template <class U = T>
    static reconciled done(U&& value)
    {
        reconciled r(kind::done);
        r.value_.emplace(std::forward<U>(value));
        return r;
    }
    /// It is known not to have happened: the step runs again.
    static reconciled not_done() { return reconciled(kind::not_done); }
    /// Cannot be known: `compensate` if given, else a person decides.
    static reconciled unknown() { return reconciled(kind::unknown); }

    kind what() const noexcept { return kind_; }
    T& value() noexcept { return *value_; }

private:
    explicit reconciled(kind k) : kind_(k) {}
    kind kind_;
    std::optional<T> value_;
};

template <>
class reconciled<void> {
public:
    enum class kind : std::uint8_t { done, not_done, unknown };
    static reconciled done() { return reconciled(kind::done); }
    static reconciled not_done() { return reconciled(kind::not_done); }
    static reconciled unknown() { return reconciled(kind::unknown); }
    kind what() const noexcept { return kind_; }

private:
    explicit reconciled(kind k) : kind_(k) {}
    kind kind_;
};

namespace detail {

enum class call_end : std::uint8_t {
    value,        ///< returned, and `payload` is the encoded result
    not_done, unknown,  ///< `reconcile` only
    unstorable,   ///< returned, but the result could not be encoded
    threw,        ///< threw something; nothing is known
    not_started,  ///< threw flow::not_started
    permanent,    ///< threw flow::permanent_error
    begun,        ///< of flow::begin_step: it ends elsewhere
    not_yet,      ///< of flow::poll_until: what it looks for is not so yet
};

/// What came of one call.
struct call_result {
    call_end end = call_end::threw;
    std::string payload;
    flow::encoding encoding = flow::encoding::json;
    error_detail error;
    std::string commit_ref;
    duration not_before{};  ///< of `not_started`: the next attempt waits so long at least
};

/// The function of one step, or its reconcile or compensate, as the engine calls it. Shared by the run and by whoever calls
/// it; what the function captured by reference lives in the run's frame, which outlives the call (P26).
class call {
public:
    virtual ~call() = default;

    /// Calls the function and fills `result`; throws nothing. On a thread for blocking work, or on the run's strand.
    virtual void invoke(attempt& a, call_result& result) noexcept = 0;

    /// An Asio coroutine is started by the engine on its executor instead (flow/asio.hpp).
    virtual class async_call* as_async() noexcept { return nullptr; }

    /// Set by flow::detached: the function owns all it uses, so it may be left behind.
    bool detached = false;
};

/// Fills `result` from the exception in flight. `tag` knows the types that have an error_tag.
void take_exception(call_result& result) noexcept;

template <class R>
using storage_of = std::conditional_t<std::is_void_v<R>, unit, R>;

template <class R>
void encode_result(call_result& result, R const& value)
{
    result.encoding = encoding_for<R>;
    try {
        encode(result.encoding, value, result.payload);
        result.end = call_end::value;
    } catch (...) {
        take_exception(result);
        result.end = call_end::unstorable;
        result.payload.clear();
    }
}

template <class T>
inline constexpr bool is_awaitable = false;
template <class T, class E>
inline constexpr bool is_awaitable<boost::asio::awaitable<T, E>> = true;
template <class T>
struct awaited {
    using type = T;
};
template <class T, class E>
struct awaited<boost::asio::awaitable<T, E>> {
    using type = T;
};

template <class F>
inline constexpr bool takes_attempt = std::is_invocable_v<F&, attempt&>;
template <class F>
inline constexpr bool is_step_function = takes_attempt<F> || std::is_invocable_v<F&>;

template <class F>
decltype(auto) call_with(F& fn, attempt& a)
{
    if constexpr (takes_attempt<F>) return fn(a);
    else return fn();
}
template <class F>
using returned_by = decltype(call_with(std::declval<F&>(), std::declval<attempt&>()));

/// Calls `fn`, keeps what it returned and encodes it.
template <class R, class F>
void invoke_into(F& fn, attempt& a, call_result& result, std::optional<storage_of<R>>& value) noexcept
{
    try {
        if constexpr (std::is_void_v<R>) {
            call_with(fn, a);
            value.emplace();
        } else {
            value.emplace(call_with(fn, a));
        }
    } catch (...) {
        take_exception(result);
        return;
    }
    encode_result(result, *value);
}

/// A plain callable whose result is R, kept until the body takes it.
template <class F, class R>
class plain_call final : public call {
public:
    explicit plain_call(F&& fn) : fn_(std::move(fn)) {}

    void invoke(attempt& a, call_result& result) noexcept override { invoke_into<R>(fn_, a, result, value); }

    std::optional<storage_of<R>> value;

private:
    F fn_;
};

/// `reconcile`: its value, if it found one, is the step's.
template <class F, class R>
class reconcile_call final : public call {
public:
    explicit reconcile_call(F&& fn) : fn_(std::move(fn)) {}

    void invoke(attempt& a, call_result& result) noexcept override
    {
        try {
            reconciled<R> found = call_with(fn_, a);
            using kind = typename reconciled<R>::kind;
            if (found.what() == kind::not_done) result.end = call_end::not_done;
            else if (found.what() == kind::unknown) result.end = call_end::unknown;
            else if constexpr (std::is_void_v<R>) encode_result(result, unit{});
            else encode_result(result, found.value());
        } catch (...) {
            take_exception(result);
        }
    }

private:
    F fn_;
};

/// Filled in by flow/asio.hpp for functions that return asio::awaitable<R>.
template <class F, class R>
class asio_call;

/// F can be called as it is: it is no Asio coroutine, or flow/asio.hpp is there.
template <class F>
constexpr bool has_its_header()
{
    using R = returned_by<F>;
    if constexpr (is_awaitable<R>) return requires { sizeof(asio_call<F, typename awaited<R>::type>); };
    else return true;
}

}  // namespace detail
}  // namespace flow

#pragma GCC visibility pop
