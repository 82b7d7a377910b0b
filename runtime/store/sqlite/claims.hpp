// Taking a queued run, inside a write transaction.
#pragma once

#include <vector>

#include "flow/store.hpp"
#include "runtime/store/sqlite/connection.hpp"

namespace flow::sqlite_detail {

/// Is this run of a workflow that is asked for?
bool wants(claim_request const& what, run_row const& row);

/// The run is the owner's from now on.
claimed take(connection& c, run_row row, claim_request const& what);

/// After a COMMIT without an answer: what was taken in it is still there.
bool stands(connection& c, std::vector<claimed> const& taken);

}  // namespace flow::sqlite_detail
