// Wait policies: what the waits of runs may take and what their end does, as data beside the code. They are loaded, changed and rolled back
// while runs wait: client::set_wait_policies. Mechanism AT-21; protocol P40.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flow/retry.hpp"
#include "flow/time.hpp"
#include "flow/token.hpp"

#pragma GCC visibility push(default)

namespace flow {

/// What is done where a wait has taken too long.
enum class timeout_action : std::uint8_t {
    escalate,        ///< others are asked as well, and the wait goes on
    expire,          ///< a question: as question::expires
    fail,            ///< the await throws flow::wait_timeout
    cancel_tool,     ///< a step that ends elsewhere: its attempt fails with step_timeout, and engine::heartbeat says false
    default_answer,  ///< a question: what its otherwise() says counts; passed over where it says nothing
};

/// One of the things done, in their order. A plain value.
struct timeout_rule {
    timeout_action action = timeout_action::fail;
    /// Of `escalate`: who may answer from then on besides those who were asked.
    std::vector<std::string> to{};
    /// Of `escalate`: where it is to be shown from then on; empty: where it was.
    std::string channel{};
    /// Of `escalate`: the next rule applies so much later. Unset: as long as the time-out was.
    wait_limit lasts{};
};

/// Of one type of wait. What the code says of a wait itself goes before it: with a limit of the code's own nothing is escalated.
struct wait_policy {
    /// The run may leave memory while it waits, and its ownership is given back. false: it stays with its engine.
    bool release_compute = true;
    /// What the run holds (flow::resource) is kept as a snapshot while it is away. false: while it holds something it stays.
    bool snapshot = true;
    /// The wait may go on in another process. false: the run stays, and if its engine ends the await throws flow::error(resource_lost).
    bool resumable = true;
    /// After so long somebody should look why it still waits: shown (`flow show`, client::late_runs), never acted on.
    wait_limit sla{};
    /// After so long `on_timeout` begins. Unset: after `sla` if there are rules, else never.
    wait_limit timeout{};
    /// Of a tool, where begin_options gives none.
    time_span heartbeat{};
    /// In their order; none: `fail`. If the last one escalates, the wait goes on without limit.
    std::vector<timeout_rule> on_timeout{};
};

/// By what wait_reason says of a wait. Unset: what the code says is all.
struct wait_policies {
    std::optional<wait_policy> approval{};  ///< flow::ask, but for values
    std::optional<wait_policy> input{};     ///< flow::ask with ask_subject::input
    std::optional<wait_policy> tool{};      ///< flow::begin_step
    std::optional<wait_policy> external{};  ///< tokens, events
};

/// Reads what `to_json` writes; docs/guide/wait_policies.md shows it. Throws flow::error: bad_payload, no JSON; wrong_shape, naming the member;
/// bad_argument, naming the policy and what it cannot say.
wait_policies parse_wait_policies(std::string_view json);
std::string to_json(wait_policies const& all);

/// A version of them as it is stored: each change makes another, and none is ever changed.
struct stored_wait_policies {
    std::uint32_t version = 0;  ///< from 1; 0: none were ever set
    wait_policies policies{};
    std::string by, why;
    time_point at{};
};

/// A plain value.
struct policy_change {
    std::string_view by{};  ///< empty: the client's
    std::string_view why{};
};

}  // namespace flow

#pragma GCC visibility pop
