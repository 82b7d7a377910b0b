#include "runtime/engine/workers.hpp"

#include <utility>

namespace flow::detail {

namespace {
// How deep this thread is inside turns, and whose: who ends the engine from inside one does not wait for itself.
thread_local workers const* here = nullptr;
thread_local int depth_here = 0;
}  // namespace

/// Lives while a thread of the executor works for the engine.
class workers::visit {
public:
    explicit visit(workers& w) : workers_(w)
    {
        std::lock_guard const lock(workers_.gate_);
        if (workers_.closed_) return;
        entered_ = true;
        ++workers_.inside_;
        before_ = std::exchange(here, &w);
        depth_before_ = std::exchange(depth_here, before_ == &w ? depth_here + 1 : 1);
    }
    ~visit()
    {
        if (!entered_) return;
        here = before_;
        depth_here = depth_before_;
        std::lock_guard const lock(workers_.gate_);
        --workers_.inside_;
        workers_.left_.notify_all();
    }
    visit(visit const&) = delete;
    explicit operator bool() const noexcept { return entered_; }

private:
    workers& workers_;
    workers const* before_ = nullptr;
    int depth_before_ = 0;
    bool entered_ = false;
};

workers::workers(int width, int most, executor const& on, bool function_threads) : strands_(on ? 0 : width, most), outer_(on.get())
{
    // One thread is kept free for the next function; each that blocks makes room for another, up to `most`.
    if (outer_ && function_threads) functions_.emplace(1, most);
}

void workers::start(std::function<void()> on_ring)
{
    on_ring_ = std::move(on_ring);
    if (outer_) timer_.emplace(*outer_);
    else strands_.start();
    if (functions_) functions_->start_when_needed();
}

void workers::turn(bool ring)
{
    visit const inside(*this);
    if (!inside) return;
    if (ring) on_ring_();
    else strands_.run_one();
}

void workers::run(pool::task t)
{
    strands_.post(std::move(t));
    if (!outer_) return;
    std::lock_guard const lock(gate_);
    if (!closed_) outer_->post([self = shared_from_this()] { self->turn(false); });
}

void workers::call(pool::task t)
{
    if (functions_) functions_->post(std::move(t));
    else run(std::move(t));
}

void workers::ring_after(duration d)
{
    std::lock_guard const lock(gate_);
    if (!closed_) timer_->set(d, [self = shared_from_this()] { self->turn(true); });
}

void workers::shut()
{
    std::lock_guard const lock(gate_);
    closed_ = true;
}

void workers::close()
{
    if (!outer_) return;
    std::unique_lock lock(gate_);
    closed_ = true;
    left_.wait(lock, [this] { return inside_ == (here == this ? depth_here : 0); });
    timer_.reset();
}

bool workers::is_closed() const
{
    std::lock_guard const lock(gate_);
    return closed_;
}

void workers::join_functions()
{
    if (functions_) functions_->join();
}

void workers::join()
{
    join_functions();
    strands_.join();
}

}  // namespace flow::detail
