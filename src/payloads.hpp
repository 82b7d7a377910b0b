// The payloads of the entries the library itself writes and reads, as JSON (docs/reference/journal_format.md).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flow/error.hpp"
#include "flow/ids.hpp"
#include "flow/time.hpp"
#include "src/wait_policy.hpp"

namespace flow::detail {

/// attempt_failed, step_failed, wait_failed, failure.
struct failure_payload {
    std::string code, tag, message, place;
    std::uint16_t attempts = 0;
    std::optional<std::int64_t> next_at;  ///< microseconds: when the next attempt begins
    std::optional<bool> in_doubt;         ///< it is not known whether it happened
    std::optional<bool> not_called;       ///< the engine ended before the function was called: no failure
};
failure_payload to_payload(error_detail const& e);
error_detail from_payload(failure_payload const& p);

/// wait: the waitpoint stood on, and until when.
struct wait_payload {
    waitpoint_id waitpoint;
    std::optional<std::int64_t> due_at;
    bool made_here = false;  ///< the token was made with the wait
    std::optional<waitpoint_id> timer;  ///< falls due with this wait, where the token lives longer
    std::optional<wait_terms> policy;   ///< as it was when the wait was registered (P40)
};

/// child: the run that was started, or why it was not.
struct child_payload {
    run_id run;
    std::string on_close;  ///< by name
    std::optional<failure_payload> refused;
};

/// resource: the snapshot, JSON in JSON; or why there is none.
struct resource_payload {
    std::optional<std::string> snapshot;
    std::optional<failure_payload> refused;
};

/// intervention; also the waitpoint's options.
struct intervention_payload {
    waitpoint_id waitpoint;
    std::string question;
    std::vector<std::string> choices;
    std::string step, output_shape, error;
    std::uint16_t attempt = 0;
    std::optional<std::int64_t> intent_at;
    std::string input_hash, commit_ref;
    std::optional<std::uint32_t> version;  ///< that it is about: what `adopt` and `restart` go on with
};

/// decision: what a person chose; also the answer to an intervention's waitpoint.
struct decision_payload {
    std::string choice;
    std::optional<std::string> output;  ///< encoded, for `complete`
};

struct due_payload {
    std::int64_t due_at = 0;
    std::optional<waitpoint_id> waitpoint;
};

/// started, of a step that is called until it says yes.
struct look_payload {
    std::optional<std::int64_t> limit_at;   ///< microseconds: then it looks for the last time
    std::uint32_t looks = 0;                ///< made so far
    std::optional<std::int64_t> next_at;    ///< it stands on a timer until its next look
    std::optional<waitpoint_id> waitpoint;  ///< that timer
};

/// intent or started, of a step that ends elsewhere: its attempt was begun; and once more where nobody completes it any more.
struct begun_payload {
    waitpoint_id token;
    std::optional<std::int64_t> limit_at;  ///< microseconds: then it is too late
    std::optional<std::string> over;       ///< why nobody can complete it
    std::optional<std::int64_t> heartbeat_ms;  ///< that the policy asks for
    std::optional<wait_terms> policy;      ///< as it was when it was begun (P40)
};

/// void: the first entry that no longer counts. `places` is empty: all from there on.
struct void_payload {
    std::int64_t from = 0;
    std::vector<std::string> places;
};

template <class T>
std::string write_payload(T const& p);
template <class T>
std::optional<T> read_payload(std::string_view text);

}  // namespace flow::detail
