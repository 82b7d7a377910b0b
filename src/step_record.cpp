#include "src/step_record.hpp"

#include <algorithm>
#include <utility>

namespace flow::detail {

namespace {

void read_sub_step(step_record& r, journal_entry const& e)
{
    auto& open = r.unfinished;
    if (!open) {
        open = step_record::sub_step{e.name, {}, nullptr, 0};
        ++r.sub_steps;
    }
    switch (e.kind) {
    case entry_kind::attempt_failed:
        ++open->attempts_failed;
        if (auto p = read_payload<failure_payload>(e.payload); p && p->next_at) r.sub_next_at = time_point(duration(*p->next_at));
        return;
    case entry_kind::step:
        open->fate = e.why;
        break;
    case entry_kind::step_failed:
        open->fate = "failed";
        break;
    default:
        return;  // started
    }
    open->entry = &e;
    r.settled.push_back(*std::exchange(open, std::nullopt));
    r.sub_next_at.reset();
}

/// What settled the doubt says that it did not happen, or is undone.
bool may_run_again(step_record const& r)
{
    return std::any_of(r.settled.begin(), r.settled.end(), [](auto const& s) {
        return (s.name == "reconcile" && s.fate == "not_done") || (s.name == "compensate" && s.fate == "done");
    });
}

}  // namespace

step_record read_step(std::span<journal_entry const* const> entries, std::string_view place)
{
    using enum entry_kind;
    step_record r;
    for (auto const* e : entries) {
        if (e->place != place) {
            read_sub_step(r, *e);
            continue;
        }
        if (e->cls != effect::none) r.cls = e->cls;
        if (e->kind != decision) r.decided.reset();
        switch (e->kind) {
        case intent:
            if (std::exchange(r.threw_in_doubt, false) && may_run_again(r)) ++r.attempts_failed;
            r.attempts_begun = e->attempt;
            r.in_doubt = true;
            r.intent_at = e->at;
            r.next_at.reset();
            r.failed_for_good = false;
            r.settled.clear();
            r.begun = e->payload.empty() ? std::nullopt : read_payload<begun_payload>(e->payload);
            break;
        case started:
            r.failed_for_good = false;
            r.attempts_begun = std::max<int>(r.attempts_begun, e->attempt);
            if (auto look = e->payload.empty() ? std::nullopt : read_payload<look_payload>(e->payload)) {
                r.look = std::move(look);  // it looked, and was told "not yet": what failed before that is behind it
                r.attempts_begun = r.attempts_failed = 0;
                r.next_at.reset();
            } else if (auto begun = e->payload.empty() ? std::nullopt : read_payload<begun_payload>(e->payload)) {
                r.begun = std::move(begun);
                r.next_at.reset();
            }
            break;
        case attempt_failed: {
            r.begun.reset();
            r.attempts_begun = std::max<int>(r.attempts_begun, e->attempt);
            auto const p = read_payload<failure_payload>(e->payload);
            r.in_doubt = p && p->in_doubt.value_or(false);
            r.threw_in_doubt = r.in_doubt;
            bool const was_called = !p || !p->not_called.value_or(false);
            if (!r.in_doubt && was_called) ++r.attempts_failed;
            if (p) {
                if (was_called) r.last_error = from_payload(*p);
                r.next_at = p->next_at ? std::optional(time_point(duration(*p->next_at))) : std::nullopt;
                r.failed_for_good = !r.next_at && !r.in_doubt;
            }
            r.commit_ref = e->commit_ref;
            break;
        }
        case returned:
            r.returned = e;
            r.in_doubt = false;
            break;
        case intervention:
            r.open_intervention = read_payload<intervention_payload>(e->payload);
            break;
        case decision:
            r.open_intervention.reset();
            r.decided = read_payload<decision_payload>(e->payload);
            break;
        case step: case step_failed: case step_skipped: case abandoned: case override_:
            r.outcome = e;
            break;
        default:
            break;
        }
    }
    return r;
}

}  // namespace flow::detail
