// One row of a run's journal, the only history there is. Format: docs/reference/journal_format.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flow/ids.hpp"
#include "flow/time.hpp"

#pragma GCC visibility push(default)

namespace flow {

/// What may happen when a step's function is called again. Journaled: append at the end, never renumber.
enum class effect : std::uint8_t {
    none,            ///< not a step
    replayable,      ///< no effect outside: may run again at any time
    idempotent,      ///< repeating with the same key does no harm
    non_replayable,  ///< repeating may do harm: never run again without knowing
};

/// How a payload is written. Journaled: append at the end, never renumber.
enum class encoding : std::uint8_t { none, json, binary, bytes };

/// Journaled: append at the end, never renumber.
enum class entry_kind : std::uint8_t {
    start = 1,            ///< first of all: payload is the arguments
    snapshot = 2,         ///< both statuses changed; name is the event, payload the statuses, why a sentence
    intent = 3,           ///< a non_replayable call is about to be made
    started = 4,          ///< an attempt is still running after one second (P23)
    attempt_failed = 5,   ///< an attempt failed; payload the error and when the next begins
    step = 6,             ///< a step's outcome: its output
    step_failed = 7,      ///< a step's outcome: an error
    step_skipped = 8,     ///< a step's outcome: skipped by a decision
    returned = 9,         ///< the function returned, its output could not be stored (P28)
    value = 10,           ///< now, uuid, random: payload is what was drawn
    sleep = 11,           ///< a sleep began: payload is its due instant
    woken = 12,           ///< and ended
    token = 13,           ///< a token was made: payload is its id
    wait = 14,            ///< a wait began: payload names waitpoint and time limit
    waited = 15,          ///< and ended with the value in payload
    wait_failed = 16,     ///< and ended with an error: timed out, withdrawn
    intervention = 17,    ///< a person has to decide: payload says why, and the choices
    decision = 18,        ///< and decided: payload is the choice; by and why
    request = 19,         ///< a request was taken: name is its kind
    cancel_delivered = 20,///< the cancel was thrown at this operation
    recovered = 21,       ///< taken over from a dead owner while executing (P55)
    healed = 22,          ///< a damaged payload was made again, with the same hash (P27)
    void_ = 23,           ///< what stands recorded for the places in payload no longer counts
    override_ = 24,       ///< a place's outcome was set by a person
    abandoned = 25,       ///< a non_replayable step in doubt was given up (P16)
    result = 26,          ///< the run's end: payload is its result
    failure = 27,         ///< the run's end: payload is its error
    group = 28,           ///< a group ended for the branches it had no use for any more
    patch = 29,           ///< `patched` answered: payload says what
    checkpoint = 30,      ///< begins a segment: payload is the state
    continued = 31,       ///< begins a segment: payload is the new arguments
    event = 37,           ///< a wait for an event ended: payload is its value, commit_ref its id
    resource = 42,        ///< a resource was opened, or (shape_in `snapshot`) its run left memory: payload is its snapshot
    // The next issues fill these; they have their numbers now.
    child = 32, child_ended = 33, published = 34,
    phase = 35, sent = 36, budget = 38, evidence = 39, fact = 40, plan = 41,
};

std::string_view to_string(entry_kind k) noexcept;
std::string_view to_string(effect e) noexcept;
std::string_view to_string(encoding e) noexcept;

/// A value; owns its texts.
struct journal_entry {
    seq_no seq{};
    epoch_no epoch{};
    std::uint32_t segment = 0;
    entry_kind kind{};
    effect cls = effect::none;
    flow::encoding encoding = flow::encoding::none;
    bool in_blob = false;         ///< the payload lies in the blob named by `hash`
    std::uint16_t attempt = 0;
    std::string path;             ///< positions, `4.0.1`; empty: an entry about the run, not about an operation
    std::string place;            ///< names, `all#0.1/charge#2`
    std::string name;
    std::string shape_in, shape_out;
    std::string payload;
    digest hash;                  ///< SHA-256 of the payload; none where there is none
    digest input_hash;            ///< of the declared inputs; none where none are declared (P51)
    std::string commit_ref;
    std::string by, why;
    time_point at{};
    std::uint64_t checksum = 0;   ///< XXH3 over all columns but payload (which `hash` covers) and itself

    friend bool operator==(journal_entry const&, journal_entry const&) = default;
};

/// What `checksum` must be: XXH3_64 over a length-prefixed encoding of the columns, the run by its UUID.
std::uint64_t checksum_of(journal_entry const& e, run_id run);

/// Fills `hash` and `checksum`. Call it last: every column counts.
void seal(journal_entry& e, run_id run);

}  // namespace flow

#pragma GCC visibility pop
