// The entries of resources: one where it was opened, and one for each time the run left memory.
#pragma once

#include <string_view>

#include "flow/journal.hpp"

namespace flow::detail {

/// shape_in of the entries behind the first. Replay passes over them: only the newest is read.
inline constexpr std::string_view snapshot_mark = "snapshot";
bool is_snapshot(journal_entry const& e) noexcept;

}  // namespace flow::detail
