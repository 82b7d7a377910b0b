// Where steps that are Asio coroutines run.
#pragma once

#include <functional>
#include <memory>

#include "src/host.hpp"

namespace flow::detail {

class async_call;

/// An io_context with a thread of its own, or driven by `poll`. Heavy headers stay in the .cpp.
class async_executor {
public:
    explicit async_executor(bool with_thread);
    ~async_executor();

    /// Starts the coroutine; `back` is called once, when it has ended. A request to stop cancels it the Asio way (total).
    void spawn(async_call& c, call_order order, std::function<void(call_result)> back);
    /// Runs what is ready; false: nothing was.
    bool poll();
    void join();

private:
    struct impl;
    std::unique_ptr<impl> impl_;
};

}  // namespace flow::detail
