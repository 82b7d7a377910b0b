#include "runtime/engine/pool.hpp"

#include <utility>

namespace flow::detail {

thread_local pool::here pool::here_;

void pool::run(task t)
{
    auto const before = std::exchange(here_, here{this, nullptr});
    while (t) {
        t();
        t = nullptr;  // what ends with it may post too
        t = std::exchange(here_.next, nullptr);
    }
    here_ = before;
}

void pool::start()
{
    std::lock_guard const lock(guard_);
    started_ = true;
    for (int i = 0; i < width_; ++i) threads_.emplace_back([this] { work(); });
}

void pool::start_when_needed()
{
    std::lock_guard const lock(guard_);
    started_ = true;
}

void pool::grow()
{
    bool const short_of_threads = static_cast<int>(threads_.size()) - blocked_ < width_;
    if (started_ && !ending_ && idle_ == 0 && short_of_threads && static_cast<int>(threads_.size()) < most_)
        threads_.emplace_back([this] { work(); });
}

void pool::post(task t)
{
    if (width_ > 0 && here_.of == this && !here_.next) {
        here_.next = std::move(t);
        return;
    }
    bool wanted = false;
    {
        std::lock_guard const lock(guard_);
        if (ending_) return;
        queue_.push_back(std::move(t));
        wanted = active_ < width_;
        if (wanted) grow();
    }
    if (wanted) wake_.notify_one();
}

bool pool::run_one()
{
    task t;
    {
        std::lock_guard const lock(guard_);
        if (queue_.empty()) return false;
        t = std::move(queue_.front());
        queue_.pop_front();
    }
    run(std::move(t));
    return true;
}

bool pool::has_work() const
{
    std::lock_guard const lock(guard_);
    return !queue_.empty();
}

void pool::enter_blocking()
{
    std::lock_guard const lock(guard_);
    ++blocked_;
    if (here_.of == this) --active_;
    if (here_.of == this && here_.next) queue_.push_back(std::exchange(here_.next, nullptr));  // it must not wait for this function
    if (!queue_.empty() && active_ < width_) {
        grow();
        wake_.notify_one();
    }
}

void pool::leave_blocking()
{
    std::lock_guard const lock(guard_);
    --blocked_;
    if (here_.of == this) ++active_;
}

void pool::work()
{
    std::unique_lock lock(guard_);
    for (;;) {
        ++idle_;
        wake_.wait(lock, [this] { return ending_ || (!queue_.empty() && active_ < width_); });
        --idle_;
        ++active_;
        // One that comes back from a blocking function when others have taken its place leaves the queue to them.
        while (!ending_ && !queue_.empty() && active_ <= width_) {
            auto t = std::move(queue_.front());
            queue_.pop_front();
            lock.unlock();
            run(std::move(t));
            lock.lock();
        }
        --active_;
        if (ending_) return;
    }
}

void pool::join()
{
    {
        std::lock_guard const lock(guard_);
        ending_ = true;
    }
    wake_.notify_all();
    for (auto& t : threads_) t.join();
    threads_.clear();
    std::lock_guard const lock(guard_);
    queue_.clear();
}

}  // namespace flow::detail
