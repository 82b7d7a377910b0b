// What people answer to a run's question (flow::ask), and what it may ask: the rows of the stores, as values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flow/ids.hpp"
#include "flow/status.hpp"
#include "flow/time.hpp"

#pragma GCC visibility push(default)

namespace flow {

// Stored by name: what is asked of people.
enum class ask_subject : std::uint8_t {
    approval,      ///< may this be done?
    input,         ///< a value is wanted
    arbitration,   ///< one of several ways
    confirmation,  ///< is this so?
};
// Stored by name: what the end of the deadline does.
enum class on_deadline : std::uint8_t {
    fail,            ///< the await throws flow::wait_timeout
    expire,          ///< it throws request_expired; a run that ends with it has expired (approval)
    default_answer,  ///< the answer given beforehand counts
};

/// A question as it is stored with its waitpoint.
struct question_terms {
    ask_subject subject = ask_subject::approval;
    std::string text;
    std::vector<std::string> choices;    ///< of an arbitration: what a value may be
    std::vector<std::string> assignees;  ///< who may answer; empty: everybody
    std::uint32_t needed = 1;            ///< so many must agree; one who rejects decides
    std::string channel;                 ///< where it is to be shown: "mail", "desk"; for programs that show it
    std::optional<time_point> sla_at;    ///< when somebody should look why it is still open
    on_deadline at_deadline = on_deadline::fail;
    std::optional<bool> default_approves;
    std::string default_value;           ///< JSON; empty: none
    std::string about;                   ///< JSON of what exactly is decided on; empty: nothing
    std::string about_hash;              ///< SHA-256 of that, 64 hexadecimal digits
    std::optional<std::vector<escalation>> escalations{};  ///< who may answer as well, and from when on
    /// SHA-256 of the secrets of `assignees` and of whom it may be escalated to, in their order, 64 hexadecimal digits each (question::secrets). None: they have no secrets, or
    /// everybody is asked, by the one secret of waitpoint_row::secret_hash.
    std::optional<std::vector<std::string>> secret_hashes{};
};

/// One person's answer. Who it is says the caller's identity, never the value.
struct response {
    waitpoint_id to;
    std::optional<digest> secret_hash;  ///< of the secret shown, which must be that of `by`; none: an operator
    std::string by;                     ///< never empty
    bool approves = true;
    std::string value;                  ///< JSON; empty: none
    std::string why;
    std::optional<digest> about;        ///< of what the answerer saw (question_terms::about_hash)
    time_point at{};
};

enum class response_answer : std::uint8_t {
    decided,          ///< with it the question is decided
    counted,          ///< more are needed
    already_same,     ///< this person answered so before; nothing was written
    already_other,    ///< this person answered otherwise before
    decided_before,   ///< by others
    timed_out, withdrawn,
    unknown,          ///< no such question
    wrong_secret,     ///< nobody's, or not that of who answers
    not_asked,        ///< none of those who may answer
    other_arguments,  ///< it is about something else than the answerer saw
    not_a_choice,     ///< its value is not what the question wants
};
struct responded {
    response_answer answer = response_answer::unknown;
    bool approved = false;      ///< of `decided`
    std::size_t needed = 0;     ///< of `counted`: so many more
};

}  // namespace flow

#pragma GCC visibility pop
