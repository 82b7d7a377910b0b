#include "src/step_machine.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "src/texts.hpp"

namespace flow {

namespace {
/// Whatever an outside asks for (retry_after).
constexpr std::chrono::hours longest_pause{24 * 365 * 100};
}  // namespace

std::chrono::milliseconds delay_after(retry_policy const& policy, int failed) noexcept
{
    double ms = static_cast<double>(policy.first_delay.get().count());
    for (int i = 1; i < failed; ++i) ms *= static_cast<double>(policy.factor);
    auto const cap = static_cast<double>(policy.cap.get().count());
    return std::chrono::milliseconds{static_cast<std::int64_t>(std::clamp(std::isfinite(ms) ? ms : cap, 0.0, cap))};
}

}  // namespace flow

namespace flow::detail {

step_machine::step_machine(step_base& op, scope& s, continuation& c, position at, step_record r, effect cls)
    : pending(s, c, std::move(at)), op_(op), record_(std::move(r)), cls_(cls), attempt_(record_.attempts_begun),
      failures_(record_.attempts_failed), sub_index_(record_.sub_steps)
{
}

step_machine::~step_machine()
{
    // Only a detached function may still run here: the engine sees to that before it takes a frame down.
    if (data_) data_->stop.request_stop();
}

bool step_machine::begin_after(call_result r)
{
    attempt_ = 1;
    doing_ = doing::calling;
    took(std::move(r));
    starting_ = false;
    return settled_;
}

bool step_machine::begin()
{
    record_.outcome = nullptr;  // what it points at may go
    if (record_.look) {
        if (record_.look->limit_at) limit_at_ = time_point(duration(*record_.look->limit_at));
        looks_ = record_.look->looks;
        taken_up_ = true;
        announced_ = true;
    }
    auto const* const token = record_.begun && op_.ends_elsewhere() ? run_.known(record_.begun->token) : nullptr;
    bool const completed_first = token && token->status == waitpoint_status::completed && !token->output_is_error;  // it counts (P42)
    if (run_.is_cancel_wanted(branch_) && !shielded_ && !completed_first) {
        if (record_.open_intervention && run_.known(record_.open_intervention->waitpoint)) run_.take(record_.open_intervention->waitpoint);
        if (auto const* timer = record_.look && record_.look->waitpoint ? run_.known(*record_.look->waitpoint) : nullptr)
            if (timer->status != waitpoint_status::pending) run_.take(timer->id);
        if (token && token->status != waitpoint_status::pending) run_.take(token->id);
        cancel();
    } else if (record_.open_intervention) {
        asked_ = record_.open_intervention;
        ask({}, {});
    } else if (record_.decided) {
        decided(*record_.decided, {}, {});
    } else if (record_.returned) {
        call_result r;
        r.error.message = "the output of the call that returned could not be stored";
        r.commit_ref = record_.returned->commit_ref;
        ask(texts::unstorable(at_.place), {"complete", "skip", "fail", "cancel"});
    } else if (record_.begun && op_.ends_elsewhere()) {
        take_up_elsewhere();
    } else if (record_.in_doubt && cls_ == effect::non_replayable) {
        in_doubt();
    } else if (record_.next_at) {
        pause_until(*record_.next_at);
    } else if (record_.failed_for_good) {
        settle_failure(*record_.last_error);
    } else if (op_.polls()) {
        begin_polling();
    } else {
        attempt_next();
    }
    starting_ = false;
    return settled_;
}

// ---- attempts -------------------------------------------------------------------------------------------------------------

position step_machine::where() const
{
    if (role_ == role::own) return at_;
    auto const index = std::to_string(sub_index_);
    return {at_.path + '.' + index, at_.place + '/' + role_name() + '#' + index};
}

std::string step_machine::role_name() const
{
    return role_ == role::own ? std::string(op_.called().view()) : role_ == role::reconcile ? "reconcile" : "compensate";
}

journal_entry step_machine::entry(entry_kind k) const
{
    auto e = run_.make(k, where());
    e.name = role_name();
    e.cls = role_ == role::own ? cls_ : effect::idempotent;
    e.attempt = static_cast<std::uint16_t>(attempt_);
    e.shape_out = op_.shape();
    return e;
}

time_span step_machine::limit() const noexcept
{
    return op_.options().timeout.is_zero() ? run_.settings().step_timeout : op_.options().timeout;
}

void step_machine::stand_in_line()
{
    doing_ = doing::in_line;
    line_ = run_.second_ticket(*this);
    held_ = run_.hosted_by().join_line(line_, op_.options().limit);
}

void step_machine::attempt_next()
{
    bool const own = role_ == role::own;
    if (stopped_) {
        doing_ = doing::nothing;
        return;
    }
    if (own && op_.options().limit && !held_) return stand_in_line();
    ++attempt_;
    if (own) record_.attempts_begun = attempt_;
    if (own && cls_ == effect::non_replayable) {
        record_.threw_in_doubt = false;
        if (!op_.ends_elsewhere()) run_.append(entry(entry_kind::intent));
        record_.intent_at = run_.now();
    }
    if (own && op_.ends_elsewhere() && !open_token()) return;
    run_.submit();
    call_when_durable();
}

void step_machine::call_when_durable()
{
    bool const own = role_ == role::own;
    if ((acts_outside() && !run_.all_durable()) || run_.window_full()) {
        doing_ = doing::barrier;
        waited_in_place_ = own && op_.options().inline_ && cls_ == effect::replayable;
        run_.when_durable(*this);
        return;
    }
    call_now();
}

void step_machine::durable()
{
    if (doing_ != doing::barrier) return;
    if (stopped_) leave_to_next_engine();
    else if (!shielded_ && run_.is_cancel_wanted(branch_)) cancel();  // it was taken while this stood at its barrier
    else call_now();
}

/// It goes, and the function was not called. Of a non_replayable step the journal says that it was about to be.
void step_machine::leave_to_next_engine()
{
    doing_ = doing::nothing;
    held_.reset();
    if (role_ != role::own || cls_ != effect::non_replayable) return;
    auto p = to_payload({errc::step_failed, "", "the engine ended before it was called", at_.place, static_cast<std::uint16_t>(attempt_)});
    p.next_at = run_.now().time_since_epoch().count();
    p.not_called = true;
    auto e = entry(entry_kind::attempt_failed);
    e.payload = write_payload(p);
    e.encoding = encoding::json;
    run_.append(std::move(e));
    if (token_) run_.add(decide_waitpoint{*token_, waitpoint_status::withdrawn});  // nobody was given it
    forget_token();
    run_.submit();
}

void step_machine::make_attempt_data()
{
    data_ = std::make_shared<attempt_data>();
    data_->run = run_.row().id;
    data_->segment = run_.segment();
    data_->step_place = at_.place;
    data_->place = where().place;
    data_->stop = std::stop_source();
    data_->number = attempt_;
    data_->epoch = run_.row().epoch;
    data_->clock = &run_.hosted_by().clock();
    data_->outside = run_.hosted_by().outside();
    if (role_ != role::own || !token_) return;
    data_->token = *token_;
    if (auto* const life = run_.hosted_by().life()) life->begun(*token_, data_->clock->steady());
}

bool step_machine::acts_outside() const noexcept { return role_ != role::own || cls_ != effect::replayable || op_.ends_elsewhere(); }

void step_machine::call_now()
{
    if (acts_outside() && !run_.hosted_by().may_act()) {
        doing_ = doing::nothing;
        held_.reset();
        return;
    }
    doing_ = doing::calling;
    make_attempt_data();
    if (role_ == role::own) {
        if (auto fresh = own_call_ && !own_call_->detached ? own_call_ : op_.make_call()) own_call_ = std::move(fresh);
        call_ = own_call_;
    } else {
        call_ = role_ == role::reconcile ? op_.make_reconcile() : op_.make_compensate();
    }
    if (op_.options().inline_ && role_ == role::own && !call_->as_async()) {
        call_result r;
        attempt a(*data_);
        call_->invoke(a, r);
        r.commit_ref = data_->commit_ref;
        took(std::move(r));
        return;
    }
    auto time = limit().get();
    if (limit_at_ && !is_limit_over()) {  // the last look of all has no more than its own limit
        auto const left = std::chrono::ceil<std::chrono::milliseconds>(*limit_at_ - run_.now());
        time = limit().is_zero() ? left : std::min(time, left);
    }
    auto const steady = run_.hosted_by().clock().steady();
    if (time.count() > 0) {
        data_->deadline = steady + time;
        timeout_ = run_.second_ticket(*this);
        run_.hosted_by().arm_in(timeout_, time);
    }
    if (!announced_) {
        announce_ = run_.second_ticket(*this);
        run_.hosted_by().arm_in(announce_, run_.settings().announce_after);
    }
    call_ticket_ = run_.second_ticket(*this);
    run_.call_started(call_ticket_, call_->detached);
    run_.hosted_by().call_out({call_ticket_, call_, data_, where().place, std::move(held_), acts_outside()});
}

void step_machine::disarm()
{
    held_.reset();
    for (auto* t : {&timeout_, &announce_, &pause_, &call_ticket_, &line_, &beat_}) run_.drop_ticket(std::exchange(*t, ticket::none));
}

void step_machine::due(ticket t)
{
    if (t == pause_) {
        run_.drop_ticket(std::exchange(pause_, ticket::none));
        if (next_look_) look_again(false);
        else if (doing_ == doing::elsewhere) too_late(texts::not_completed(at_.place));
        else attempt_next();
    } else if (t == beat_) {
        run_.drop_ticket(std::exchange(beat_, ticket::none));
        if (doing_ == doing::elsewhere) beat_is_due();
    } else if (t == line_) {
        run_.drop_ticket(std::exchange(line_, ticket::none));
        if (doing_ == doing::in_line) attempt_next();
    } else if (t == announce_) {
        run_.drop_ticket(std::exchange(announce_, ticket::none));
        if (doing_ != doing::calling) return;
        run_.append(entry(entry_kind::started));
        run_.submit();
    } else if (t == timeout_) {
        run_.drop_ticket(std::exchange(timeout_, ticket::none));
        if (doing_ == doing::calling) timed_out();
    }
}

void step_machine::returned(ticket t, call_result r)
{
    if (t != call_ticket_) return;
    disarm();
    bool const late = doing_ == doing::timed_out;
    if (doing_ == doing::calling) return took(std::move(r));
    call_.reset();
    if (late) {
        auto then = std::exchange(when_let_go_, nullptr);
        bool const settles = record_.in_doubt && r.end == call_end::value && r.payload.size() <= run_.settings().max_payload;
        if (settles) return settle_value(r);  // it arrived before the doubt was decided
        if (then) then();
        return;
    }
    // It came back while a person is asked about it: a result that arrives before the decision settles the doubt (P26).
    if (doing_ != doing::asking || r.end != call_end::value || !asked_) return;
    auto const w = asked_->waitpoint;
    auto result = std::make_shared<call_result>(std::move(r));
    run_.add(decide_waitpoint{w, waitpoint_status::withdrawn});
    run_.unblock(*this, "The function returned before the decision.");
    auto e = entry(entry_kind::step);
    e.payload = result->payload;
    e.encoding = result->encoding;
    e.commit_ref = result->commit_ref;
    run_.append(std::move(e));
    run_.submit_and_hold([this, result, w](superseded const* why) {
        if (why) {
            if (why->by) woken(*why->by);
            return;
        }
        run_.no_longer_waits(w, *this);
        if (own_call_) op_.adopt(*own_call_);
        finished();
    });
}

void step_machine::took(call_result r)
{
    call_.reset();
    if (r.end == call_end::value && r.payload.size() > run_.settings().max_payload) {
        r.end = call_end::unstorable;
        r.error = {errc::payload_too_large, "", texts::too_large(at_.place, r.payload.size(), run_.settings().max_payload), at_.place, 0};
        r.payload.clear();
    }
    if (r.error.code == errc::store_key && r.end == call_end::threw) {
        run_.hold("store_key", r.error.message);
        return;
    }
    if (stopped_ && token_ && r.end != call_end::begun)  // nothing was begun that could give a sign of life
        if (auto* const life = run_.hosted_by().life()) life->over(*token_);
    // Asked to stop because the engine goes: it is called again by the next one, unless it cannot be known whether it happened.
    bool const gave_no_value = r.end == call_end::threw || r.end == call_end::not_started || r.end == call_end::not_yet;
    if (stopped_ && gave_no_value && (role_ != role::own || cls_ != effect::non_replayable)) return;
    if (stopped_ && r.end == call_end::not_started) return leave_to_next_engine();
    if (role_ != role::own) {
        switch (r.end) {
        case call_end::value: return sub_step_done("done", &r);
        case call_end::not_done: return sub_step_done("not_done", nullptr);
        case call_end::unknown: return sub_step_done("unknown", nullptr);
        default: return failed(r, errc::step_failed);
        }
    }
    if (damaged_) return healed(r);
    if (r.end == call_end::begun) return stand_elsewhere();
    if (token_ && r.end != call_end::value) {  // it threw; but if it is completed all the same, that counts
        doing_ = doing::nothing;
        if (answer_) return answered(*std::exchange(answer_, std::nullopt));
        return close_token(waitpoint_status::withdrawn, r.error.message, [this, r] { took(r); });
    }
    switch (r.end) {
    case call_end::value: return settle_value(r);
    case call_end::unstorable: return cannot_store(r);
    case call_end::not_yet: return not_yet();
    case call_end::permanent: {
        auto e = r.error;
        e.attempts = static_cast<std::uint16_t>(attempt_);
        e.place = at_.place;
        return settle_failure(std::move(e));
    }
    default:
        if (r.end == call_end::not_started) doing_ = doing::nothing;  // no doubt about it
        if (cancel_wanted_ && (cls_ != effect::non_replayable || r.end == call_end::not_started)) return give_up();
        return failed(r, errc::step_failed);
    }
}

void step_machine::timed_out()
{
    // Decided at once, journaled and visible; the body goes on when the function has let go (P26).
    data_->stop.request_stop();
    call_result r;
    r.end = call_end::threw;
    r.error = {errc::step_timeout, "timeout", texts::timed_out(at_.place, limit()), at_.place, static_cast<std::uint16_t>(attempt_)};
    {
        std::lock_guard const lock(data_->guard);
        r.commit_ref = data_->commit_ref;
    }
    if (is_limit_over()) r.error.message = "it had not returned";
    if (let_go()) call_.reset();
    doing_ = doing::timed_out;
    if (token_ && !answer_) return close_token(waitpoint_status::withdrawn, r.error.message, [this, r] { failed(r, errc::step_timeout); });
    if (answer_) return answered(*std::exchange(answer_, std::nullopt));
    failed(r, errc::step_timeout);
}

void step_machine::failed(call_result const& r, errc code)
{
    bool const own = role_ == role::own;
    bool const doubt = own && cls_ == effect::non_replayable && r.end != call_end::not_started;
    auto e = r.error;
    if (e.code != errc::step_timeout) e.code = code;
    e.place = at_.place;
    e.attempts = static_cast<std::uint16_t>(attempt_);
    if (!doubt) ++failures_;
    if (own && is_limit_over()) e = limit_error(e.message);
    bool const may = !doubt && r.end != call_end::permanent && e.code != errc::wait_timeout;
    bool const again = may && failures_ < std::max<int>(retry().max_attempts, 1) && attempt_ < most_attempts;
    bool const running = doing_ == doing::timed_out && !let_go();
    auto const then = [this, running](std::function<void()> go) {
        if (running) when_let_go_ = std::move(go);
        else go();
    };
    if (!again && !doubt) {
        if (own && !running) return settle_failure(std::move(e));
        if (own) {
            // Journaled and visible at once; the outcome itself when the body is told, so that it stands where it is told (P15).
            auto decided = entry(entry_kind::attempt_failed);
            decided.payload = write_payload(to_payload(e));
            decided.encoding = encoding::json;
            decided.commit_ref = r.commit_ref;
            run_.append(std::move(decided));
            run_.submit();
            return then([this, e] { settle_failure(e); });
        }
        auto sub = entry(entry_kind::step_failed);
        sub.payload = write_payload(to_payload(e));
        sub.encoding = encoding::json;
        run_.append(std::move(sub));
        run_.submit();
        return then([this] { sub_step_done("failed", nullptr); });
    }
    auto p = to_payload(e);
    std::optional<time_point> next_at;
    if (again) next_at = run_.now() + std::max<duration>(delay_after(retry(), failures_), std::min<duration>(r.not_before, longest_pause));
    if (next_at) p.next_at = next_at->time_since_epoch().count();
    if (doubt) p.in_doubt = true;
    auto failure = entry(entry_kind::attempt_failed);
    failure.payload = write_payload(p);
    failure.encoding = encoding::json;
    failure.commit_ref = r.commit_ref;
    run_.append(std::move(failure));
    run_.submit();
    record_.last_error = e;
    record_.commit_ref = r.commit_ref;
    if (doubt) {
        // While it may still run, nobody is asked what came of it but a person: its result then settles the matter.
        record_.in_doubt = record_.threw_in_doubt = true;
        bool const can_ask_outside = op_.make_reconcile() || op_.make_compensate();
        if (running && can_ask_outside) {
            when_let_go_ = [this] { in_doubt(); };
            return;
        }
        return in_doubt();
    }
    then([this, next_at] { pause_until(*next_at); });
}

void step_machine::pause_until(time_point t)
{
    if (cancel_wanted_) return give_up();
    if (limit_at_ && !damaged_ && role_ == role::own) t = std::min(t, *limit_at_);
    doing_ = doing::pausing;
    pause_ = run_.second_ticket(*this);
    run_.hosted_by().arm_at(pause_, t);
}

}  // namespace flow::detail
