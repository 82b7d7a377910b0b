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

/// What is known about a run that is judged, besides what is stored of it.
struct version_facts {
    std::uint32_t newest = 0;   ///< the version of its workflow that is here
    bool here = false;          ///< its own version is here too
    uuid fresh;                 ///< for a question's waitpoint
    std::string by;             ///< who judges
    time_point now{};
};

/// What its owner writes for such a run. It is given back by it, or ends.
struct version_judgement {
    flow::detail::plan plan;
    std::vector<row_effect> effects;
};

/// A run claimed by an engine that has not its version, after nobody had it for long; or one that has the version, where there is still
/// a question open. If nothing but replayable steps has begun it begins anew in place, same keys, under the newest. Else a person is
/// asked: wait for the version, adopt the newest, restart with it, fail or cancel the run. One that was being cancelled ends.
version_judgement judge_version(loaded_run const& run, version_facts const& facts);

/// Is there such a question, not settled yet?
bool asks_about_version(std::vector<journal_entry> const& entries);

}  // namespace flow::detail

#pragma GCC visibility pop
