// Schedules: workflows that are started again and again, by cron or every so long. They live in the store and outlive every process.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "flow/error.hpp"
#include "flow/ids.hpp"
#include "flow/sleep.hpp"
#include "flow/status.hpp"
#include "flow/time.hpp"

#pragma GCC visibility push(default)

namespace flow {

/// When a schedule fires. A value; made by `cron` or `every`.
struct timing {
    std::string cron{};     ///< five fields; empty: every `length`
    std::string zone{};     ///< IANA name; empty: UTC
    duration length{};
    duration offset{};
    friend bool operator==(timing const&, timing const&) = default;
};

/// By five fields, minute, hour, day of the month, month, day of the week, as Debian's cron reads them (crontab(5)), in a time zone
/// ("Europe/Berlin"; data of this machine). When clocks go forward, what would have come in the hour left out comes at its end; when
/// they go back, once, in the first of both; an entry whose minutes or hours begin with `*` goes by elapsed time. Judged where it is used.
inline timing cron(std::string fields, std::string zone = "UTC") { return {std::move(fields), std::move(zone), {}, {}}; }

/// At whole multiples of `length` since 1970-01-01T00:00:00Z, and `offset` more: `every(1h, 5min)` is five past each hour, UTC. At least a
/// millisecond; the offset is shorter than that.
template <class Rep, class Period>
timing every(std::chrono::duration<Rep, Period> length, duration offset = {})
{
    return {{}, {}, detail::checked_duration(length), offset};
}

/// What happens when a firing falls due while the run of the one before it has not ended.
enum class overlap_policy : std::uint8_t {
    skip,        ///< it is left out
    buffer_one,  ///< one waits for that end and is fired then; more are left out
    allow,       ///< it is fired
};

/// What happens to firings that fell due while nobody could fire them: no engine ran, or the schedule was paused.
enum class catch_up_policy : std::uint8_t {
    one,   ///< the latest is fired, once, the others are left out; then back to the grid
    all,   ///< each is fired, oldest first
    none,  ///< those more than `grace` late are left out
};

/// A plain value; all defaults are usable.
struct schedule_options {
    overlap_policy overlap = overlap_policy::skip;
    catch_up_policy catch_up = catch_up_policy::one;
    /// For catch_up_policy::none: so late a firing still counts as in time. At least a second.
    duration grace = std::chrono::minutes{1};
    /// So many firings in all, backfilled ones too, over every restart and change; then the schedule ends. 0: no limit.
    std::uint64_t limit = 0;
    /// None after this instant; then the schedule ends.
    time_point until = never;
    /// Version of a workflow that is named: 0 is the newest registered by the engine that fires, 1 if it has none. Of a function it is the
    /// version that was added.
    std::uint32_t version = 0;
    /// Who makes or changes it, for the journal. Empty: the client's own name.
    std::string_view by{};
};

/// A schedule as it stands. It is a run of its own (`run`): pause, resume and cancel it as any other.
struct schedule_row {
    std::string name;
    run_id run{};
    status_pair status{};
    std::string workflow;
    std::string arguments;  ///< JSON
    timing when{};
    overlap_policy overlap{};
    catch_up_policy catch_up{};
    std::optional<time_point> next{};      ///< nothing: it has ended, or has not begun
    std::optional<time_point> last{};      ///< the newest instant that was fired
    std::optional<run_id> last_run{};      ///< the run of that
    bool buffered = false;                 ///< one waits for the end of last_run
    std::uint64_t fired = 0, left_out = 0;
    std::string trouble;                   ///< why the last firing started nothing, or a backfill was refused; empty: all is well
};

}  // namespace flow

#pragma GCC visibility pop
