// sleep_for, sleep_until: waiting for an instant, for milliseconds or years.
#pragma once

#include <chrono>
#include <cmath>
#include <ratio>

#include "flow/detail/operation.hpp"
#include "flow/detail/scope.hpp"
#include "flow/time.hpp"

#pragma GCC visibility push(default)

namespace flow {
namespace detail {

[[noreturn]] void refuse_duration();

/// Checked and rounded up to a microsecond (P49).
template <class Rep, class Period>
duration checked_duration(std::chrono::duration<Rep, Period> d)
{
    using wide = std::chrono::duration<long double, std::micro>;
    long double const us = wide(d).count();
    if (!(us > -9.2e18L && us < 9.2e18L)) refuse_duration();  // also NaN
    if constexpr (std::chrono::treat_as_floating_point_v<Rep>) return duration(static_cast<std::int64_t>(std::ceil(us)));
    else if constexpr (std::ratio_less_v<Period, std::micro>) return std::chrono::ceil<duration>(d);
    else return duration(d);
}

class [[nodiscard("a sleep happens only when it is awaited")]] sleep_operation final : public journaled_operation {
public:
    explicit sleep_operation(duration d) : length_(d) {}
    explicit sleep_operation(time_point t) : until_(t), absolute_(true) {}
    sleep_operation(sleep_operation&&) noexcept = default;

    bool start(scope& s, continuation& c);
    bool proceed(scope& s, continuation& c, position at) override;
    void take() const { check(); }
    outcome<void> accept(encoding, std::string_view) override { return {}; }
    std::string_view shape() const override { return {}; }

private:
    duration length_{};
    time_point until_{};
    bool absolute_ = false;
};

}  // namespace detail

/// Waits at least `d`, rounded up to the next millisecond; zero and less do not wait. The due instant is journaled: it counts
/// after any number of restarts, whatever the code then asks for. Longer than the engine's `suspend_threshold` (5 s) the run
/// stands on a waitpoint and costs nothing while it waits.
/// Throws at the call flow::error(bad_argument) for a length that is not finite or ends beyond the calendar. Throws at the
/// await: flow::cancelled.
template <class Rep, class Period>
detail::sleep_operation sleep_for(std::chrono::duration<Rep, Period> d)
{
    return detail::sleep_operation(detail::checked_duration(d));
}

/// Waits until `t`; an instant that has passed does not wait. Otherwise as sleep_for.
template <class Duration>
detail::sleep_operation sleep_until(std::chrono::sys_time<Duration> t)
{
    return detail::sleep_operation(time_point(detail::checked_duration(t.time_since_epoch())));
}

}  // namespace flow

#pragma GCC visibility pop
