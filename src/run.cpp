#include "src/run.hpp"

#include <algorithm>

#include "src/payloads.hpp"
#include "src/pending.hpp"
#include "src/plans.hpp"
#include "src/recovery_gate.hpp"

namespace flow::detail {

run::run(loaded_run loaded, run_settings settings, host& h)
    : row_(std::move(loaded.row)), settings_(settings), host_(h), history_(std::move(loaded.entries), settings.order),
      known_waitpoints_(std::move(loaded.waitpoints)), mailbox_(std::move(loaded.mailbox)),
      root_(std::make_unique<scope>(*this, root_branch_))
{
    last_ = durable_ = history_.last();
    before_ = stands();
    for (auto const& w : known_waitpoints_) remember_token(w.id, {w.due_at, w.place});
    open_.run = row_.id;
    open_.num = row_.num;
    begin_segment();
}

run::~run()
{
    body_.reset();  // frames first: what is in flight deregisters from what follows
    gate_.reset();
}

void run::enter(body_maker make)
{
    maker_ = std::move(make);
    if (held_for_damage()) return;
    for (auto const& r : std::exchange(mailbox_, {}))
        if (phase_ == phase::live && !dry_) mail(r);
    if (phase_ != phase::live) return;
    if (!dry_) arm_deadline();
    make_body();
    if (!body_) return after_event();
    if (!dry_) gate_ = recovery_gate::needed(*this, *root_, [this] { begin_body(); });
    if (!gate_ && !answering_) begin_body();
    else if (!gate_) kept_back_.push_back([this] { begin_body(); });
    after_event();
}

bool run::held_for_damage()
{
    auto const damage = history_.verify(row_.id);
    if (damage)
        hold("corrupt", "journal row " + std::to_string(static_cast<std::int64_t>(damage->seq)) + " is damaged (" +
                            damage->column + "). Restore a back-up of the store, then: flow resume " + to_string(row_.id));
    return damage.has_value();
}

void run::make_body()
{
    auto made = maker_();
    if (made) {
        body_ = *std::move(made);
        return;
    }
    if (!answering_) hold("undecodable", made.error().message());
    else kept_back_.push_back([this, message = made.error().message()] { hold("undecodable", message); });
}

void run::begin_body()
{
    if (phase_ != phase::live || stopping_) return;
    if (body_->start(*root_, *this)) body_done_ = true;
}

void run::dispatch(event e)
{
    if (answering_) {
        kept_back_.push_back(std::move(e));
        return;
    }
    e();
    after_event();
}

void run::after_event()
{
    for (;;) {
        if (body_done_ && phase_ == phase::live && !stopping_) finish();
        auto const before = body_done_;
        wake_durable();
        if (body_done_ != before) continue;
        if (answering_) return;
        if (kept_back_.empty()) {
            if (advance()) continue;
            if (!lastly_.empty()) {
                auto e = std::move(lastly_.front());
                lastly_.pop_front();
                if (phase_ == phase::live && !stopping_) e();
                continue;
            }
            if (pause_if_idle()) return;
            settle_status();
            if ((standing_.empty() || is_busy()) && phase_ == phase::live && !dry_ &&
                row_.status.execution == execution_status::executing_with_waitpoints && pendings_ > 0)
                change(status_event::unblock, {}, "Run was continued.");  // its wait was taken away, or something runs beside it
            submit();
            return;
        }
        auto e = std::move(kept_back_.front());
        kept_back_.pop_front();
        e();
    }
}

void run::wake_durable()
{
    if (!all_durable() || answering_) return;
    for (auto* p : std::exchange(want_durable_, {}))
        if (p) p->durable();
}

void run::applied(seq_no last)
{
    durable_ = last;
    progressed_ = progressed_ || (first_outcome_ != seq_no::none && first_outcome_ <= last);
    while (!in_flight_.empty() && in_flight_.front().first <= last) {
        bytes_in_flight_ -= in_flight_.front().second;
        in_flight_.pop_front();
    }
    if (phase_ == phase::leaving && all_durable()) {
        phase_ = phase::over;
        return;
    }
    if (answering_ && all_durable()) {
        auto then = std::exchange(answering_, nullptr);
        before_ = stands();
        then(nullptr);
    }
    after_event();
}

void run::superseded(struct superseded why)
{
    last_ = durable_;
    forget_written_snapshots();
    in_flight_.clear();
    bytes_in_flight_ = 0;
    row_.status = before_.status;
    row_.snapshot = before_.snapshot;
    row_.reason = before_.reason;
    if (phase_ == phase::leaving) phase_ = phase::live;
    if (auto then = std::exchange(answering_, nullptr)) then(&why);
    after_event();
}

bool run::is_idle() const noexcept
{
    return std::all_of(calls_.begin(), calls_.end(), [](auto const& c) { return c.second; });
}

void run::returned(ticket t, call_result result)
{
    calls_.erase(t);
    dispatch([this, t, r = std::make_shared<call_result>(std::move(result))] {
        auto const at = flying_.find(t);
        if (at != flying_.end()) at->second->returned(t, std::move(*r));
    });
}

void run::due(ticket t)
{
    dispatch([this, t] {
        if (t == deadline_ && phase_ == phase::live && !is_cancelling()) {
            request r;
            r.payload = by_deadline;
            r.by = "system";
            r.why = "its deadline passed";
            return take_cancel(r);
        }
        auto const at = flying_.find(t);
        if (at != flying_.end() && phase_ == phase::live) at->second->due(t);
    });
}

void run::woken(waitpoint_row const& w)
{
    dispatch([this, w] {
        // Each in an event of its own: what one of them goes on with may take others away.
        auto const [from, to] = waiting_.equal_range(w.id);
        std::vector<pending*> all;
        for (auto i = from; i != to; ++i) all.push_back(i->second);
        for (auto* p : all)
            later([this, p, w] {
                auto const [first, last] = waiting_.equal_range(w.id);
                bool const waits = std::any_of(first, last, [&](auto const& e) { return e.second == p; });
                if (waits && phase_ == phase::live && !stopping_) p->woken(w);
            });
    });
}

void run::mail(request const& r)
{
    dispatch([this, r] {
        if (phase_ != phase::live) return;
        take(r);
        if (auto again = std::exchange(after_mail_, nullptr)) later(std::move(again));
    });
}

void run::stop()
{
    stopping_ = true;
    std::vector<pending*> all;
    for (auto const& [t, p] : flying_)
        if (p->self() == t) all.push_back(p);
    for (auto* p : all) p->stop();
}

bool run::rests() const noexcept
{
    return phase_ == phase::live && !dry_ && calls_.empty() && pendings_ > 0 && all_durable() && !answering_ && kept_back_.empty() && lastly_.empty() && parked_.empty();
}

bool run::can_leave() const noexcept
{
    bool const settled = phase_ == phase::live && !stopping_ && !dry_ && !answering_ && !healing_ && kept_back_.empty() && lastly_.empty() && parked_.empty();
    return settled && row_.status.execution == execution_status::executing_with_waitpoints && calls_.empty() && pendings_ > 0 &&
           pendings_ == standing_.size() && may_part_with_resources() && waits_let_it_leave();
}

void run::evict()
{
    dispatch([this] {
        if (!can_leave()) return;
        snapshot_resources(true);
        change(status_event::suspend, parse_wait_reason(row_.reason), "Run was suspended: it only waits.");
        open_.change->release = true;
        phase_ = phase::leaving;
        submit_and_hold([](struct superseded const*) {});  // superseded: it is live again, and what came is on its way
    });
}

void run::release()
{
    dispatch([this] {
        if (phase_ != phase::live) return;
        bool const waiting = row_.status.execution == execution_status::executing_with_waitpoints;
        snapshot_resources(true);
        change(waiting ? status_event::suspend : status_event::requeue, parse_wait_reason(row_.reason),
               waiting ? "Run was suspended: its engine stopped." : "Run was given back: its engine stopped.");
        open_.change->release = true;
        phase_ = phase::leaving;
        // Superseded: there is mail, or a wake. The run is left as it is: whoever takes it over finds both.
        submit_and_hold([this](struct superseded const* why) {
            if (why) phase_ = phase::over;
        });
    });
}

}  // namespace flow::detail
