// I1 to I6 of the field cases: what must hold of a store's rows at any time, whatever happened before.
#pragma once

#include <span>

#include "flow/store.hpp"

namespace flow::test {

/// Checks all runs of the store; a violation fails the test and names the run. `now`: for what must have been woken.
void check_invariants(store& s);
/// The same of these runs alone.
void check_invariants(store& s, std::span<run_id const> runs);

}  // namespace flow::test
