// What the journal says about one step: read once, when its body reaches it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "flow/journal.hpp"
#include "src/payloads.hpp"

namespace flow::detail {

struct step_record {
    journal_entry const* outcome = nullptr;  ///< the newest: step, step_failed, step_skipped, abandoned, override
    effect cls = effect::none;
    int attempts_begun = 0;   ///< the highest attempt number seen
    int attempts_failed = 0;  ///< of those, known to have failed
    bool in_doubt = false;    ///< the newest attempt may have happened
    bool threw_in_doubt = false;  ///< it threw; else a crash cut it off
    std::optional<error_detail> last_error;
    std::optional<time_point> next_at;  ///< when the next attempt may begin
    bool failed_for_good = false;       ///< decided, and not told to the body yet: its function had not let go
    std::optional<look_payload> look;   ///< of a poll: the newest that says how it stands
    std::optional<begun_payload> begun;  ///< of a step that ends elsewhere: its newest attempt, while nothing is known of its end
    std::optional<time_point> intent_at;
    std::string commit_ref;
    journal_entry const* returned = nullptr;  ///< it happened, its output could not be stored

    /// Its reconcile and compensate calls, in order: "done", "not_done", "unknown", "failed".
    struct sub_step {
        std::string name, fate;
        journal_entry const* entry = nullptr;
        int attempts_failed = 0;
    };
    std::vector<sub_step> settled;       ///< with a fate, since the newest attempt
    int sub_steps = 0;                   ///< begun in all: the next one's position
    std::optional<sub_step> unfinished;  ///< begun, or to be tried again
    std::optional<time_point> sub_next_at;

    std::optional<intervention_payload> open_intervention;
    std::optional<decision_payload> decided;  ///< the newest decision, if nothing came after it
};

step_record read_step(std::span<journal_entry const* const> entries, std::string_view place);

}  // namespace flow::detail
