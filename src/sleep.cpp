#include "flow/sleep.hpp"

#include "src/payloads.hpp"
#include "src/pending.hpp"
#include "src/waits.hpp"

namespace flow::detail {

namespace {

/// A sleep that is not over. Longer than the threshold it stands on a waitpoint (P17).
class sleeping final : public pending {
public:
    sleeping(journaled_operation& op, scope& s, continuation& c, position at, time_point due_at, std::optional<waitpoint_id> w)
        : pending(s, c, std::move(at)), op_(op), due_at_(due_at), waitpoint_(w)
    {
    }

    /// True: it is over already.
    bool begin(bool fresh)
    {
        if (waitpoint_) {
            run_.wait_for(*waitpoint_, *this);
            if (fresh) {
                run_.add(insert_waitpoint{timer_row(run_.row().id, *waitpoint_, "sleep", at_.place, due_at_, run_.now())});
                run_.add(add_edge{*waitpoint_, at_.path, at_.place});
            }
            wait_reason reason;
            reason.type = wait_reason::kind::timer;
            reason.id = to_string(*waitpoint_);
            reason.name = at_.place;
            reason.since = run_.now();
            reason.until = due_at_;
            run_.block(*this, reason);
        }
        run_.submit();
        auto const* known = waitpoint_ ? run_.known(*waitpoint_) : nullptr;
        if (!fresh && cancelled_meanwhile(known)) cancel();
        else if (known && known->status != waitpoint_status::pending) wake(true);
        else run_.hosted_by().arm_at(self_, due_at_);
        starting_ = false;
        return over_;
    }

    void due(ticket) override { wake(false); }
    void woken(waitpoint_row const&) override { wake(true); }

    std::optional<waitpoint_id> withdrawable() const override { return over_ ? std::nullopt : waitpoint_; }
    void cancel() override
    {
        if (over_) return;
        run_.deliver_cancel(branch_, at_, "sleep", op_);
        run_.submit();
        end();
    }

private:
    void wake(bool decided_by_store)
    {
        if (over_) return;
        auto e = run_.make(entry_kind::woken, at_);
        e.name = "sleep";
        if (!waitpoint_) {
            run_.append(std::move(e));
            run_.submit();
            return end();
        }
        run_.append(std::move(e));
        run_.unblock(*this, "Run was continued: its sleep is over.");
        if (decided_by_store) {
            run_.take(*waitpoint_);
            run_.submit();
            return end();
        }
        run_.add(decide_waitpoint{*waitpoint_, waitpoint_status::completed});
        run_.submit_and_hold([this](superseded const* why) {
            if (why) wake(true);
            else end();
        });
    }

    void end()
    {
        over_ = true;
        land();
        if (!starting_) run_.resume(done_);
    }

    journaled_operation& op_;
    time_point due_at_;
    std::optional<waitpoint_id> waitpoint_;
    bool starting_ = true;  ///< inside begin(): the end is told by its return value
    bool over_ = false;
};

/// Timers round up to a millisecond: never early (P49).
time_point rounded(time_point t)
{
    return std::chrono::ceil<std::chrono::milliseconds>(t.time_since_epoch()) > duration::max() - std::chrono::seconds{1}
               ? t
               : time_point(std::chrono::ceil<std::chrono::milliseconds>(t.time_since_epoch()));
}

}  // namespace

void refuse_duration()
{
    throw error(errc::bad_argument, "a length of time must be finite and end within 290,000 years");
}

bool sleep_operation::start(scope& s, continuation& c) { return proceed(s, c, s.next("sleep")); }

bool sleep_operation::proceed(scope& s, continuation& c, position at)
{
    auto& r = s.owner();
    std::span<journal_entry const* const> entries;
    auto const what = r.find(s, c, at, {entry_kind::woken, "sleep", effect::none, {}, {}}, *this, entries);
    if (what == run::found::stopped) return false;
    if (what == run::found::finished) return true;

    if (what == run::found::recorded) {
        if (entries.back()->kind == entry_kind::woken) {
            r.consumed(at);
            return true;
        }
        auto const begun = read_payload<due_payload>(entries.front()->payload);
        if (!r.go_live()) return false;
        r.consumed(at);
        auto const due_at = begun ? time_point(duration(begun->due_at)) : r.now();
        auto const waitpoint = begun ? begun->waitpoint : std::nullopt;
        auto sleeper = std::make_unique<sleeping>(*this, s, c, std::move(at), due_at, waitpoint);
        auto& p = *sleeper;
        live = pending_ptr(sleeper.release());
        return p.begin(false) && r.ready(s, c);
    }

    if (!r.go_live()) return false;
    auto const now = r.now();
    if (!absolute_ && length_ > duration::max() - now.time_since_epoch()) refuse_duration();
    auto const due_at = absolute_ ? until_ : now + length_;
    due_payload payload{rounded(due_at).time_since_epoch().count(), std::nullopt};
    bool const over = due_at <= now;
    if (!over && due_at - now > r.settings().suspend_threshold) payload.waitpoint = waitpoint_id{r.draw_uuid()};
    auto e = r.make(entry_kind::sleep, at);
    e.name = "sleep";
    e.payload = write_payload(payload);
    e.encoding = encoding::json;
    r.append(std::move(e));
    if (over) {
        auto w = r.make(entry_kind::woken, at);
        w.name = "sleep";
        r.append(std::move(w));
        r.submit();
        return r.ready(s, c);
    }
    auto sleeper = std::make_unique<sleeping>(*this, s, c, std::move(at), time_point(duration(payload.due_at)), payload.waitpoint);
    auto& p = *sleeper;
    live = pending_ptr(sleeper.release());
    return p.begin(true) && r.ready(s, c);
}

}  // namespace flow::detail
