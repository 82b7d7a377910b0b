// A clock that moves only when a test moves it; wall and steady time apart.
#pragma once

#include <atomic>

#include "flow/time.hpp"

namespace flow::test {

class manual_clock final : public flow::clock {
public:
    time_point now() const override { return time_point(duration(wall_.load())); }
    duration steady() const override { return duration(steady_.load()); }

    /// Both clocks.
    void advance(duration d)
    {
        wall_ += d.count();
        steady_ += d.count();
    }
    /// Somebody sets the wall clock.
    void jump(duration d) { wall_ += d.count(); }

private:
    std::atomic<std::int64_t> wall_{1'800'000'000'000'000};
    std::atomic<std::int64_t> steady_{1'000'000};
};

}  // namespace flow::test
