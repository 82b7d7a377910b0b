// Limits of time as callers give them, up to milliseconds::max(), without overflow.
#pragma once

#include <chrono>

namespace flow::detail {

/// The instant a limit ends that begins now; the end of time for limits beyond a century.
inline std::chrono::steady_clock::time_point ends_after(std::chrono::milliseconds limit)
{
    if (limit > std::chrono::hours{24 * 365 * 100}) return std::chrono::steady_clock::time_point::max();
    return std::chrono::steady_clock::now() + limit;
}

}  // namespace flow::detail
