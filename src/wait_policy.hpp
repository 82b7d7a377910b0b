// What a wait policy means for one wait: decided when the wait is registered and kept with it, whatever the policies become (P40).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "flow/responses.hpp"
#include "flow/status.hpp"
#include "flow/wait_policy.hpp"
#include "flow/workflow.hpp"

namespace flow::detail {

/// The workflow whose runs are the versions of the policies (docs/decisions/wait-policies.md).
inline constexpr char const* policies_workflow = "flow.wait_policies";
workflow<void> wait_policies_version(std::string document);

/// Throws flow::error(bad_argument).
void check_wait_policies(wait_policies const& all);

/// Stored by name. May a run leave memory while it stands on this wait?
enum class parting : std::uint8_t { freely, without_resources, never };

/// What is journaled with the wait where a policy, or a limit of the code's own, says more than until when it lasts.
struct wait_terms {
    std::uint32_t policy = 0;  ///< the version that said so
    std::optional<time_point> sla_at;
    parting leaves = parting::freely;
    bool resumable = true;
    std::vector<escalation> escalations;
    friend bool operator==(wait_terms const&, wait_terms const&) = default;
};

/// What the code says of a wait.
struct code_terms {
    wait_limit timeout{}, sla{};
    std::optional<on_deadline> then{};
    bool has_default = false;
};

struct planned_wait {
    time_point due_at = never;
    std::optional<on_deadline> then;
    time_span heartbeat{};
    wait_terms terms;
};

/// `known`: null where there are no policies.
planned_wait plan_wait(stored_wait_policies const* known, wait_reason::kind type, code_terms const& code, time_point now);

/// An instant so long after now; `never` for no limit.
time_point limit_from(time_point now, wait_limit limit) noexcept;

/// Into the reason that is shown.
void tell(wait_reason& reason, wait_terms const& terms);

}  // namespace flow::detail
