// When a failed attempt is made again, and short spans of time as options hold them.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>

#include "flow/error.hpp"

#pragma GCC visibility push(default)

namespace flow {

/// A span of time in an option: whole milliseconds in four bytes, up to 49 days; from any chrono duration, rounded up.
/// Throws flow::error(bad_argument) for a negative, non-finite or longer one.
class time_span {
public:
    constexpr time_span() = default;
    template <class Rep, class Period>
    constexpr time_span(std::chrono::duration<Rep, Period> d)
    {
        using wide = std::chrono::duration<long double, std::milli>;
        long double const ms = wide(d).count();
        if (!(ms >= 0 && ms <= static_cast<long double>(std::numeric_limits<std::uint32_t>::max())))
            throw flow::error(errc::bad_argument, "a time limit must lie between 0 and 49 days");
        ms_ = static_cast<std::uint32_t>(ms);
        if (static_cast<long double>(ms_) < ms) ++ms_;
    }
    constexpr std::chrono::milliseconds get() const noexcept { return std::chrono::milliseconds{ms_}; }
    constexpr bool is_zero() const noexcept { return ms_ == 0; }

private:
    std::uint32_t ms_ = 0;
};

/// When a failed attempt is made again, and how long to wait before it.
///
/// A wait is journaled before it starts, so a crash neither shortens nor repeats it.
/// A plain value: copy it freely, from any thread.
struct retry_policy {
    /// Attempts in all, the first included: 1 means no retry. 0 counts as 1; more than 250 as 250.
    std::uint16_t max_attempts = 3;
    /// Wait before the second attempt.
    time_span first_delay = std::chrono::seconds{1};
    /// Each later wait is this many times the one before it, up to `cap`.
    float factor = 2.0F;
    time_span cap = std::chrono::minutes{5};
};

/// The hard limit on attempts of one step, whatever a policy says.
inline constexpr int most_attempts = 250;

/// How long to wait after the `failed`-th failed attempt (from 1).
std::chrono::milliseconds delay_after(retry_policy const& policy, int failed) noexcept;

}  // namespace flow

#pragma GCC visibility pop
