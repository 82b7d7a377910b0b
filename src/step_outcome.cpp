// A live step's outcome: recorded, told to the body; or taken away by a cancel.
#include <utility>

#include "src/step_machine.hpp"
#include "src/texts.hpp"

namespace flow::detail {

void step_machine::settle_value(call_result const& r)
{
    auto e = entry(entry_kind::step);
    e.payload = r.payload;
    e.encoding = r.encoding;
    e.commit_ref = r.commit_ref;
    if (waited_in_place_) e.why = "It waited for room in the journal.";  // replay must know that it was not there at once
    op_.adopt(*own_call_);
    settle(std::move(e));
}

void step_machine::settle_failure(error_detail failure)
{
    auto e = entry(entry_kind::step_failed);
    e.payload = write_payload(to_payload(failure));
    e.encoding = encoding::json;
    op_.fail(error(std::move(failure)));
    settle(std::move(e));
}

void step_machine::settle(journal_entry outcome)
{
    if (damaged_ && outcome.kind == entry_kind::step) outcome.kind = entry_kind::override_;
    run_.append(std::move(outcome));
    run_.submit();
    recorded_ = true;
    finished();
}

void step_machine::finished()
{
    disarm();
    if (healing_) run_.hold_history(false);
    settled_ = true;
    doing_ = doing::nothing;
    land();
    if (!starting_) run_.resume(done_);  // may destroy this
}

// ---- cancel and stop ------------------------------------------------------------------------------------------------------

std::optional<waitpoint_id> step_machine::withdrawable() const
{
    if (next_look_) return next_look_;
    if (token_) return answer_ ? std::nullopt : token_;
    return doing_ == doing::asking && asked_ ? std::optional(asked_->waitpoint) : std::nullopt;
}

void step_machine::stop()
{
    stopped_ = true;
    if (doing_ == doing::in_line) held_.reset();  // others need not wait for this engine's end
    if (doing_ == doing::barrier && !run_.awaits_answer()) leave_to_next_engine();  // else once that is answered, when `durable` is told
    if (data_) data_->stop.request_stop();
}

void step_machine::cancel()
{
    cancel_wanted_ = true;
    if (recorded_) return;  // its outcome comes first; the cancel is delivered at the next operation
    if (token_ && !answer_) forget_token();  // it was withdrawn
    switch (doing_) {
    case doing::calling:
        data_->stop.request_stop();
        if (let_go()) give_up();
        return;  // else: what it returns decides
    case doing::timed_out:
        when_let_go_ = [this] { give_up(); };
        return;
    default:
        give_up();
    }
}

void step_machine::give_up()
{
    disarm();
    bool const doubt = cls_ == effect::non_replayable &&
                       (record_.in_doubt || doing_ == doing::calling || doing_ == doing::timed_out || doing_ == doing::asking);
    if (asked_) run_.no_longer_waits(asked_->waitpoint, *this);
    role_ = role::own;
    if (doubt) {
        auto e = entry(entry_kind::abandoned);
        e.payload = write_payload(to_payload({errc::effect_unknown, "", texts::abandoned(at_.place), at_.place, static_cast<std::uint16_t>(attempt_)}));
        e.encoding = encoding::json;
        run_.append(std::move(e));
    }
    run_.deliver_cancel(branch_, at_, op_.called().view(), op_);
    run_.submit();
    finished();
}

}  // namespace flow::detail