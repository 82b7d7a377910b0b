// Steps that are Asio coroutines: `[&](flow::attempt& a) -> asio::awaitable<T> { … }`. The only public header that includes Asio.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <optional>
#include <type_traits>
#include <utility>

#include "flow/detail/call.hpp"

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
