// The end of an engine: stop, which waits; stop_then, which does not; and end, after which it may be destroyed.
#include <algorithm>
#include <future>
#include <utility>

#include "runtime/engine/async.hpp"
#include "runtime/engine/core.hpp"
#include "runtime/engine/deadline.hpp"

namespace flow::detail {

bool engine_core::drive_here()
{
    bool did = threads->run_one();
    if (coroutines_ && is_polled()) did = coroutines_->poll() || did;
    if (!commits_apart() && journal.has_work()) did = journal.flush(time_limit{100}) || did;
    return did;
}

template <class Done>
bool engine_core::wait_until(std::chrono::steady_clock::time_point limit, Done done)
{
    bool const alone = is_polled() || threads->is_closed();
    while (!done()) {
        if (std::chrono::steady_clock::now() >= limit) return false;
        if (alone && drive_here()) continue;
        std::unique_lock lock(sleep_guard_);
        sleep_.wait_for(lock, std::chrono::milliseconds{5});
    }
    return true;
}

void engine_core::begin_stop()
{
    if (stopping_.exchange(true)) return;
    store->when_changed(owner_, nullptr);
    if (service_.joinable()) {
        {
            std::lock_guard const lock(sleep_guard_);
            ended_ = true;
        }
        sleep_.notify_all();
        service_.join();
    }
    {
        // What has begun before may still bring in runs, or let some go.
        std::scoped_lock const looked(ticking_, serving_, bringing_);
    }
    stopped_drivers_ = all_drivers();
    for (auto const& d : stopped_drivers_)
        d->stop_first([this] {
            ++heard_stop_;
            something_ended();
        });
    stop_begun_ = true;
}

bool engine_core::all_returned() const
{
    // Whoever has not heard of it yet may just be calling a function.
    if (heard_stop_ < stopped_drivers_.size()) return false;
    // A function may refer into its frame: frames wait for it (P26).
    return std::all_of(stopped_drivers_.begin(), stopped_drivers_.end(), [](auto const& d) { return d->is_idle(); });
}

/// Runs that were executing are given back, so that their next start is no recovery. Those that wait stay as they are; and so do those
/// of which a function still runs: whether it will have happened is not known.
void engine_core::give_back()
{
    given_back_ = true;
    for (auto const& d : stopped_drivers_)
        d->give_back([this] {
            ++answered_;
            something_ended();
        });
}

void engine_core::finish_stop()
{
    journal.join();
    threads->close();
    threads->join();
    auto all = std::exchange(stopped_drivers_, {});
    {
        std::lock_guard const lock(guard_);
        std::move(leaving_.begin(), leaving_.end(), std::back_inserter(all));
        for (auto& [_, d] : drivers_) all.push_back(std::move(d));
        leaving_.clear();
        drivers_.clear();
    }
    for (auto const& d : all) d->take_down();  // not under the lock: a strand takes it the other way round
    if (coroutines_) coroutines_->join();
    store->retire_owner(owner_);
    stopped_ = true;
    shared_->detach();
}

bool engine_core::stop(std::chrono::milliseconds limit)
{
    auto const end = ends_after(limit);
    if (drive_ == driven::by_executor) {
        if (threads->runs_here())
            throw error(errc::usage, "stop() on the engine's own executor would wait for itself: use flow::async_stop");
        auto const answer = std::make_shared<std::promise<bool>>();
        auto ended = answer->get_future();
        stop_then(limit, [answer](bool ok) { answer->set_value(ok); });
        return ended.wait_until(end) == std::future_status::ready && ended.get();
    }
    std::unique_lock const alone(stopping_alone_, end);
    if (!alone) return false;
    if (stopped_) return true;
    begin_stop();
    if (!wait_until(end, [this] { return all_returned(); })) return false;
    if (!given_back_) give_back();
    // Whoever set a limit wants to know whether all is kept; who did not must not wait for ever for a disk that is full.
    bool const patient = limit != std::chrono::milliseconds::max();
    if (!wait_until(end, [&] { return all_kept() || (!patient && journal.trouble()); })) return false;
    finish_stop();
    return true;
}

void engine_core::stop_then(std::chrono::milliseconds limit, std::function<void(bool)> done)
{
    {
        std::lock_guard const lock(waiters_guard_);
        if (!stopped_) stop_waiters_.push_back({ends_after(limit), std::exchange(done, nullptr)});
    }
    if (done) return done(true);
    begin_stop();
    tick_soon();
}

void engine_core::stop_on()
{
    if (!stop_begun_ || stopped_) return;
    if (!given_back_ && all_returned()) give_back();
    bool const ended = given_back_ && all_kept();
    if (ended) finish_stop();
    tell_stopped(ended);
}

/// Tells those who wait for the end: all, if it has come, else those whose limit is over.
void engine_core::tell_stopped(bool ended)
{
    std::vector<stop_waiter> told;
    {
        std::lock_guard const lock(waiters_guard_);
        auto const now = std::chrono::steady_clock::now();
        auto const rest = std::partition(stop_waiters_.begin(), stop_waiters_.end(), [&](auto const& w) { return !ended && w.limit > now; });
        std::move(rest, stop_waiters_.end(), std::back_inserter(told));
        stop_waiters_.erase(rest, stop_waiters_.end());
    }
    for (auto const& w : told) w.done(ended);
}

void engine_core::end()
{
    if (drive_ != driven::by_executor) {
        stop(std::chrono::milliseconds::max());
        return;
    }
    // Nothing is begun on the executor from here on. What is left to do is done on this thread, as in a polled engine; the executor
    // is not waited for, since this may be its only thread.
    threads->shut();
    for (auto const& d : all_drivers()) d->ask_to_stop();
    threads->close();
    if (stopped_) return;  // by a tick that has left by now
    begin_stop();
    auto const forever = std::chrono::steady_clock::time_point::max();
    wait_until(forever, [this] {
        return std::none_of(stopped_drivers_.begin(), stopped_drivers_.end(), [](auto const& d) { return d->has_function_out(); });
    });
    while (drive_here()) {
    }
    if (!given_back_) give_back();
    wait_until(forever, [this] { return all_kept() || journal.trouble(); });
    finish_stop();
    tell_stopped(true);
}

}  // namespace flow::detail
