// A step that ends elsewhere (flow::begin_step): its function begins it, a token tells how it ended.
#include <utility>

#include "flow/begin_step.hpp"
#include "src/step_machine.hpp"
#include "src/texts.hpp"
#include "src/wait_policy.hpp"
#include "src/waits.hpp"

namespace flow::detail {

namespace {

step_options as_step(begin_options const& o)
{
    step_options s;
    s.retry = o.retry;
    s.inline_ = o.inline_;
    s.description = o.description;
    return s;
}

}  // namespace

waitpoint_id token_of(attempt const& a) noexcept { return a.data_->token; }

split_base::split_base(name n, effect cls, begin_options const& o)
    : step_base(std::move(n), cls, as_step(o)), plan_{o.timeout, o.heartbeat, o.outlives_engine, o.strict}
{
}

/// False: the store's key cannot be read, and the run is held.
bool step_machine::open_token()
{
    uuid id;
    run_.hosted_by().fill_random(id.bytes);
    token_ = waitpoint_id{id};
    auto const secret = run_.secret_of(*token_);
    if (!secret) return false;
    auto const& code = *op_.ends_elsewhere();
    auto const policies = run_.hosted_by().policies();
    auto plan = plan_wait(policies.get(), wait_reason::kind::tool, {code.timeout, {}, {}, false}, run_.now());
    token_ends_at_ = plan.due_at;
    heartbeat_ = code.heartbeat.is_zero() ? plan.heartbeat.get() : code.heartbeat.get();
    policy_ = std::move(plan.terms);
    write_begun({});
    auto w = token_row(run_.row().id, *token_, at_, op_.called().view(), op_.shape(), code.strict, run_.now());
    w.due_at = token_ends_at_;
    w.secret_hash = sha256(*secret);
    run_.add(insert_waitpoint{std::move(w)});
    run_.add(add_edge{*token_, at_.path, at_.place});
    run_.wait_for(*token_, *this);
    return true;
}

/// `over`: why nobody can complete it any more.
void step_machine::write_begun(std::string over)
{
    begun_payload p;
    p.token = *token_;
    if (token_ends_at_ != never) p.limit_at = token_ends_at_.time_since_epoch().count();
    bool const begins = over.empty();
    if (!begins) p.over = std::move(over);
    if (policy_ != wait_terms{}) {
        p.policy = policy_;
        p.heartbeat_ms = std::chrono::milliseconds(heartbeat_).count();
    }
    auto e = entry(begins && cls_ == effect::non_replayable ? entry_kind::intent : entry_kind::started);
    e.payload = write_payload(p);
    e.encoding = encoding::json;
    run_.append(std::move(e));
    announced_ = true;
}

/// Begun before, here or by another engine.
void step_machine::take_up_elsewhere()
{
    auto const begun = *record_.begun;
    token_ = begun.token;
    token_ends_at_ = begun.limit_at ? time_point(duration(*begun.limit_at)) : never;
    heartbeat_ = begun.heartbeat_ms ? std::chrono::milliseconds(*begun.heartbeat_ms) : op_.ends_elsewhere()->heartbeat.get();
    policy_ = begun.policy.value_or(wait_terms{});
    announced_ = true;
    if (begun.over) {
        token_.reset();
        return failed_elsewhere(errc::step_timeout, *begun.over);
    }
    run_.wait_for(*token_, *this);
    if (auto const* known = run_.known(*token_); known && known->status != waitpoint_status::pending) return answered(*known);
    if (token_ends_at_ <= run_.now()) {  // told in an event of its own: another branch may give up its wait in this one (P37)
        doing_ = doing::elsewhere;
        pause_ = run_.second_ticket(*this);
        return run_.hosted_by().arm_at(pause_, run_.now());
    }
    auto* const life = run_.hosted_by().life();
    bool const begun_here = life && life->last(*token_);
    if (begun_here) return stand_elsewhere();
    if (cls_ != effect::non_replayable) return call_when_durable();
    if (life) life->begun(*token_, run_.hosted_by().clock().steady());  // whoever has the token may live
    stand_elsewhere();
}

void step_machine::stand_elsewhere()
{
    doing_ = doing::elsewhere;
    data_.reset();  // its function has returned: nobody asks what goes on outside to stop but by the token
    if (cls_ == effect::non_replayable) record_.in_doubt = true;
    if (!token_) return give_up();  // a cancel took it away
    if (answer_) return answered(*std::exchange(answer_, std::nullopt));
    // What may die with this process must be found out to be dead: the run is not let go, and so taken over by the next one.
    bool const lives_on = cls_ == effect::non_replayable || op_.ends_elsewhere()->outlives_engine;
    bool const gives_signs = heartbeat_ > heartbeat_.zero();
    if (!gives_signs && lives_on) {
        wait_reason reason;
        reason.type = wait_reason::kind::tool;
        reason.id = to_string(*token_);
        reason.name = at_.place;
        reason.since = run_.now();
        reason.until = token_ends_at_;
        tell(reason, policy_);
        run_.block(*this, reason, policy_.leaves);
        stands_ = true;
    } else if (gives_signs) {
        beat_ = run_.second_ticket(*this);
        run_.hosted_by().arm_in(beat_, heartbeat_);
    }
    run_.submit();
    if (token_ends_at_ == never) return;
    pause_ = run_.second_ticket(*this);
    run_.hosted_by().arm_at(pause_, token_ends_at_);
}

void step_machine::beat_is_due()
{
    duration const silence = heartbeat_;
    auto const* const life = run_.hosted_by().life();
    auto const last = life ? life->last(*token_) : std::nullopt;
    auto const left = last ? *last + silence - run_.hosted_by().clock().steady() : duration::zero();
    if (left <= duration::zero()) return too_late(texts::silent(at_.place, silence));
    beat_ = run_.second_ticket(*this);
    run_.hosted_by().arm_in(beat_, left);
}

/// Nobody completes it any more; unless somebody just did, `then`.
void step_machine::close_token(waitpoint_status fate, std::string why, std::function<void()> then)
{
    write_begun(why);
    run_.add(decide_waitpoint{*token_, fate});
    go_on_from_token("Run was continued: " + why + ".");
    run_.submit_and_hold([this, go = std::move(then)](superseded const* other) {
        if (other) {
            if (other->by) answered(*other->by);
            return;
        }
        forget_token();
        go();
    });
}

void step_machine::too_late(std::string why)
{
    close_token(waitpoint_status::timed_out, why, [this, why] { failed_elsewhere(errc::step_timeout, why); });
}

/// It stands on it no longer; whether it is over is not decided with that.
void step_machine::go_on_from_token(std::string why)
{
    for (auto* t : {&pause_, &beat_}) run_.drop_ticket(std::exchange(*t, ticket::none));
    if (std::exchange(stands_, false)) run_.unblock(*this, std::move(why));
}

void step_machine::forget_token()
{
    if (!token_) return;
    run_.no_longer_waits(*token_, *this);
    if (auto* const life = run_.hosted_by().life()) life->over(*token_);
    token_.reset();
}

void step_machine::answered(waitpoint_row const& w)
{
    if (!let_go()) {  // it is there before `begin` has returned
        answer_ = w;
        when_let_go_ = [this] { stand_elsewhere(); };
        return;
    }
    bool const completed = w.status == waitpoint_status::completed;
    std::string const who = w.by.empty() ? "somebody" : w.by;
    // First of all: a run that is held for it keeps the answer, and finds it when it is tried again.
    if (completed && !w.output_is_error)
        if (auto const ok = op_.accept(w.output_encoding, w.output); !ok) {
            run_.hold("undecodable", "the value that " + at_.place + " was completed with does not fit its type: " + ok.error().message());
            return;
        }
    go_on_from_token("Run was continued: " + (completed ? who + " completed " + at_.place + "." : at_.place + " timed out."));
    run_.take(w.id);
    forget_token();
    if (w.status == waitpoint_status::timed_out) return failed_elsewhere(errc::step_timeout, texts::not_completed(at_.place));
    if (!completed) return failed_elsewhere(errc::step_failed, at_.place + " was withdrawn");
    if (w.output_is_error) return failed_elsewhere(errc::step_failed, w.output);
    auto e = entry(entry_kind::step);
    e.payload = w.output;
    e.encoding = w.output_encoding;
    e.by = w.by;
    e.why = w.why;
    settle(std::move(e));
}

/// As if its function had thrown that.
void step_machine::failed_elsewhere(errc code, std::string why)
{
    call_result r;
    r.end = call_end::threw;
    r.error = {code, code == errc::step_timeout ? "timeout" : "", std::move(why), at_.place, static_cast<std::uint16_t>(attempt_)};
    if (doing_ != doing::timed_out) doing_ = doing::nothing;
    failed(r, code);
}

}  // namespace flow::detail
