// What workers say they execute, and what becomes of a run whose version nobody has any more (P47).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flow/rows.hpp"
#include "src/plans.hpp"

#pragma GCC visibility push(default)

namespace flow::detail {

/// As stores keep it: a line each, `2 weekly_report`.
std::string announced_text(std::span<workflow_version const> all);
std::vector<workflow_version> read_announced(std::string_view text);

/// What the name of the `void` entry says where a run begins anew under another version: answers of `patched` go with the rest.
inline constexpr std::string_view by_version_policy = "version";

/// A run claimed for judgement: its version is nowhere, `newest` is here. If nothing but replayable steps has begun it begins anew in place,
/// same keys, under the newest; else it is held (`no_version`), or ends if it was being cancelled. Either way it is given back.
plan plan_missing_version(loaded_run const& run, std::uint32_t newest, time_point now);

}  // namespace flow::detail

#pragma GCC visibility pop
