// Time as flow keeps it, and where it comes from.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace flow {

using duration = std::chrono::microseconds;

/// An instant, UTC, to the microsecond. Journal and schema hold `time_since_epoch().count()` as int64:
/// 290,000 years either way, where `system_clock` on libstdc++ ends in the year 2262 (protocol P49).
using time_point = std::chrono::sys_time<duration>;

/// What the engine asks for the time. Tests hand in their own, so a wait of thirty days ends at once.
/// Implementations must be callable from any thread.
class clock {
public:
    virtual ~clock() = default;

    /// The wall clock: what is journaled, and what due instants are compared with. May jump either way.
    virtual time_point now() const = 0;

    /// Rises steadily and never jumps; its zero means nothing. Time-outs of attempts are counted in it.
    virtual duration steady() const = 0;
};

/// The machine's clocks. Lives for the whole program.
clock const& system_clock() noexcept;

/// The end of time: a wait without a limit, a due instant that never comes.
inline constexpr time_point never{duration::max()};

/// RFC 3339 in UTC with microseconds, `2026-11-30T09:10:34.000123Z`; `never` for `flow::never`.
std::string to_string(time_point t);

/// Reads what `to_string` writes (fraction optional). Throws flow::error(bad_argument) on anything else.
time_point parse_time(std::string_view text);

}  // namespace flow

#pragma GCC visibility pop
