// What a store writes when it acts for a run that nobody holds: decided here, once, by the tables of status.hpp.
//
// Pure: rows and the time go in, entries and new values come out. A store calls these inside its transaction, numbers
// the entries (seq, epoch), seals them and writes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "flow/store.hpp"

namespace flow::detail {

/// What to write to a run row, with the entries that say so (seq, epoch, hash and checksum still to be filled in).
struct plan {
    std::vector<journal_entry> entries;
    run_change change;
    bool withdraw_waits = false;  ///< decide the run's pending waitpoints `withdrawn`, remove its edges and wake rows
};

/// The snapshot entry of one status change. `previous` is the seq of the snapshot before it.
journal_entry snapshot_entry(status_pair to, status_event on, seq_no previous, std::string reason, std::string why,
                             std::string by, time_point at);

/// Both statuses as a snapshot entry's payload holds them.
struct snapshot_payload {
    status_pair status;
    seq_no previous = seq_no::none;
    std::string reason;  ///< wait_reason as JSON
};
std::optional<snapshot_payload> read_snapshot(journal_entry const& e);

/// The first two entries of a run: `start` with its arguments, and the snapshot. status: queued, or delayed until due_at.
plan plan_start(new_run const& what);

/// A queued run is claimed by `owner`.
plan plan_claim(run_row const& row, owner_id owner, time_point now);
/// A run of a dead owner is taken over: `recovered` first where it was executing.
plan plan_take_over(run_row const& row, owner_id dead, owner_id owner, time_point now);
/// A suspended run's wait is over.
plan plan_unblock(run_row const& row, time_point now);
/// A delayed run falls due.
plan plan_fall_due(run_row const& row, time_point now);

/// A request to a run: what becomes of it. `plan` only with fate `taken`: then nobody holds the run, and the store writes
/// it and raises the epoch. With `left_to_holder` the store writes the mailbox row; otherwise nothing.
struct request_plan {
    request_fate fate;
    std::optional<flow::detail::plan> plan;
};
request_plan plan_request(run_row const& row, request const& what);

}  // namespace flow::detail
