// Children and their parents: ids, the waitpoint of a child's end and what it is completed with, what a parent's end asks. Decided here
// once, written by every store in the transaction of what it follows from.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "flow/rows.hpp"

#pragma GCC visibility push(default)

namespace flow::detail {

/// The id of the child that is started at this place: the same whenever that is done again (P2, P5).
run_id child_id(run_id parent, std::uint32_t segment, std::string_view place);

/// As it is inserted: pending, owned by the parent.
waitpoint_row end_waitpoint(start_child const& what);

/// May a run that is there be taken for the child that is to be started?
bool is_that_child(run_row const& there, start_child const& what) noexcept;

/// What the waitpoint of a run's end is completed with.
struct run_result {
    std::string output;  ///< its result, or its failure as its journal has it
    encoding how = encoding::json;
    bool is_error = false;
};
/// `last`: the entries written with its end. `row`: as it is then.
run_result result_of_run(std::span<journal_entry const> last, run_row const& row);

/// The request that closes a child: the same however often it is asked. `ended`: the parent has.
request close_request(run_id child, run_id parent, bool ended, time_point now);

/// Does this policy make it? `ended`: the parent has, else a cancel of it, or of a branch, was taken.
constexpr bool closes(close_policy p, bool ended) noexcept
{
    return p == close_policy::cancel || (p == close_policy::request_cancel && ended);
}

/// A completed waitpoint says that its child was cancelled.
bool is_cancelled_child(waitpoint_row const& w);

/// What its parent sees of a child that failed: the whole path. `place`: of the wait.
error_detail failure_of_child(run_id child, waitpoint_row const& w, std::string_view place);

}  // namespace flow::detail

#pragma GCC visibility pop
