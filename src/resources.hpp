// The entries of resources: one where it was opened, and one for each time the run left memory.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "flow/journal.hpp"
#include "src/payloads.hpp"

namespace flow::detail {

/// resource: the snapshot, JSON in JSON; or why there is none.
struct resource_payload {
    std::optional<std::string> snapshot;
    std::optional<failure_payload> refused;
};

/// shape_in of the entries behind the first. Replay passes over them: only the newest is read.
inline constexpr std::string_view snapshot_mark = "snapshot";
bool is_snapshot(journal_entry const& e) noexcept;

}  // namespace flow::detail
