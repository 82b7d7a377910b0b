// Whether today's code replays a held run: tried without writing anything (P19, P41).
#pragma once

#include "flow/detail/body.hpp"
#include "flow/store.hpp"
#include "src/run.hpp"

namespace flow::detail {

/// True: the body reaches the end of what is recorded without a mismatch.
bool would_go_on(loaded_run loaded, workflow_functions const& functions, run_settings const& settings, store& s, clock const& c);

}  // namespace flow::detail
