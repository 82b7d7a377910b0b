// Two transactions at once: one stands inside while the other has its time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "flow/store.hpp"

namespace flow::test {

/// Stops the first transaction of one call at one point until the other has had its time.
class meeting {
public:
    meeting(std::string call, probe_point point) : call_(std::move(call)), point_(point) {}

    flow::probe probe()
    {
        return [this](std::string_view call, probe_point point) {
            std::unique_lock lock(mutex_);
            if (!armed_ || call != call_ || point != point_) return;
            armed_ = false;
            inside_ = true;
            changed_.notify_all();
            // The other may be waiting for our locks: then it will not be done in time, and must come second.
            changed_.wait_for(lock, std::chrono::milliseconds{100}, [&] { return other_done_; });
        };
    }
    void arm()
    {
        std::scoped_lock lock(mutex_);
        armed_ = true;
    }
    /// Returns once the first stands inside its transaction.
    bool wait_inside()
    {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, std::chrono::seconds{10}, [&] { return inside_; });
    }
    void other_done()
    {
        std::scoped_lock lock(mutex_);
        other_done_ = true;
        changed_.notify_all();
    }

private:
    std::string const call_;
    probe_point const point_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool armed_ = false, inside_ = false, other_done_ = false;
};

}  // namespace flow::test
