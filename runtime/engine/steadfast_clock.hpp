// The wall clock, as long as nobody sets it back.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "flow/time.hpp"

namespace flow::detail {

/// Follows the wall clock forwards. Set back, time goes on here from where it was, a thousandth slower than the steady clock: what was to be
/// due in ten seconds is due in ten seconds (TI-01), and the lead is given up in time. It is not known to the next process. Any thread.
class steadfast_clock final : public flow::clock {
public:
    explicit steadfast_clock(flow::clock const& wall) : wall_(wall) {}

    time_point now() const override
    {
        // The wall first: held up between the two, it is behind for once, never ahead for good.
        auto const wall = wall_.now().time_since_epoch().count();
        auto const steady = wall_.steady().count();
        auto const since = std::max<std::int64_t>(steady - seen_.load(std::memory_order_relaxed), 0);
        auto const lead = lead_.load(std::memory_order_relaxed) - since / 1000;
        if (wall - steady < lead) return time_point{duration{steady + lead}};
        // Two threads may write each other's: they are microseconds apart.
        lead_.store(wall - steady, std::memory_order_relaxed);
        seen_.store(steady, std::memory_order_relaxed);
        return time_point{duration{wall}};
    }
    duration steady() const override { return wall_.steady(); }

private:
    flow::clock const& wall_;
    // How far the wall clock was ahead of the steady one, at most, and when that was seen.
    mutable std::atomic<std::int64_t> lead_{INT64_MIN / 2}, seen_{0};
};

}  // namespace flow::detail
