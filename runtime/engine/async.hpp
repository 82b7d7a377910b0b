// Where steps that are Asio coroutines run.
#pragma once

#include <functional>
#include <memory>

#include "runtime/engine/outer_executor.hpp"
#include "src/host.hpp"

namespace flow::detail {

/// An io_context with a thread of its own, or driven by `poll`; or the caller's executor. Heavy headers stay in the .cpp.
class async_executor {
public:
    explicit async_executor(bool with_thread);
    explicit async_executor(outer_executor const& on);
    ~async_executor();

    /// Starts `order.what`, an async_call; `back` is called once, when it has ended. A request to stop cancels it the Asio way (total);
    /// one that comes before it has begun keeps it from beginning. On the caller's executor this outlives us: what `back` holds lives
    /// until the coroutine has ended, or its io_context is destroyed.
    void spawn(call_order order, std::function<void(call_result)> back);
    /// Runs what is ready; false: nothing was.
    bool poll();
    void join();

private:
    struct impl;
    std::unique_ptr<impl> impl_;
};

}  // namespace flow::detail
