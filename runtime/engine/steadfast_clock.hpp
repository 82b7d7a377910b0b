// The wall clock, as long as nobody sets it back.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "flow/time.hpp"

namespace flow::detail {

/// Follows the wall clock forwards. Set back, time goes on here at the pace of the steady clock from where it was: what was to be due in ten
/// seconds is due in ten seconds (TI-01). It then stays ahead of the wall clock until the process ends. Any thread.
class steadfast_clock final : public flow::clock {
public:
    explicit steadfast_clock(flow::clock const& wall) : wall_(wall) {}

    time_point now() const override
    {
        // The wall first: held up between the two, it is behind for once, never ahead for good.
        auto const wall = wall_.now().time_since_epoch().count();
        auto const steady = wall_.steady().count();
        auto ahead = ahead_.load(std::memory_order_relaxed);
        while (wall - steady > ahead && !ahead_.compare_exchange_weak(ahead, wall - steady, std::memory_order_relaxed)) {
        }
        return time_point{duration{steady + std::max(ahead, wall - steady)}};
    }
    duration steady() const override { return wall_.steady(); }

private:
    flow::clock const& wall_;
    mutable std::atomic<std::int64_t> ahead_{INT64_MIN};  ///< of the steady clock, the most there was
};

}  // namespace flow::detail
