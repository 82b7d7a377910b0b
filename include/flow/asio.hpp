// Asio: steps that are its coroutines, `[&](flow::attempt& a) -> asio::awaitable<T> { … }`; an engine on an executor of yours.
// The only public header that includes Asio.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "flow/detail/call.hpp"
#include "flow/engine.hpp"

namespace flow {

/// For engine_options::executor: the engine's work is posted to `on`, whose context may be run by one thread or by several.
///
/// What runs where:
/// - on the executor: workflow bodies, one thread at a time each; timers, within 10 ms; inline steps; Asio steps, each on a strand of
///   its own, so `asio::this_coro::executor` is a strand over `on`;
/// - on one thread of the engine's own: commits, and looking for what came from outside. On others, made when needed: plain step
///   functions, `most_threads` at most;
/// - with `threads = 0` all of these on the executor too, and no thread is made. `io_thread = true` then brings the first back.
/// Nothing of the engine's own blocks the executor, but for what `threads = 0` puts there and for bodies that read from the store where
/// they replay. Who waits for a run (`result`, `wait`) does block: not on the executor's only thread.
///
/// The context must outlive the engine. An engine that has not been stopped is outstanding work: `io_context::run()` does not return.
///
/// Destroying the engine waits for plain step functions and for the commit that is on its way, never for Asio steps; so it may be done
/// on the executor's own thread, with handlers queued. Asio steps are cancelled, and what such a step returns is lost; its workflow's
/// frame lives until the executor has ended the step, or its context is destroyed, and nothing of it resumes. What has not been
/// journaled is found as after a crash: to see it journaled, `async_stop` first. The clock given to the engine must live as long as
/// its Asio steps.
///
/// Throws flow::error(usage) for an empty executor.
executor asio_executor(boost::asio::any_io_executor on);

namespace detail {
struct stop_access {
    /// Throws flow::error(usage) on an engine that has no executor of the caller's.
    static boost::asio::any_io_executor executor_of(engine const& e);
    static void stop_then(engine& e, std::chrono::milliseconds limit, std::function<void(bool)> done)
    {
        e.stop_then(limit, std::move(done));
    }
};
}  // namespace detail

/// `engine.stop(limit)` for an engine on an executor of yours, without waiting: begins no more, asks functions to stop, journals what
/// they return, gives runs back. Completes, on the token's executor or else the engine's, with true when all functions have returned and the engine has
/// stopped, with false when the limit ended first: the engine goes on stopping, `still_running()` names what has not returned, and it
/// may be called again. Any thread. Destroying the engine meanwhile completes it with true.
/// Throws flow::error(usage), at the call, on an engine that has no executor of yours.
template <class CompletionToken>
auto async_stop(engine& e, std::chrono::milliseconds limit, CompletionToken&& token)
{
    return boost::asio::async_initiate<CompletionToken, void(bool)>(
        [](auto handler, engine* which, std::chrono::milliseconds within) {
            // A std::function is copied, a handler only moved.
            auto const shared = std::make_shared<decltype(handler)>(std::move(handler));
            auto const work = boost::asio::make_work_guard(*shared, detail::stop_access::executor_of(*which));
            detail::stop_access::stop_then(*which, within, [shared, work](bool stopped) {
                boost::asio::post(work.get_executor(), [shared, stopped] { std::move (*shared)(stopped); });
            });
        },
        token, &e, limit);
}
/// Without limit.
template <class CompletionToken>
auto async_stop(engine& e, CompletionToken&& token)
{
    return async_stop(e, std::chrono::milliseconds::max(), std::forward<CompletionToken>(token));
}

}  // namespace flow

#pragma GCC visibility push(default)

namespace flow::detail {

/// A step's function that is a coroutine; the engine starts `drive` on its own executor.
class async_call : public call {
public:
    virtual boost::asio::awaitable<void> drive(attempt& a, call_result& result) = 0;

    void invoke(attempt&, call_result& result) noexcept final
    {
        result.error.message = "an Asio coroutine cannot run inline";  // not reached: the engine asks as_async() first
    }
    async_call* as_async() noexcept final { return this; }
};

/// One coroutine template a result type, not a closure: g++ 12 warns about closure types in frames of templates.
template <class R>
class typed_async_call : public async_call {
public:
    boost::asio::awaitable<void> drive(attempt& a, call_result& result) final
    {
        try {
            if constexpr (std::is_void_v<R>) {
                co_await begin(a);
                value.emplace();
            } else {
                value.emplace(co_await begin(a));
            }
        } catch (...) {
            take_exception(result);
            co_return;
        }
        encode_result(result, *value);
    }

    std::optional<storage_of<R>> value;

private:
    virtual boost::asio::awaitable<R> begin(attempt& a) = 0;
};

template <class F, class R>
class asio_call final : public typed_async_call<R> {
public:
    explicit asio_call(F&& fn) : fn_(std::move(fn)) {}

private:
    boost::asio::awaitable<R> begin(attempt& a) override { return call_with(fn_, a); }
    F fn_;
};

}  // namespace flow::detail

#pragma GCC visibility pop
