// Threads that run bodies and call steps' functions; or none, and the caller runs what is queued.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace flow::detail {

/// Keeps `width` threads free for work: while one is inside a function that may block, another takes its place, up to `most`.
/// With width 0 there are no threads; `run_one` runs what is queued.
class pool {
public:
    using task = std::function<void()>;

    pool(int width, int most) : width_(width), most_(most > width ? most : width) {}
    ~pool() { join(); }

    void start();
    /// As `start`, but a thread is made only when there is a task for it.
    void start_when_needed();
    /// From inside a task of this pool, the first task posted runs on the same thread right after it: no hand-over.
    void post(task t);
    /// Runs one queued task here; false: there was none.
    bool run_one();
    bool has_work() const;
    /// No more tasks are taken; waits for those that run. What is queued is dropped.
    void join();

    /// Lives while a task is inside a function that may block.
    class blocking {
    public:
        explicit blocking(pool& p) : pool_(p) { pool_.enter_blocking(); }
        ~blocking() { pool_.leave_blocking(); }
        blocking(blocking const&) = delete;

    private:
        pool& pool_;
    };

private:
    struct here {
        pool* of = nullptr;
        task next;
    };
    static thread_local here here_;

    void run(task t);
    void enter_blocking();
    void leave_blocking();
    void work();
    void grow();  // with the lock held

    mutable std::mutex guard_;
    std::condition_variable wake_;
    std::deque<task> queue_;
    std::vector<std::thread> threads_;
    int const width_, most_;
    int idle_ = 0, blocked_ = 0;
    int active_ = 0;  ///< at work and not inside a function that may block: more than `width` would only take turns
    bool started_ = false, ending_ = false;
};

}  // namespace flow::detail
