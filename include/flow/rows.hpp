// What stores keep and are given: rows, a holder's groups, what others write. Values, without a store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "flow/error.hpp"
#include "flow/events.hpp"
#include "flow/ids.hpp"
#include "flow/journal.hpp"
#include "flow/status.hpp"
#include "flow/time.hpp"

#pragma GCC visibility push(default)

namespace flow {

/// Who changes something: "alice", "robot-7". Recorded with what it changed.
struct actor {
    std::string name;
};

/// A run's row. It changes only when a status changes (P12); progress is read from the journal.
struct run_row {
    run_id id;
    std::int64_t num = 0;  ///< dense, the store's own; never exported, never in a key or checksum
    std::string tenant, key, workflow;
    std::uint32_t version = 1;
    std::string queue, tags;
    std::int32_t priority = 0;
    std::optional<run_id> parent;
    time_point created_at{};
    time_point due_at{};  ///< of a delayed run: when its start is due; else when it last became due, its place in the queue (P62)
    time_point deadline_at = never;
    time_point changed_at{};  ///< of the last status change
    status_pair status;
    std::string terminal_reason;
    std::string reason;  ///< wait_reason as JSON, "" for none
    seq_no snapshot = seq_no::none;  ///< seq of the newest snapshot entry: the run's `version`
    epoch_no epoch{};
    owner_id owner = owner_id::nobody;
    digest args_hash;
};

// Stored: append at the end, never renumber.
enum class waitpoint_type : std::uint8_t { datetime, manual, run, event };
// Stored: append at the end, never renumber. Completed, timed_out and withdrawn are final; the first wins (P35).
enum class waitpoint_status : std::uint8_t { pending, completed, timed_out, withdrawn };
// Stored: what a manual waitpoint is for; only this decides who may complete it.
enum class waitpoint_purpose : std::uint8_t { timer, token, intervention, approval, child, event };

std::string_view to_string(waitpoint_type t) noexcept;
std::string_view to_string(waitpoint_status s) noexcept;
std::string_view to_string(waitpoint_purpose p) noexcept;

struct waitpoint_row {
    waitpoint_id id;
    run_id run;  ///< whose body made it
    waitpoint_type type = waitpoint_type::manual;
    waitpoint_purpose purpose = waitpoint_purpose::token;
    waitpoint_status status = waitpoint_status::pending;
    std::string name, place;
    std::string idempotency_key;   ///< unique among the run's waitpoints if not empty
    std::string correlation;       ///< with the name, which is its topic: the events that complete it
    std::string shape;             ///< what it must be completed with (P53)
    digest secret_hash;            ///< SHA-256 of the token's secret, or of the one of a question to everybody; none: it has no such secret
    time_point due_at = never;     ///< falls due: a timer completes, everything else times out
    time_point created_at{}, completed_at{};
    std::string output;            ///< JSON
    flow::encoding output_encoding = flow::encoding::none;
    bool output_is_error = false;
    std::string by, why;           ///< who completed it
    std::string options;           ///< JSON: what an intervention offers, a token's options
};

// Stored: append at the end, never renumber.
/// What the end of a parent means for a child that has not ended. See flow::start_run.
enum class close_policy : std::uint8_t {
    cancel,          ///< cancelled with the part of the parent that started it: a branch given up, a cancel taken, at the latest the parent's end
    abandon,         ///< it goes on
    request_cancel,  ///< cancelled when the parent has ended, and not before
    detached,        ///< a run of its own: nobody waits for it, and nothing of its parent reaches it
};
std::string_view to_string(close_policy p) noexcept;

/// A run's child, as one looks at it.
struct child_row {
    run_row run;
    close_policy on_close = close_policy::cancel;
};

struct new_run {
    run_id id;
    std::string tenant, key;  ///< (tenant, key) is unique; key "" is no key
    std::string workflow;
    std::uint32_t version = 1;
    bool version_given = false;  ///< only then it counts in "the same start" (P54)
    std::string arguments;       ///< encoded; equal bytes are the same start
    flow::encoding encoding = flow::encoding::json;
    std::string arguments_shape;
    std::string queue, tags;
    std::int32_t priority = 0;
    time_point due_at{}, deadline_at = never;
    std::string by, why;
    time_point at{};
    std::optional<run_id> parent{};  ///< of a child (start_child); its start entry says who in `by`
    std::optional<event> first{};    ///< told to the run this start makes or finds, in the same transaction
};

// ---- what the holder of a run writes ------------------------------------------------------------------------------

/// Inserts a waitpoint of this run. Inserting an id that is there already is a programming error. For one that waits for an event the
/// store looks in the inbox first (P36): what is kept for it, the oldest that fits, completes it, as `decided` says for its edge.
struct insert_waitpoint {
    waitpoint_row row;
};
/// This run is blocked by that waitpoint. Inserting the same edge twice leaves one (TD-03). If the waitpoint is decided already,
/// the answer says so (`decided`), and a wake row is written with it (P35).
struct add_edge {
    waitpoint_id waitpoint;
    std::string path, place;
};
/// Decides a waitpoint: completed (a timer that fell due), timed_out, withdrawn; removes this run's edge and wake row.
/// If it is decided already, the whole group is answered `superseded` and nothing is written (P37).
struct decide_waitpoint {
    waitpoint_id waitpoint;
    waitpoint_status fate;
};
/// This run no longer waits on a waitpoint that stays open for others: removes its edge. If the waitpoint is decided already, the
/// group is answered `superseded` and nothing is written.
struct leave_waitpoint {
    waitpoint_id waitpoint;
};
/// The event that has completed this wait, and that the run has not taken, is kept as before, for whoever else waits for it or comes to: removes
/// this run's edge and wake row. The waitpoint stays completed. Topic and correlation are the wait's.
struct return_event {
    waitpoint_id waitpoint;
    std::string topic, correlation;
};
/// The outcome of a decided waitpoint is consumed by this group: removes this run's edge and wake row. If it was an event, that is taken by
/// the entry at position `entry` of this group's entries.
struct take_waitpoint {
    waitpoint_id waitpoint;
    std::size_t entry = 0;
};
/// A request in the mailbox became the entry at position `entry` of this group's entries.
struct take_request {
    request_id request;
    std::size_t entry;
};
/// A damaged payload of an earlier entry of this run is put back under its own hash (P11): the only rewriting there is. The row
/// keeps all else; nothing is written if `payload` does not hash to what the row says.
struct put_back {
    seq_no seq{};
    std::string payload;
};
/// Starts a child of this run, in the transaction of the entry that says so: its row, `start` entry and first snapshot as store::start
/// writes them, its row among the parent's children, and, unless it is detached, the waitpoint of its end (end_of), which the parent owns.
/// A child of this run that is there already under this id is found again, and nothing is written for it. If another run has the id, or the
/// key, the whole group is answered `superseded` with that run (`taken`), and nothing is written. An edge to its end comes in a later group.
struct start_child {
    new_run run;
    close_policy on_close = close_policy::cancel;
    std::string place;  ///< where the parent started it
};
/// Asks those of this run's children that have not ended, and whose policy is `cancel`, to cancel: all, or those named. Each is asked once.
struct close_children {
    std::vector<run_id> only{};
};
using row_effect = std::variant<insert_waitpoint, add_edge, decide_waitpoint, leave_waitpoint, return_event, take_waitpoint, take_request, put_back,
                                start_child, close_children>;

/// The waitpoint of a child's end: completed in the transaction in which the child ends, once, with its result or its failure.
waitpoint_id end_of(run_id child) noexcept;

/// New values for the run row; the group has the snapshot entry that says so.
/// A terminal status raises the epoch, frees the owner, withdraws the run's pending waitpoints, removes its edges and wake
/// rows and answers what lies in its mailbox with `ended_before`; completes the waitpoint of its end if it is a child; asks its children that
/// have not ended to cancel, if their policy is `cancel` or `request_cancel`.
/// `release` frees the owner and raises the epoch. If the mailbox has something for the run, or the run is to be suspended
/// `waiting` or `cancelling` and a waitpoint that blocks it is decided and not taken by this group, the group is answered `superseded` instead and nothing is written (P4, P36).
struct run_change {
    status_pair status;
    std::string terminal_reason;
    std::string reason;
    bool release = false;
    std::uint32_t version = 0;  ///< the workflow's version from now on (P21, P47); 0: as it is
};

/// One run's atomic mutation, fenced (P5). At least one entry; entries' seqs follow `after` without gaps.
struct group {
    run_id run;
    std::int64_t num = 0;
    epoch_no epoch{};
    seq_no after = seq_no::none;
    std::vector<journal_entry> entries;
    std::vector<row_effect> effects;
    std::optional<run_change> change;
};

enum class answer_kind : std::uint8_t {
    applied,
    fenced,       ///< another holder's epoch is the run's; nothing was written. Not an error
    gap,          ///< the seq it follows is not the run's last; nothing was written
    not_applied,  ///< a group of the same run before it was not applied
    superseded,   ///< a waitpoint was decided already, or a release found work; nothing was written
};
struct answer {
    answer_kind kind = answer_kind::applied;
    std::optional<waitpoint_row> superseded_by;  ///< the decided waitpoint; none: a release that found work
    std::vector<waitpoint_row> decided;          ///< of `add_edge`: those there was nothing to wait for
    std::optional<run_row> taken{};              ///< of `start_child`: the run that has its id or key
    bool others = false;                         ///< other runs were started, woken or asked: their holders should look
};

// ---- what everyone else writes --------------------------------------------------------------------------------------

enum class start_answer : std::uint8_t {
    started,
    existing,  ///< the same start under this key; also the same id tried again
    conflict,  ///< the key is used by a run of another workflow, other arguments or another version
};
struct started {
    start_answer answer;
    run_id id;
    run_row row;
    std::optional<delivered> first{};  ///< what became of new_run::first; nothing was told in a conflict
};

struct completion {
    waitpoint_id waitpoint;
    std::optional<digest> secret_hash;  ///< of the secret shown; none: an operator
    std::string output;
    flow::encoding encoding = flow::encoding::json;
    bool is_error = false;
    std::string by, why;
    time_point at{};
};
enum class completion_answer : std::uint8_t {
    completed,
    already_same,   ///< completed before with the same bytes; nothing was written, nobody is woken
    already_other,  ///< completed before with others; nothing was written
    timed_out, withdrawn,
    unknown,        ///< no such waitpoint
    wrong_secret,
    not_permitted,  ///< a timer or a child's end: nobody from outside completes it
};

// Stored: append at the end, never renumber.
enum class request_kind : std::uint8_t { cancel, resume, pause, raise, accept };
std::string_view to_string(request_kind k) noexcept;

struct request {
    request_id id;
    run_id run;
    request_kind kind = request_kind::cancel;
    std::string payload;
    std::string by, why;
    time_point at{};
};
// Stored: append at the end, never renumber.
enum class request_fate : std::uint8_t {
    left_to_holder,  ///< a row in the mailbox; the holder, or who takes over, takes it
    taken,           ///< acted on
    ended_before,    ///< the run ended first
    refused,         ///< the run's status does not allow it
    unknown_run,     ///< (answer only)
};
std::string_view to_string(request_fate f) noexcept;

/// What the holder finds for its runs.
struct woken {
    run_id run;
    waitpoint_row waitpoint;
};
struct mail {
    run_id run;
    request what;
};
using notice = std::variant<woken, mail>;

struct owner_info {
    std::string name;  ///< for people: program and machine
    std::int64_t pid = 0;
    time_point started_at{};
};

struct workflow_version {
    std::string workflow;
    std::uint32_t version = 1;
    friend auto operator<=>(workflow_version const&, workflow_version const&) = default;
};

struct claim_request {
    owner_id owner;
    std::span<workflow_version const> workflows;  ///< only runs of these
    std::size_t limit = 100;
    time_point now{};
};
struct claimed {
    run_row row;              ///< with its new epoch
    bool taken_over = false;  ///< from a dead owner
};

/// What came of completing a waitpoint on behalf of an owner.
struct completed {
    completion_answer answer = completion_answer::unknown;
    std::vector<claimed> runs;  ///< which waited for it, and are the owner's now
};

/// A run as its holder needs it to go on.
struct loaded_run {
    run_row row;
    /// In order; a payload in a blob is left out (P56). All of them, or once it has been closed by `checkpoint` or `continued`: the
    /// first (`start`), the newest `continued`, and all from the newest of the two kinds on. What is older is never read again.
    std::vector<journal_entry> entries;
    std::vector<waitpoint_row> waitpoints;  ///< those it has an edge to, and its pending ones
    std::vector<request> mailbox;        ///< what nobody has taken yet
};

}  // namespace flow

#pragma GCC visibility pop
