// Which engine holds a run.
#pragma once

#include <optional>
#include <string>

#include "flow/store_reader.hpp"
#include "runtime/cli/verbs.hpp"

namespace flow::cli {

/// Nothing if nobody holds it.
std::optional<owner_row> holder_of(session const& s, run_row const& row);
/// "alice@robot-7 (pid 4711)"; not escaped.
std::string holder_text(owner_row const& o);

}  // namespace flow::cli
