// Time zones by their names in the IANA data of this machine. The one place that knows of Howard Hinnant's date library: std::chrono has
// time zones from GCC 14 on.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "flow/error.hpp"
#include "flow/time.hpp"

namespace flow::detail {

/// What a clock on a wall shows, to the minute, counted as if it were UTC.
using local_minute = std::chrono::time_point<std::chrono::local_t, std::chrono::minutes>;

class time_zone {
public:
    /// "" and "UTC" are known without data. bad_argument: there is no such zone here.
    static outcome<time_zone> find(std::string_view name);

    local_minute local(time_point t) const;
    /// The instant at which clocks show this; the first of two, and the end of the gap where they never do.
    time_point instant(local_minute m) const;

private:
    void const* zone_ = nullptr;  ///< date::time_zone, which lives as long as the process; null: UTC
};

}  // namespace flow::detail
