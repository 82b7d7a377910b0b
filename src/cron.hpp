// When a schedule fires: five fields of cron in a time zone, or every so long. What comes next is decided here; nothing reads a clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "flow/error.hpp"
#include "flow/time.hpp"
#include "src/time_zone.hpp"

namespace flow::detail {

/// Five fields: minute, hour, day of the month, month, day of the week. Rules as Debian's cron (crontab(5)): lists, ranges, steps, names of
/// months and days; where both days are restricted, either is enough.
class cron {
public:
    /// bad_argument: a sentence that names the field and what it takes.
    static outcome<cron> parse(std::string_view text);

    /// The first instant after `t`; nothing: none within 41 years ("30 2 30 2 *").
    ///
    /// When clocks go forward, what would have come in the hour that is left out comes at its end; when they go back, what comes in the hour
    /// that is there twice comes in its first. An entry whose minutes or hours begin with `*` goes by elapsed time in both.
    std::optional<time_point> next(time_point t, time_zone const& zone) const;

private:
    bool has_day(local_minute m) const;
    bool has_minute(local_minute m) const;
    std::optional<time_point> next_elapsed(time_point t, time_zone const& zone) const;
    std::optional<time_point> next_on_the_clock(time_point t, time_zone const& zone) const;

    std::uint64_t minutes_ = 0;
    std::uint32_t hours_ = 0, days_ = 0;
    std::uint16_t months_ = 0;
    std::uint8_t weekdays_ = 0;
    bool by_elapsed_ = false, any_day_ = false, any_weekday_ = false;
};

/// The first instant after `t` on the grid of `length` that goes through the epoch and `offset`.
time_point next_on_grid(time_point t, duration length, duration offset) noexcept;

}  // namespace flow::detail
