// Whether today's code replays a held run: tried without writing anything (P19, P41).
#pragma once

#include "flow/detail/body.hpp"
#include "flow/store.hpp"
#include "src/run.hpp"

namespace flow::detail {

/// Whether a retry would change anything: the body reaches the end of what is recorded, or is held for another reason than `so_far`.
bool worth_retrying(loaded_run loaded, workflow_functions const& functions, run_settings const& settings, store& s, clock const& c,
                    std::string_view so_far);

}  // namespace flow::detail
