// Where an engine's strands and functions run: on threads of its own, in whoever polls, or on the caller's executor.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "runtime/engine/outer_executor.hpp"
#include "runtime/engine/pool.hpp"

namespace flow::detail {

/// Shared with what is queued on the caller's executor: that may run, or be destroyed, when the engine is long gone, and does
/// nothing then. Any thread, unless said otherwise.
class workers : public std::enable_shared_from_this<workers> {
public:
    /// `width` threads for strands and functions; 0: whoever calls `run_one`, or the executor. `function_threads`: with an executor,
    /// functions that may block get threads, made when they are needed.
    workers(int width, int most, executor const& on, bool function_threads);

    /// `on_ring`: called on the executor after `ring_after`.
    void start(std::function<void()> on_ring);

    /// A strand's turn, or a piece of the engine's own work. Never run inside this call.
    void run(pool::task t);
    /// A function that may block.
    void call(pool::task t);
    /// The pool whose threads call functions: what blocks one of them says so.
    pool& of_functions() noexcept { return functions_ ? *functions_ : strands_; }
    pool& of_strands() noexcept { return strands_; }

    bool run_one() { return strands_.run_one(); }
    bool has_work() const { return strands_.has_work(); }
    bool runs_here() const { return outer_ && outer_->runs_here(); }

    /// One thread at a time.
    void ring_after(duration d);

    /// Takes the work away from the caller's executor: no more is begun there, and whoever ends the engine calls `run_one`.
    void shut();
    /// And waits for what is inside on the executor's other threads. Asio steps are not in here.
    void close();
    bool is_closed() const;
    /// Waits for functions that run on threads; no more are taken.
    void join_functions();
    void join();

private:
    class visit;
    void turn(bool ring);

    pool strands_;
    std::optional<pool> functions_;
    std::shared_ptr<outer_executor const> outer_;
    std::optional<outer_executor::timer> timer_;
    std::function<void()> on_ring_;

    mutable std::mutex gate_;  ///< of what follows
    std::condition_variable left_;
    bool closed_ = false;
    int inside_ = 0;  ///< turns on the executor's threads
};

}  // namespace flow::detail
