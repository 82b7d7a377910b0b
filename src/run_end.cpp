// How a run leaves its holder: held, cancelled, failed, succeeded; and the requests that lead there.
#include "src/run.hpp"

#include <algorithm>

#include "src/payloads.hpp"
#include "src/pending.hpp"

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
        leave(status_event::end_cancelled, entry_kind::failure,
              write_payload(to_payload({errc::cancelled, "", "the run was cancelled", "", 0})), encoding::json, {}, "cancelled",
              "Run was cancelled. Its clean-up did not run: " + message);
        return;
    }
    phase_ = phase::leaving;
    host_.warn("run " + to_string(row_.id) + " is held (" + kind + "): " + message);
    wait_reason reason;
    reason.type = wait_reason::kind::code;
    reason.id = std::move(kind);
    reason.detail = message;
    reason.since = now();
    change(status_event::hold, reason, std::move(message));
    open_.change->release = true;
    submit_and_hold([this, kind = reason.id, message = reason.detail](struct superseded const* why) {
        if (why) hold_again_ = [this, kind, message] { hold(kind, message); };
    });
}

// ---- requests and cancel --------------------------------------------------------------------------------------------------

void run::take(request const& r)
{
    // The mailbox is read again before what was read first is written: each request is taken once.
    if (!taken_mail_.insert(r.id).second) return;
    if (r.kind == request_kind::cancel) return take_cancel(r, {});
    auto e = make(entry_kind::request, {});
    e.name = to_string(r.kind);
    e.by = r.by;
    e.why = r.why;
    append(std::move(e));
    add(take_request{r.id, 0});
    submit();
}

void run::cancel_here(std::string by, std::string why)
{
    request r;
    r.id = request_id{};  // nobody's row: decided by an intervention
    r.run = row_.id;
    r.by = std::move(by);
    r.why = std::move(why);
    take_cancel(r, {});
}

void run::take_cancel(request const& r, std::vector<waitpoint_row> answered_first)
{
    bool const again = is_cancelling();
    auto e = make(entry_kind::request, {});
    e.name = to_string(request_kind::cancel);
    e.by = r.by;
    e.why = r.why;
    append(std::move(e));
    if (!r.id.value.is_nil()) add(take_request{r.id, open_.entries.size() - 1});
    if (again) return submit();  // a second cancel changes nothing more

    std::vector<ticket> reached;
    bool withdraws = false;
    for (auto const& [t, p] : flying_) {
        if (p->self() != t || p->shielded()) continue;
        auto const w = p->withdrawable();
        bool const answered = w && std::any_of(answered_first.begin(), answered_first.end(),
                                               [&](auto const& row) { return row.id == *w; });
        if (w && !answered) {
            add(decide_waitpoint{*w, waitpoint_status::withdrawn});
            withdraws = true;
        }
        if (!answered) reached.push_back(t);
    }
    change(status_event::cancel, {}, "Cancel was taken" + (r.by.empty() ? std::string(".") : ": asked for by " + r.by + "."));
    auto deliver = [this, reached, answered_first] {
        for (auto const& row : answered_first) woken(row);
        for (auto t : reached) {
            auto const at = flying_.find(t);
            if (at != flying_.end()) at->second->cancel();
        }
    };
    if (!withdraws) {
        submit();
        deliver();
        return;
    }
    submit_and_hold([this, r, deliver, answered_first](struct superseded const* why) mutable {
        if (!why) return deliver();
        if (why->by) answered_first.push_back(*why->by);  // it is answered: its value comes first (P42)
        take_cancel(r, std::move(answered_first));
    });
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

void run::finish()
{
    if (stopping_) return;
    if (auto const left = history_.peek(); !left.empty()) return unused(*left.front());
    if (dry_) {
        would_go_on_ = true;
        phase_ = phase::over;
        return;
    }
    auto fail_with = [&](error const& e, std::string reason) {
        leave(status_event::fail, entry_kind::failure, write_payload(to_payload(e.detail())), encoding::json, {},
              std::move(reason), "Run failed: " + e.message());
    };
    bool was_cancelled = is_cancelling();
    if (auto const thrown = body_->failure()) {
        auto const e = describe(thrown);
        if (e.code() == errc::store_key) return hold("store_key", e.message());
        if (e.code() != errc::cancelled) {
            if (!was_cancelled) return fail_with(e, "user_error");
            return fail_with(e, "cleanup_failed");
        }
        was_cancelled = true;
    }
    if (was_cancelled) {
        leave(status_event::end_cancelled, entry_kind::failure,
              write_payload(to_payload({errc::cancelled, "", "the run was cancelled", "", 0})), encoding::json, {}, "cancelled",
              "Run was cancelled.");
        return;
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
