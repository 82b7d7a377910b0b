// What a store writes when it acts for a run that nobody holds: decided here, once, by the tables of status.hpp.
//
// Pure: rows and the time go in, entries and new values come out. A store calls these inside its transaction, numbers
// the entries (seq, epoch), seals them and writes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "flow/rows.hpp"

#pragma GCC visibility push(default)

namespace flow::detail {

/// What to write to a run row, with the entries that say so (seq, epoch, hash and checksum still to be filled in).
struct plan {
    std::vector<journal_entry> entries;
    run_change change;
    time_point due_at{};  ///< of a run it queues: when that became due (P62)
    bool withdraw_waits = false;  ///< decide the run's pending waitpoints `withdrawn`; edges to what is decided stay, so
                                  ///< that who replays the run finds what was completed before (P42)
    seq_no snapshot = seq_no::none;  ///< of its snapshot entry, once numbered
};

/// Numbers and seals a plan's entries behind `last`; fills in `snapshot`. Returns the run's new last seq.
seq_no number(plan& p, run_id run, seq_no last, epoch_no epoch);
/// What a numbered plan makes of the run's row, which is that owner's from then on.
void change_row(run_row& row, plan const& p, epoch_no epoch, owner_id owner, time_point at);

/// Where a holder's group leads: each of its snapshot entries, by name, through the tables. Nothing if they refuse one.
std::optional<status_pair> follow(status_pair from, std::span<journal_entry const> entries);

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

/// Arguments and other payloads above this size go into a blob (P14).
inline constexpr std::size_t blob_threshold = 100'000;

/// A new run's row, before it has a number, and what `plan_start` says.
struct new_run_row {
    run_row row;
    flow::detail::plan plan;
};
new_run_row new_row(new_run const& what);

/// The start that made this run, said again under its key (P54)?
bool is_same_start(run_row const& there, new_run const& what);

/// A queued run is claimed by `owner`.
plan plan_claim(run_row const& row, owner_id owner, time_point now);
/// A run of a dead owner is taken over: `recovered` first where it was executing.
plan plan_take_over(run_row const& row, owner_id dead, owner_id owner, time_point now);
/// Its holder holds it, from what is stored: what it went on with since cannot be written (P9). Nothing if the tables refuse it.
std::optional<plan> plan_quarantine(run_row const& row, std::string why, time_point now);
/// A suspended run's wait is over, since `due`.
plan plan_unblock(run_row const& row, time_point due, time_point now);
/// A delayed run falls due.
plan plan_fall_due(run_row const& row, time_point now);

/// The deadline of a run that nobody holds has passed: one that has not begun has expired, another is cancelled and queued to clean up.
plan plan_deadline(run_row const& row, time_point now);

/// What a `cancel` request's payload is where a deadline asks.
inline constexpr std::string_view by_deadline = R"("deadline")";

/// What the entry of a request holds: its payload, else its id; nothing for what was not asked from outside.
std::string request_payload(request const& what);

/// A request to a run: what becomes of it. `plan` only with fate `taken`: then nobody holds the run, and the store writes
/// it and raises the epoch. With `left_to_holder` the store writes the mailbox row; otherwise nothing.
struct request_plan {
    request_fate fate;
    std::optional<flow::detail::plan> plan;
};
request_plan plan_request(run_row const& row, request const& what);

/// Is this a run that a wake row may call back: suspended, and not standing still at a person's wish or in doubt?
constexpr bool parks(status_pair s) noexcept
{
    return s.execution == execution_status::suspended && (s.run == run_status::waiting || s.run == run_status::cancelling);
}

/// Held with a question about itself (P47): nothing calls it back but the decision.
bool is_held_by_question(run_row const& row) noexcept;
/// How its reason begins in the store.
inline constexpr std::string_view question_reason = R"({"type":"intervention")";

/// The epoch such a plan is written under: raised, but for a run nobody has ever held, which stays "not begun".
epoch_no epoch_for_request(run_row const& row) noexcept;

}  // namespace flow::detail

#pragma GCC visibility pop
