// What becomes of a waitpoint: decided here for every store, written by them under their locks.
#pragma once

#include "flow/detail/scope.hpp"
#include "flow/rows.hpp"

#pragma GCC visibility push(default)

namespace flow::detail {

/// What a completion from outside finds; `completed`: it may be written.
completion_answer judge(waitpoint_row const& w, completion const& what);

/// The waitpoint, once it is written.
waitpoint_row completed_by(waitpoint_row w, completion const& what);

/// A waitpoint of a run's that somebody outside completes, as it is inserted.
waitpoint_row token_row(run_id run, waitpoint_id id, position const& at, std::string_view name, std::string_view shape, bool strict, time_point now);

/// A timer of a run's, as it is inserted.
waitpoint_row timer_row(run_id run, waitpoint_id id, std::string_view name, std::string_view place, time_point due_at, time_point now);

/// A timer that falls due is completed; everything else times out.
waitpoint_status fate_when_due(waitpoint_type type) noexcept;

}  // namespace flow::detail

#pragma GCC visibility pop
