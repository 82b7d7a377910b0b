// A step that is called until it says yes (flow::poll_until): its pauses, and its time limit.
#include "flow/poll_until.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "src/step_machine.hpp"
#include "src/texts.hpp"
#include "src/waits.hpp"

namespace flow::detail {

namespace {

step_options as_step(poll_options const& o)
{
    step_options s;
    s.retry = o.retry;
    s.inline_ = o.inline_;
    s.description = o.description;
    s.limit = o.limit;
    return s;
}

/// Before the next look, when so many were made. A cap below `every` counts for nothing.
duration pause_after(poll_plan const& plan, std::uint32_t looks)
{
    auto const every = static_cast<double>(plan.every.get().count());
    auto const most = std::max(every, static_cast<double>(plan.cap.get().count()));
    auto const ms = plan.backoff > 1.0F ? every * std::pow(static_cast<double>(plan.backoff), static_cast<double>(looks - 1)) : every;
    return std::chrono::milliseconds{static_cast<std::int64_t>(std::isfinite(ms) ? std::min(ms, most) : most)};
}

}  // namespace

poll_base::poll_base(name n, poll_options const& o)
    : step_base(std::move(n), effect::replayable, as_step(o)), plan_{o.every, o.cap, o.backoff, o.timeout.get()}
{
    auto const refuse = [this](char const* why) {
        throw error(errc::bad_argument, "poll_until \"" + std::string(called().view()) + "\": " + why);
    };
    if (o.every.is_zero()) refuse("`every` is zero; give the pause between two looks");
    if (!(o.backoff >= 1.0F) || !std::isfinite(o.backoff)) refuse("`backoff` must be a number of at least 1");
}

void step_machine::begin_polling()
{
    // It looks when it is asked to, not when the last engine would have.
    attempt_ = failures_;
    if (!record_.look) {
        auto const timeout = op_.polls()->timeout;
        if (timeout <= duration::max() - run_.now().time_since_epoch()) limit_at_ = run_.now() + timeout;
        write_look(std::nullopt);
        run_.submit();
    } else if (record_.look->waitpoint && record_.look->next_at) {
        next_look_ = *record_.look->waitpoint;
        return stand_until(time_point(duration(*record_.look->next_at)), false);
    }
    attempt_next();
}

void step_machine::not_yet()
{
    doing_ = doing::nothing;
    if (cancel_wanted_) return give_up();
    if (is_limit_over()) return settle_failure(limit_error({}));
    // The row of failures has ended, or the stay in which it looked before: so it must be after a restart.
    bool const tell = std::exchange(taken_up_, false) || failures_ > 0;
    failures_ = attempt_ = 0;
    ++looks_;
    auto next_at = run_.now() + pause_after(*op_.polls(), looks_);
    if (limit_at_) next_at = std::min(next_at, *limit_at_);
    if (next_at - run_.now() > run_.settings().suspend_threshold) {
        next_look_ = waitpoint_id{run_.draw_uuid()};
        write_look(next_at);
        return stand_until(next_at, true);
    }
    if (tell) {
        write_look(std::nullopt);
        run_.submit();
    }
    pause_until(next_at);
}

void step_machine::write_look(std::optional<time_point> next_at)
{
    look_payload p;
    if (limit_at_) p.limit_at = limit_at_->time_since_epoch().count();
    p.looks = looks_;
    if (next_at) {
        p.next_at = next_at->time_since_epoch().count();
        p.waitpoint = next_look_;
    }
    auto e = entry(entry_kind::started);
    e.attempt = static_cast<std::uint16_t>(attempt_ + 1);
    e.payload = write_payload(p);
    e.encoding = encoding::json;
    run_.append(std::move(e));
    announced_ = true;
}

/// As a long sleep: the run stands on a timer (P17).
void step_machine::stand_until(time_point next_at, bool fresh)
{
    run_.wait_for(*next_look_, *this);
    if (fresh) {
        run_.add(insert_waitpoint{timer_row(run_.row().id, *next_look_, "next look", at_.place, next_at, run_.now())});
        run_.add(add_edge{*next_look_, at_.path, at_.place});
    }
    wait_reason reason;
    reason.type = wait_reason::kind::timer;
    reason.id = to_string(*next_look_);
    reason.name = at_.place;
    reason.detail = texts::looks_again(at_.place, next_at);
    reason.since = run_.now();
    reason.until = next_at;
    run_.block(*this, reason);
    run_.submit();
    auto const* known = run_.known(*next_look_);
    if (known && known->status != waitpoint_status::pending) return look_again(true);
    pause_until(next_at);
}

void step_machine::look_again(bool decided_by_store)
{
    run_.drop_ticket(std::exchange(pause_, ticket::none));
    auto const timer = *next_look_;
    write_look(std::nullopt);
    run_.unblock(*this, "Run was continued: it looks again.");
    auto const look = [this, timer] {
        run_.no_longer_waits(timer, *this);
        next_look_.reset();
        attempt_next();
    };
    if (decided_by_store) {
        run_.take(timer);
        run_.submit();
        return look();
    }
    run_.add(decide_waitpoint{timer, waitpoint_status::completed});
    run_.submit_and_hold([this, look](superseded const* why) {
        if (why) look_again(true);
        else look();
    });
}

error_detail step_machine::limit_error(std::string_view last_failure) const
{
    return {errc::wait_timeout, "", texts::never_came(at_.place, last_failure), at_.place, static_cast<std::uint16_t>(attempt_)};
}

}  // namespace flow::detail
