// The caller's Asio executor, as the engine uses it: Asio's heavy headers stay in the .cpp files.
#pragma once

#include <functional>
#include <memory>

#include "flow/executor.hpp"
#include "flow/time.hpp"

namespace boost::asio {
class any_io_executor;
}

namespace flow::detail {

/// Any thread. What is posted never runs inside `post`.
class outer_executor {
public:
    explicit outer_executor(boost::asio::any_io_executor on);
    ~outer_executor();

    void post(std::function<void()> task) const;
    /// This thread is running the executor's handlers, as far as can be told: of an io_context and a thread_pool only.
    bool runs_here() const;
    boost::asio::any_io_executor const& get() const noexcept { return *on_; }

    /// Rings once; set again, it rings at the new time, or once more. One thread at a time. While it is set the executor has work.
    class timer {
    public:
        explicit timer(outer_executor const& on);
        ~timer();
        void set(duration from_now, std::function<void()> ring);

    private:
        struct impl;
        std::unique_ptr<impl> impl_;
    };

private:
    std::unique_ptr<boost::asio::any_io_executor> on_;
};

}  // namespace flow::detail
