#include "src/waiting.hpp"

#include <algorithm>
#include <utility>

#include "src/asking.hpp"
#include "src/children.hpp"
#include "src/events.hpp"
#include "src/names.hpp"
#include "src/question_secrets.hpp"
#include "src/waits.hpp"

namespace flow::detail {

namespace {

constexpr std::string_view event_mark = "event";

/// `secret`: the question's; empty: it has none.
waitpoint_row question_row_of(waitpoint_row w, wait_base const& op, question_terms terms, std::string_view secret)
{
    w.purpose = waitpoint_purpose::approval;
    w.shape = op.wanted_shape();
    if (!secret.empty()) keep_secret_hashes(w, terms, secret);
    w.options = write_terms(terms);
    return w;
}

waitpoint_row event_row_of(waitpoint_row w, std::string correlation)
{
    w.type = waitpoint_type::event;
    w.purpose = waitpoint_purpose::event;
    w.correlation = std::move(correlation);
    return w;
}

}  // namespace

std::string_view mark_of(wait_base const& op) noexcept
{
    return op.is_event() ? event_mark : op.is_question() ? question_mark : std::string_view();
}

digest about_of(wait_base const& op) { return op.is_question() && !op.asked().terms.about.empty() ? sha256(op.asked().terms.about) : digest{}; }

waiting::waiting(wait_base& op, scope& s, continuation& c, position at, wait_payload w, std::optional<question_terms> asked)
    : pending(s, c, std::move(at)), op_(op), asked_(std::move(asked)), on_(std::move(w)), child_(op.child_run()),
      token_(run_.token_of(on_.waitpoint).value_or(run::made_token{never, at_.place, {}})),
      subject_(child_ ? "run " + to_string(*child_) : token_.place)
{
}

bool waiting::begin(bool fresh, std::string_view secret)
{
    run_.wait_for(on_.waitpoint, *this);
    auto const own_limit = on_.due_at ? time_point(duration(*on_.due_at)) : never;
    due_at_ = std::min(own_limit, token_.due_at);
    token_ends_ = on_.made_here || token_.due_at <= own_limit;
    // The token's row does not end this wait: something in the store must wake the run for it.
    if (fresh && !token_ends_) on_.timer = waitpoint_id{run_.draw_uuid()};
    if (on_.timer) run_.wait_for(*on_.timer, *this);
    if (fresh) write_wait(secret);
    run_.block(*this, reason(), policy().leaves);
    run_.submit();
    return take_up(fresh);
}

void waiting::write_wait(std::string_view secret)
{
    auto e = entry(entry_kind::wait);
    e.payload = write_payload(on_);
    e.encoding = encoding::json;
    run_.append(std::move(e));
    if (on_.made_here) run_.add(insert_waitpoint{row_to_make(secret)});
    run_.add(add_edge{on_.waitpoint, at_.path, at_.place});
    if (!on_.timer) return;
    run_.add(insert_waitpoint{timer_row(run_.row().id, *on_.timer, "time limit", at_.place, due_at_, run_.now())});
    run_.add(add_edge{*on_.timer, at_.path, at_.place});
}

waitpoint_row waiting::row_to_make(std::string_view secret) const
{
    auto row = token_row(run_.row().id, on_.waitpoint, at_, op_.called().view(), op_.shape(), op_.options().strict, run_.now());
    row.due_at = due_at_;
    if (op_.is_event()) return event_row_of(std::move(row), op_.correlation(run_));
    if (op_.is_question()) return question_row_of(std::move(row), op_, *asked_, secret);
    return row;
}

wait_reason waiting::reason() const
{
    wait_reason r;
    r.type = child_ ? wait_reason::kind::child : asked_ ? type_of(*asked_) : wait_reason::kind::external;
    r.id = to_string(on_.waitpoint);
    r.name = child_ ? to_string(*child_) : token_.place;
    if (asked_) r.detail = "It asks " + who_decides(*asked_) + ": " + printable(asked_->text, 1000);
    if (op_.is_event())
        r.detail = "It waits for event \"" + std::string(op_.called().view()) + "\" " +
                   (op_.is_for_this_run() ? "for this run." : "about " + printable(op_.correlation(run_), 300) + ".");
    r.since = run_.now();
    r.until = due_at_;
    tell(r, policy());
    return r;
}

/// What is known of it already.
bool waiting::take_up(bool fresh)
{
    auto const* known = run_.known(on_.waitpoint);
    bool const decided = known && known->status != waitpoint_status::pending;
    if (!fresh && cancelled_meanwhile(known)) {
        // The store withdrew a token with the cancel; a child's end has other uses, and only the edge goes.
        if (child_ && !decided) run_.take(on_.waitpoint);
        cancel();
    } else if (decided && op_.is_event() && branch_.parent) {
        // Behind the decision of its group, which may have no use for the event: then another has.
        run_.lastly([&r = run_, t = self_, row = *known] {
            if (auto* const p = r.find_flying(t)) p->woken(row);
        });
    } else if (decided) {
        woken(*known);
    } else if (lost_ = !fresh && !policy().resumable && !is_timer_over(); lost_ || is_timer_over()) {
        run_.hosted_by().arm_at(self_, run_.now());  // an event of its own: another branch may give up its wait in this one (P37)
    } else if (due_at_ != never) {
        run_.hosted_by().arm_at(self_, due_at_);
    }
    starting_ = false;
    return over_;
}

void waiting::woken(waitpoint_row const& w)
{
    if (over_) return;
    if (w.id == on_.timer) return due(self_);
    if (w.status == waitpoint_status::timed_out && by_default()) return take_default(w.id);
    bool const answered = w.status == waitpoint_status::completed && !w.output_is_error;
    auto e = entry(!answered ? entry_kind::wait_failed : child_ ? entry_kind::child_ended : op_.is_event() ? entry_kind::event : entry_kind::waited);
    e.by = w.by;
    (e.kind == entry_kind::event ? e.commit_ref : e.why) = w.why;
    e.encoding = encoding::json;
    if (answered) {
        if (auto const ok = op_.accept(w.output_encoding, w.output); !ok) {
            run_.hold("undecodable", (child_ ? "the result of " : "the answer to ") + subject_ + " does not fit its type: " + ok.error().message());
            return;
        }
        e.payload = w.output;
        e.encoding = w.output_encoding;
    } else {
        auto d = failure(w);
        e.payload = write_payload(to_payload(d));
        op_.fail(error(std::move(d)));
    }
    run_.append(std::move(e));
    run_.take(w.id);
    settle_timer(waitpoint_status::withdrawn);
    run_.unblock(*this, told_of(w));
    run_.submit();
    end();
}

std::string waiting::told_of(waitpoint_row const& w) const
{
    std::string const who = w.by.empty() ? "somebody" : w.by;
    return "Run was continued: " + (child_                                    ? subject_ + " has ended."
                                    : w.status != waitpoint_status::completed ? subject_ + " timed out."
                                    : op_.is_event()                          ? who + " told what " + subject_ + " waited for."
                                    : op_.is_question()                       ? who + " decided " + subject_ + "."
                                                                              : who + " completed " + subject_ + ".");
}

void waiting::due(ticket)
{
    if (over_) return;
    if (lost_) return lost();
    waitpoint_row timed_out;
    timed_out.status = waitpoint_status::timed_out;
    give_up(waitpoint_status::timed_out, failure(timed_out), child_ ? subject_ + " had not ended in time." : subject_ + " timed out.");
}

void waiting::lost()
{
    give_up(waitpoint_status::withdrawn,
            {errc::resource_lost, "", "the wait for " + subject_ + " cannot be resumed (wait policy " + std::to_string(policy().policy) +
                                          "), and its run has left the engine that waited", at_.place, 0},
            "it has left its engine, and its wait for " + subject_ + " cannot be resumed.");
}

/// The run ends it; unless it is answered first.
void waiting::give_up(waitpoint_status fate, error_detail why, std::string const& told)
{
    auto const given = fate == waitpoint_status::timed_out ? by_default() : std::nullopt;
    if (given && !accepts_default(*given)) return;
    auto e = entry(given ? entry_kind::waited : entry_kind::wait_failed);
    e.encoding = encoding::json;
    e.payload = given ? *given : write_payload(to_payload(why));
    run_.append(std::move(e));
    if (fate == waitpoint_status::timed_out ? token_ends_ : on_.made_here) run_.add(decide_waitpoint{on_.waitpoint, fate});
    else run_.leave_open(on_.waitpoint);
    settle_timer(fate == waitpoint_status::timed_out ? waitpoint_status::completed : waitpoint_status::withdrawn);
    run_.unblock(*this, "Run was continued: " + told);
    run_.submit_and_hold([this, d = std::move(why), given](superseded const* other) {
        if (other) {  // answered first
            if (other->by) woken(*other->by);
            return;
        }
        if (!given) op_.fail(error(d));
        end();
    });
}

std::optional<waitpoint_id> waiting::withdrawable() const { return over_ ? std::nullopt : std::optional(on_.waitpoint); }

std::optional<return_event> waiting::returnable() const
{
    if (!op_.is_event()) return std::nullopt;
    return return_event{on_.waitpoint, std::string(op_.called().view()), op_.correlation(run_)};
}

void waiting::cancel()
{
    if (over_) return;
    run_.deliver_cancel(branch_, at_, op_.called().view(), op_);
    settle_timer(waitpoint_status::withdrawn);
    run_.submit();
    end();
}

std::optional<std::string> waiting::by_default() const { return asked_ ? default_answer(*asked_) : std::nullopt; }

bool waiting::accepts_default(std::string const& given)
{
    auto const ok = op_.accept(encoding::json, given);
    if (!ok) run_.hold("undecodable", "the default answer to " + token_.place + " does not fit its type: " + ok.error().message());
    return ok.has_value();
}

/// The store let it time out while nobody held the run.
void waiting::take_default(waitpoint_id w)
{
    auto e = entry(entry_kind::waited);
    e.encoding = encoding::json;
    e.payload = *by_default();
    if (!accepts_default(e.payload)) return;
    run_.append(std::move(e));
    run_.take(w);
    run_.unblock(*this, "Run was continued: nobody decided " + token_.place + " in time.");
    run_.submit();
    end();
}

/// Nobody but its holder, or the store while nobody holds the run, decides a timer: what is known of it is all.
void waiting::settle_timer(waitpoint_status fate)
{
    if (is_timer_over()) run_.take(*on_.timer);
    else if (on_.timer) run_.add(decide_waitpoint{*on_.timer, fate});
}

bool waiting::is_timer_over() const
{
    auto const* known = on_.timer ? run_.known(*on_.timer) : nullptr;
    return known && known->status != waitpoint_status::pending;
}

void waiting::end()
{
    over_ = true;
    land();
    if (!starting_) run_.resume(done_);
}

journal_entry waiting::entry(entry_kind k) const
{
    auto e = run_.make(k, at_);
    e.name = op_.called().view();
    e.shape_out = op_.shape();
    e.shape_in = mark_of(op_);
    e.input_hash = about_of(op_);
    return e;
}

error_detail waiting::failure(waitpoint_row const& w) const
{
    if (child_ && w.status == waitpoint_status::completed) return failure_of_child(*child_, w, at_.place);
    if (w.status == waitpoint_status::timed_out && child_) return {errc::wait_timeout, "", subject_ + " had not ended in time", at_.place, 0};
    if (w.output_is_error) return {errc::step_failed, "", w.output, at_.place, 0};
    if (w.status == waitpoint_status::withdrawn) return {errc::token_ended, "", subject_ + " was withdrawn", at_.place, 0};
    if (asked_)
        return {asked_->at_deadline == on_deadline::expire ? errc::request_expired : errc::wait_timeout, "",
                who_decides(*asked_) + " did not decide " + subject_ + " in time", at_.place, 0};
    if (op_.is_event())
        return {errc::wait_timeout, "", "no event \"" + std::string(op_.called().view()) + "\" for " + printable(op_.correlation(run_), 200) +
                " came in time", at_.place, 0};
    return {errc::wait_timeout, "", "nobody completed " + subject_ + " in time", at_.place, 0};
}

wait_terms const& waiting::policy() const
{
    static wait_terms const none;
    return on_.policy ? *on_.policy : none;
}

}  // namespace flow::detail
