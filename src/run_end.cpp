// How a run leaves its holder: held, cancelled, failed, succeeded; and the requests that lead there.
#include "src/run.hpp"

#include <algorithm>
#include <map>

#include "src/payloads.hpp"
#include "src/pending.hpp"
#include "src/plans.hpp"

namespace flow::detail {

void run::hold(std::string kind, std::string message)
{
    if (phase_ != phase::live) return;
    if (dry_) {
        would_be_held_by_ = std::move(message);
        phase_ = phase::over;
        return;
    }
    if (is_cancelling()) {  // its clean-up cannot be reached: it ends without
        return end_as_cancelled(" Its clean-up did not run: " + message);
    }
    phase_ = phase::leaving;
    host_.warn("run " + to_string(row_.id) + " is held (" + kind + "): " + message);
    wait_reason reason;
    reason.type = wait_reason::kind::code;
    reason.id = std::move(kind);
    reason.detail = message;
    reason.since = now();
    snapshot_resources(true);
    change(status_event::hold, reason, std::move(message));
    open_.change->release = true;
    submit_and_hold([this, kind = reason.id, message = reason.detail](struct superseded const* why) {
        if (why) after_mail_ = [this, kind, message] { hold(kind, message); };
    });
}

std::optional<std::string> run::secret_of(waitpoint_id w)
{
    auto secret = host_.outside()->secret_of(w);
    if (secret) return *std::move(secret);
    hold("store_key", secret.error().message());
    return std::nullopt;
}

// ---- requests and cancel --------------------------------------------------------------------------------------------------

void run::take(request const& r)
{
    // The mailbox is read again before what was read first is written: each request is taken once.
    if (!taken_mail_.insert(r.id).second) return;
    if (r.kind == request_kind::cancel) return take_cancel(r);
    auto e = make(entry_kind::request, {});
    e.name = to_string(r.kind);
    e.by = r.by;
    e.why = r.why;
    e.payload = request_payload(r);
    e.encoding = e.payload.empty() ? encoding::none : encoding::json;
    append(std::move(e));
    add(take_request{r.id, open_.entries.size() - 1});
    submit();
    if (r.kind == request_kind::pause) pausing_ = !is_cancelling();  // clean-up is not held up
    if (r.kind == request_kind::resume) pausing_ = false;
}

/// Standing still at a person's wish: the frame goes, and comes back by replay.
bool run::pause_if_idle()
{
    bool const idle = calls_.empty() && pendings_ == standing_.size() && !starting_branches_;
    if (!pausing_ || !idle || phase_ != phase::live || stopping_ || dry_ || answering_ || !may_stand_still()) return false;
    snapshot_resources(true);
    change(status_event::pause, parse_wait_reason(row_.reason), "Run was paused.");
    if (!open_.change) return pausing_ = false;
    open_.change->release = true;
    phase_ = phase::leaving;
    submit_and_hold([](struct superseded const*) {});  // superseded by mail: it is tried again once that is taken
    return true;
}

void run::cancel_here(std::string by, std::string why)
{
    request r;
    r.id = request_id{};  // nobody's row: decided by an intervention
    r.run = row_.id;
    r.by = std::move(by);
    r.why = std::move(why);
    take_cancel(r);
}

void run::take_cancel(request const& r)
{
    auto const ask = [this, r] {
        auto e = make(entry_kind::request, {});
        e.name = to_string(request_kind::cancel);
        e.by = r.by;
        e.why = r.why;
        e.payload = request_payload(r);
        e.encoding = e.payload.empty() ? encoding::none : encoding::json;
        append(std::move(e));
        if (!r.id.value.is_nil()) add(take_request{r.id, open_.entries.size() - 1});
    };
    if (is_cancelling()) {  // a second cancel changes nothing more
        ask();
        return submit();
    }
    pausing_ = false;
    expiring_ = r.payload == by_deadline;
    withdraw({{}, [this, r, ask] {
                  ask();
                  change(status_event::cancel, {}, expiring_ ? std::string("Run's deadline passed: it is cancelled.")
                                                             : "Cancel was taken" + (r.by.empty() ? std::string(".") : ": asked for by " + r.by + "."));
              }, {}, {}});
}

void run::arm_deadline()
{
    // A cancel that was taken before: what for?
    for (auto const& e : history_.all())
        if (is_cancelling() && e.kind == entry_kind::request && e.payload == by_deadline) expiring_ = true;
    if (row_.deadline_at == never || is_cancelling()) return;
    deadline_ = ticket{next_ticket_++};
    host_.arm_at(deadline_, row_.deadline_at);
}

void run::end_as_cancelled(std::string why)
{
    auto const code = expiring_ ? errc::run_expired : errc::cancelled;
    auto const text = expiring_ ? "the run's deadline passed" : "the run was cancelled";
    leave(expiring_ ? status_event::expire : status_event::end_cancelled, entry_kind::failure,
          write_payload(to_payload({code, "", text, "", 0})), encoding::json, {}, expiring_ ? "deadline" : "cancelled",
          (expiring_ ? "Run expired: its deadline passed." : "Run was cancelled.") + why);
}

void run::cancel_branches(std::vector<branch*> within, std::function<void()> first)
{
    for (auto* b : within) b->cancel_wanted = true;
    withdraw({std::move(within), std::move(first), {}, {}});
}

namespace {

bool is_within(branch const* b, std::vector<branch*> const& roots)
{
    for (; b; b = b->parent)
        if (std::find(roots.begin(), roots.end(), b) != roots.end()) return true;
    return false;
}

}  // namespace

bool run::is_cancel_wanted(branch const& b) const noexcept
{
    if (is_cancelling()) return true;
    for (auto const* at = &b; at; at = at->parent)
        if (at->cancel_wanted) return true;
    return false;
}

void run::withdraw(withdrawal w)
{
    w.first();
    std::vector<ticket> reached;
    std::map<waitpoint_id, std::size_t> leaving;  ///< how many of those that wait for it
    auto const is_reached = [&](ticket t, pending const& p) {
        return p.self() == t && !p.shielded() && (w.within.empty() || is_within(&p.in_branch(), w.within));
    };
    for (auto const& [t, p] : flying_)
        if (is_reached(t, *p))
            if (auto const on = p->withdrawable()) ++leaving[*on];
    std::set<waitpoint_id> decided;
    for (auto const& [t, p] : flying_) {
        if (!is_reached(t, *p)) continue;
        auto const on = p->withdrawable();
        bool const answered = on && std::any_of(w.answered_first.begin(), w.answered_first.end(),
                                                [&](auto const& row) { return row.id == *on; });
        if (!answered) reached.push_back(t);
        if (!on || answered || !decided.insert(*on).second) continue;
        if (w.given_back.contains(*on)) add(*p->returnable());
        else if (!p->leaves_undecided() && (w.within.empty() || !p->leaves_open())) add(decide_waitpoint{*on, waitpoint_status::withdrawn});
        else if (waiting_.count(*on) <= leaving[*on]) add(leave_waitpoint{*on});  // nobody else of this run stands on it
    }
    close_children_of(w.within);
    // Each in an event of its own: what one of them goes on with may write what has to be answered first.
    auto deliver = [this, reached, first = w.answered_first] {
        for (auto const& row : first) woken(row);
        for (auto t : reached)
            later([this, t] {
                auto const at = flying_.find(t);
                if (at != flying_.end() && phase_ == phase::live) at->second->cancel();
            });
    };
    if (decided.empty()) {
        submit();
        return deliver();
    }
    submit_and_hold([this, w, deliver](struct superseded const* why) mutable {
        if (!why) return deliver();
        // It is answered: its value comes first (P42). But an event is nobody's until it is taken: the group has no use for it, others have.
        if (why->by && why->by->type == waitpoint_type::event && !w.within.empty()) w.given_back.insert(why->by->id);
        else if (why->by) w.answered_first.push_back(*why->by);
        withdraw(std::move(w));
    });
}

/// Children go with what started them, if that is their policy: the store knows it.
void run::close_children_of(std::vector<branch*> const& within)
{
    if (within.empty()) return add(flow::close_children{});
    flow::close_children some;
    for (auto const& [id, place] : children_)
        if (std::any_of(within.begin(), within.end(), [&p = place](auto const* b) { return p.starts_with(b->prefix); })) some.only.push_back(id);
    if (!some.only.empty()) add(std::move(some));
}

void run::deliver_cancel(branch& b, position const& at, std::string_view name, journaled_operation& op)
{
    auto e = make(entry_kind::cancel_delivered, at);
    e.name = name;
    append(std::move(e));
    b.cancel_delivered = true;
    op.fail(error(errc::cancelled, "the run was cancelled"));
}

// ---- the end --------------------------------------------------------------------------------------------------------------

void run::leave(status_event on, entry_kind last, std::string payload, flow::encoding how, std::string_view shape,
                std::string reason, std::string why)
{
    auto e = make(last, {});
    e.payload = std::move(payload);
    e.encoding = how;
    e.shape_out = shape;
    append(std::move(e));
    row_.terminal_reason = std::move(reason);
    change(on, {}, std::move(why));
    phase_ = phase::leaving;
    submit();
}

void run::fail_here(error const& e)
{
    leave(status_event::fail, entry_kind::failure, write_payload(to_payload(e.detail())), encoding::json, {},
          std::string(row_of(e.code()).name), "Run failed: " + e.message());
}

bool run::is_more_recorded()
{
    auto const* left = history_.unused();
    if (left) unused(*left);
    return left != nullptr;
}

void run::finish()
{
    if (stopping_) return;
    if (is_more_recorded()) return;
    if (dry_) {
        would_go_on_ = true;
        phase_ = phase::over;
        return;
    }
    // A branch that was given up before a crash stood on its wait for a moment, entered again.
    if (row_.status.execution == execution_status::executing_with_waitpoints) change(status_event::unblock, {}, "Run was continued.");
    auto fail_with = [&](error const& e, std::string reason) {
        leave(status_event::fail, entry_kind::failure, write_payload(to_payload(e.detail())), encoding::json, {},
              std::move(reason), "Run failed: " + e.message());
    };
    bool was_cancelled = is_cancelling();
    if (auto const thrown = body_->failure()) {
        auto const e = describe(thrown);
        if (e.code() == errc::store_key) return hold("store_key", e.message());
        if (e.code() != errc::cancelled) {
            if (!was_cancelled && e.code() == errc::request_expired)
                return leave(status_event::expire, entry_kind::failure, write_payload(to_payload(e.detail())), encoding::json, {}, "approval",
                             "Run expired: " + e.message());
            if (!was_cancelled) return fail_with(e, "user_error");
            return fail_with(e, "cleanup_failed");
        }
        was_cancelled = true;
    }
    if (was_cancelled) {
        return end_as_cancelled({});
    }
    call_result result;
    body_->result(result);
    if (result.end == call_end::value && result.payload.size() > settings_.max_payload) {
        result.end = call_end::unstorable;
        result.error.message = "the result has " + std::to_string(result.payload.size()) + " bytes; the limit is " +
                               std::to_string(settings_.max_payload);
    }
    if (result.end != call_end::value)
        return fail_with(error(errc::output_unstorable, "the workflow's result cannot be stored: " + result.error.message),
                         "user_error");
    leave(status_event::succeed, entry_kind::result, std::move(result.payload), result.encoding, body_->result_shape(), "",
          "Run succeeded.");
}

}  // namespace flow::detail
