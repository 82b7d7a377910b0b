#include "flow/token.hpp"

#include <algorithm>

#include "flow/ask.hpp"
#include "src/asking.hpp"
#include "src/children.hpp"
#include "src/events.hpp"
#include "src/names.hpp"
#include "src/payloads.hpp"
#include "src/pending.hpp"
#include "src/question_secrets.hpp"
#include "src/waits.hpp"

namespace flow::detail {

namespace {

waitpoint_row token_row(run& r, waitpoint_id id, position const& at, std::string_view name, std::string_view shape, bool strict)
{
    waitpoint_row w;
    w.id = id;
    w.run = r.row().id;
    w.type = waitpoint_type::manual;
    w.purpose = waitpoint_purpose::token;
    w.name = name;
    w.place = at.place;
    w.shape = shape;
    w.created_at = r.now();
    w.options = strict ? R"({"strict":true})" : "";
    return w;
}

time_point limit_from(time_point now, wait_limit limit)
{
    if (!limit.is_set()) return never;
    return limit.get() > duration::max() - now.time_since_epoch() ? never : now + limit.get();
}

}  // namespace

outcome<void> make_token_base::accept(encoding, std::string_view payload)
{
    auto const id = payload.size() > 2 ? parse_uuid(payload.substr(1, payload.size() - 2)) : std::nullopt;
    if (!id) return error(errc::undecodable, "expected a token's id");
    id_ = waitpoint_id{*id};
    return {};
}

bool make_token_base::start(scope& s, continuation& c)
{
    // Before the position is taken: what is refused here leaves no trace in the run.
    auto const* under_key = s.owner().find_keyed(options_.idempotency_key);
    if (under_key && under_key->answer != answer_()) {
        fail(error(errc::usage, "the idempotency key \"" + printable(options_.idempotency_key, 100) + "\" was used for a token of " +
                                    under_key->answer + "; this one is of " + std::string(answer_())));
        return true;
    }
    return proceed(s, c, s.next(name_.view()));
}

bool make_token_base::proceed(scope& s, continuation& c, position at)
{
    auto& r = s.owner();
    auto const* under_key = r.find_keyed(options_.idempotency_key);
    std::span<journal_entry const* const> entries;
    auto const what = r.find(s, c, at, {entry_kind::token, name_.view(), effect::none, {}, answer_()}, *this, entries);
    if (what == run::found::stopped) return false;
    if (what == run::found::finished) return true;
    if (what == run::found::recorded) {
        auto const& e = *entries.back();
        auto const text = r.intact_payload(e);
        if (!text || !accept(encoding::json, *text)) {
            r.hold("corrupt", "the recorded token at " + at.place + " is damaged (payload)");
            return false;
        }
        is_cached_ = under_key && under_key->id == id_;
        if (!is_cached_) keep_key(r, e.at);
        r.consumed(at);
        return true;
    }
    if (!r.go_live()) return false;
    if (under_key && r.now() < under_key->until) {
        id_ = under_key->id;
        is_cached_ = true;
    } else if (!make(r, at)) {
        return false;
    }
    auto e = r.make(entry_kind::token, at);
    e.name = name_.view();
    e.shape_out = answer_();
    e.payload = '"' + to_string(id_) + '"';
    e.encoding = encoding::json;
    if (!is_cached_) keep_key(r, r.now());
    r.append(std::move(e));
    r.submit();
    return true;
}

void make_token_base::keep_key(run& r, time_point made_at) const
{
    if (!options_.idempotency_key.empty())
        r.keep_keyed(options_.idempotency_key, {id_, limit_from(made_at, options_.idempotency_key_ttl), std::string(answer_())});
}

bool make_token_base::make(run& r, position const& at)
{
    uuid id;
    r.hosted_by().fill_random(id.bytes);
    id_ = waitpoint_id{id};
    auto const secret = r.secret_of(id_);
    if (!secret) return false;
    auto row = token_row(r, id_, at, name_.view(), answer_(), options_.strict);
    row.secret_hash = sha256(*secret);
    row.due_at = limit_from(r.now(), options_.lifetime);
    // The place tells it from an older one whose key no longer counts.
    if (!options_.idempotency_key.empty()) {
        auto const segment = r.segment() == 0 ? std::string() : std::to_string(r.segment()) + '/';
        row.idempotency_key = std::string(options_.idempotency_key) + '@' + segment + at.place;
    }
    r.remember_token(id_, {row.due_at, at.place});
    r.add(insert_waitpoint{std::move(row)});
    return true;
}

namespace {

/// shape_in of the entries of a wait for an event.
constexpr std::string_view event_mark = "event";

std::string_view mark_of(wait_base const& op) { return op.is_event() ? event_mark : op.is_question() ? question_mark : std::string_view(); }

digest about_of(wait_base const& op) { return op.is_question() && !op.asked().terms.about.empty() ? sha256(op.asked().terms.about) : digest{}; }

/// `secret`: the question's; empty: it has none.
waitpoint_row question_row_of(waitpoint_row w, wait_base const& op, std::string_view secret)
{
    w.purpose = waitpoint_purpose::approval;
    w.shape = op.wanted_shape();
    auto terms = op.asked().terms;
    if (auto const sla = limit_from(w.created_at, op.asked().sla); sla != never) terms.sla_at = sla;
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

/// A wait that is not over.
class waiting final : public pending {
public:
    waiting(wait_base& op, scope& s, continuation& c, position at, wait_payload w)
        : pending(s, c, std::move(at)), op_(op), on_(w), child_(op.child_run()),
          token_(run_.token_of(w.waitpoint).value_or(run::made_token{never, at_.place, {}})),
          subject_(child_ ? "run " + to_string(*child_) : token_.place)
    {
    }

    /// True: it is over already. `secret`: of a question that is new and has secrets.
    bool begin(bool fresh, std::string_view secret)
    {
        run_.wait_for(on_.waitpoint, *this);
        if (auto const* row = run_.known(on_.waitpoint); row && op_.is_question()) asked_ = read_terms(row->options);
        auto const own_limit = on_.due_at ? time_point(duration(*on_.due_at)) : never;
        auto const lifetime = token_.due_at;
        due_at_ = std::min(own_limit, lifetime);
        token_ends_ = on_.made_here || lifetime <= own_limit;
        // The token's row does not end this wait: something in the store must wake the run for it.
        if (fresh && !token_ends_) on_.timer = waitpoint_id{run_.draw_uuid()};
        if (on_.timer) run_.wait_for(*on_.timer, *this);
        if (fresh) {
            auto e = entry(entry_kind::wait);
            e.payload = write_payload(on_);
            e.encoding = encoding::json;
            run_.append(std::move(e));
            if (on_.made_here) {
                auto row = token_row(run_, on_.waitpoint, at_, op_.called().view(), op_.shape(), op_.options().strict);
                row.due_at = due_at_;
                if (op_.is_event()) row = event_row_of(std::move(row), op_.correlation(run_));
                if (op_.is_question()) row = question_row_of(std::move(row), op_, secret);
                run_.add(insert_waitpoint{std::move(row)});
            }
            run_.add(add_edge{on_.waitpoint, at_.path, at_.place});
            if (on_.timer) {
                run_.add(insert_waitpoint{timer_row(run_.row().id, *on_.timer, "time limit", at_.place, due_at_, run_.now())});
                run_.add(add_edge{*on_.timer, at_.path, at_.place});
            }
        }
        wait_reason reason;
        reason.type = child_ ? wait_reason::kind::child : wait_reason::kind::external;
        reason.id = to_string(on_.waitpoint);
        reason.name = child_ ? to_string(*child_) : token_.place;
        if (op_.is_question()) {
            auto const& asked = terms();
            reason.type = asked.subject == ask_subject::input ? wait_reason::kind::input : wait_reason::kind::approval;
            reason.detail = "It asks " + who_decides(asked) + ": " + printable(asked.text, 1000);
        }
        if (op_.is_event())
            reason.detail = "It waits for event \"" + std::string(op_.called().view()) + "\" " +
                            (op_.is_for_this_run() ? "for this run." : "about " + printable(op_.correlation(run_), 300) + ".");
        reason.since = run_.now();
        reason.until = due_at_;
        run_.block(*this, reason);
        run_.submit();
        auto const* known = run_.known(on_.waitpoint);
        if (!fresh && cancelled_meanwhile(known)) {
            // The store withdrew a token with the cancel; a child's end has other uses, and only the edge goes.
            if (child_ && (!known || known->status == waitpoint_status::pending)) run_.take(on_.waitpoint);
            cancel();
        }
        else if (known && known->status != waitpoint_status::pending && op_.is_event() && branch_.parent) {
            // Behind the decision of its group, which may have no use for the event: then another has.
            run_.lastly([&r = run_, t = self_, row = *known] {
                if (auto* const p = r.find_flying(t)) p->woken(row);
            });
        } else if (known && known->status != waitpoint_status::pending) woken(*known);
        else if (is_timer_over()) due(self_);
        else if (due_at_ != never) run_.hosted_by().arm_at(self_, due_at_);
        starting_ = false;
        return over_;
    }

    void woken(waitpoint_row const& w) override
    {
        if (over_) return;
        if (w.id == on_.timer) return due(self_);
        if (w.status == waitpoint_status::timed_out && by_default()) return take_default(w.id);
        bool const answered = w.status == waitpoint_status::completed && !w.output_is_error;
        auto e = entry(!answered ? entry_kind::wait_failed : child_ ? entry_kind::child_ended : op_.is_event() ? entry_kind::event : entry_kind::waited);
        e.by = w.by;
        (e.kind == entry_kind::event ? e.commit_ref : e.why) = w.why;
        e.encoding = encoding::json;
        std::string const who = w.by.empty() ? "somebody" : w.by;
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
        run_.unblock(*this, child_                                    ? "Run was continued: " + subject_ + " has ended."
                            : w.status != waitpoint_status::completed ? "Run was continued: " + subject_ + " timed out."
                            : op_.is_event()                          ? "Run was continued: " + who + " told what " + subject_ + " waited for."
                            : op_.is_question()                       ? "Run was continued: " + who + " decided " + subject_ + "."
                                                                      : "Run was continued: " + who + " completed " + subject_ + ".");
        run_.submit();
        end();
    }

    void due(ticket) override
    {
        if (over_) return;
        waitpoint_row timed_out;
        timed_out.status = waitpoint_status::timed_out;
        auto d = failure(timed_out);
        auto const given = by_default();
        if (given && !accepts_default(*given)) return;
        auto e = entry(given ? entry_kind::waited : entry_kind::wait_failed);
        e.encoding = encoding::json;
        e.payload = given ? *given : write_payload(to_payload(d));
        run_.append(std::move(e));
        if (token_ends_) run_.add(decide_waitpoint{on_.waitpoint, waitpoint_status::timed_out});
        else run_.leave_open(on_.waitpoint);
        settle_timer(waitpoint_status::completed);
        run_.unblock(*this, child_ ? "Run was continued: " + subject_ + " had not ended in time." : "Run was continued: " + subject_ + " timed out.");
        run_.submit_and_hold([this, d, given](superseded const* why) {
            if (why) {  // answered first
                if (why->by) woken(*why->by);
                return;
            }
            if (!given) op_.fail(error(d));
            end();
        });
    }

    std::optional<waitpoint_id> withdrawable() const override
    {
        return over_ ? std::nullopt : std::optional(on_.waitpoint);
    }
    std::optional<return_event> returnable() const override
    {
        if (!op_.is_event()) return std::nullopt;
        return return_event{on_.waitpoint, std::string(op_.called().view()), op_.correlation(run_)};
    }
    bool leaves_open() const override { return !on_.made_here; }
    bool leaves_undecided() const override { return child_.has_value(); }
    void cancel() override
    {
        if (over_) return;
        run_.deliver_cancel(branch_, at_, op_.called().view(), op_);
        settle_timer(waitpoint_status::withdrawn);
        run_.submit();
        end();
    }

private:
    std::optional<std::string> by_default() const { return op_.is_question() ? default_answer(terms()) : std::nullopt; }
    /// As they were when it was asked (P40), not as the code has them now.
    question_terms const& terms() const { return asked_ ? *asked_ : op_.asked().terms; }
    bool accepts_default(std::string const& given)
    {
        auto const ok = op_.accept(encoding::json, given);
        if (!ok) run_.hold("undecodable", "the default answer to " + token_.place + " does not fit its type: " + ok.error().message());
        return ok.has_value();
    }
    /// The store let it time out while nobody held the run.
    void take_default(waitpoint_id w)
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
    void settle_timer(waitpoint_status fate)
    {
        if (is_timer_over()) run_.take(*on_.timer);
        else if (on_.timer) run_.add(decide_waitpoint{*on_.timer, fate});
    }
    bool is_timer_over() const
    {
        auto const* known = on_.timer ? run_.known(*on_.timer) : nullptr;
        return known && known->status != waitpoint_status::pending;
    }

    void end()
    {
        over_ = true;
        land();
        if (!starting_) run_.resume(done_);
    }

    journal_entry entry(entry_kind k) const
    {
        auto e = run_.make(k, at_);
        e.name = op_.called().view();
        e.shape_out = op_.shape();
        e.shape_in = mark_of(op_);
        e.input_hash = about_of(op_);
        return e;
    }
    error_detail failure(waitpoint_row const& w) const
    {
        if (child_ && w.status == waitpoint_status::completed) return failure_of_child(*child_, w, at_.place);
        if (w.status == waitpoint_status::timed_out && child_) return {errc::wait_timeout, "", subject_ + " had not ended in time", at_.place, 0};
        if (w.output_is_error) return {errc::step_failed, "", w.output, at_.place, 0};
        if (w.status == waitpoint_status::withdrawn) return {errc::token_ended, "", subject_ + " was withdrawn", at_.place, 0};
        if (op_.is_question())
            return {terms().at_deadline == on_deadline::expire ? errc::request_expired : errc::wait_timeout, "",
                    who_decides(terms()) + " did not decide " + subject_ + " in time", at_.place, 0};
        if (op_.is_event())
            return {errc::wait_timeout, "", "no event \"" + std::string(op_.called().view()) + "\" for " + printable(op_.correlation(run_), 200) +
                    " came in time", at_.place, 0};
        return {errc::wait_timeout, "", "nobody completed " + subject_ + " in time", at_.place, 0};
    }

    wait_base& op_;
    std::optional<question_terms> asked_;
    wait_payload on_;
    std::optional<run_id> child_;  ///< it waits for the end of this run
    run::made_token token_;
    std::string subject_;  ///< for people: what it waits for
    time_point due_at_ = never;
    bool token_ends_ = false;  ///< at due_at_ the token itself is over, not only this wait for it
    bool starting_ = true;     ///< inside begin(): the end is told by its return value
    bool over_ = false;
};

}  // namespace

/// Another run's token may be waited for; one that is nowhere may not.
bool wait_base::is_unknown(run& r, position const& at)
{
    auto const row = r.hosted_by().find_waitpoint(*id_);
    if (!row) return false;  // a store that cannot be read says so when the wait is written
    if (*row) {
        r.remember_token((*row)->id, {(*row)->due_at, (*row)->place});
        return false;
    }
    error_detail d{errc::unknown_token, "", "there is no token " + to_string(*id_) + " in this store", at.place, 0};
    if (auto const child = child_run())
        d = {errc::unknown_run, "", "nothing in this store waits for run " + to_string(*child) + ": it was started detached, or never", at.place, 0};
    auto e = r.make(entry_kind::wait_failed, at);
    e.name = name_.view();
    e.shape_out = shape();
    e.payload = write_payload(to_payload(d));
    e.encoding = encoding::json;
    fail(error(d));
    r.append(std::move(e));
    r.submit();
    return true;
}

std::string wait_base::correlation(run const& r) const
{
    return source_ == source::event_for_this_run ? to_string(r.row().id) : std::string(correlation_.view());
}

bool wait_base::is_refused()
{
    if (source_ != source::event) return false;
    try {
        check_correlation(correlation_.view(), "wait_for_event \"" + printable(name_.view(), 256) + "\"");
    } catch (error const& e) {
        fail(e);
        return true;
    }
    return false;
}

bool wait_base::start(scope& s, continuation& c)
{
    // Before the position is taken: what is refused here leaves no trace in the run.
    return is_refused() || proceed(s, c, s.next(name_.view()));
}

bool wait_base::proceed(scope& s, continuation& c, position at)
{
    auto& r = s.owner();
    std::span<journal_entry const* const> entries;
    auto const what = r.find(s, c, at, {entry_kind::waited, name_.view(), effect::none, mark_of(*this), shape()}, *this, entries);
    if (what == run::found::stopped) return false;
    if (what == run::found::finished) return true;

    wait_payload on;
    bool fresh = true;
    std::optional<std::string> secret;
    if (what == run::found::recorded) {
        auto const& last = *entries.back();
        if (entries.front()->input_hash != about_of(*this)) {
            r.hold("nondeterminism", "what " + at.place + " asks about (position " + at.path + ") is not what was asked: nobody has decided on this. Put the old "
                                     "code back and start again, or ask at a place of its own");
            return false;
        }
        if (last.kind == entry_kind::waited || last.kind == entry_kind::event || last.kind == entry_kind::child_ended ||
            last.kind == entry_kind::wait_failed) {
            auto const text = r.intact_payload(last);
            if (!text) {
                r.hold("corrupt", "the recorded answer to " + at.place + " (entry " +
                                      std::to_string(static_cast<std::int64_t>(last.seq)) + ") is damaged (payload)");
                return false;
            }
            if (last.kind == entry_kind::wait_failed) {
                auto const p = read_payload<failure_payload>(*text);
                fail(error(p ? from_payload(*p) : error_detail{errc::wait_timeout, "", "", at.place, 0}));
            } else if (auto const ok = accept(last.encoding, *text); !ok) {
                r.hold("undecodable", "the stored answer to " + at.place + " no longer fits its type: " + ok.error().message() +
                                          ". Make the type read it again, then: flow resume " + to_string(r.row().id));
                return false;
            }
            r.consumed(at);
            return true;
        }
        if (auto p = read_payload<wait_payload>(entries.front()->payload)) on = *p;
        fresh = false;
    }
    if (!r.go_live()) return false;
    if (!fresh) {
        r.consumed(at);
    } else {
        on.made_here = !id_;
        if (id_ && !r.token_of(*id_) && is_unknown(r, at)) return r.ready(s, c);
        if (id_) {
            on.waitpoint = *id_;
        } else {
            uuid id;
            r.hosted_by().fill_random(id.bytes);
            on.waitpoint = waitpoint_id{id};
            if (is_question() && asked().secrets && !(secret = r.secret_of(on.waitpoint))) return false;
        }
        auto const until = limit_from(r.now(), is_question() ? asked().deadline : options_.timeout);
        if (until != never) on.due_at = until.time_since_epoch().count();
    }
    auto waiter = std::make_unique<waiting>(*this, s, c, std::move(at), on);
    auto& p = *waiter;
    live = pending_ptr(waiter.release());
    return p.begin(fresh, secret.value_or("")) && r.ready(s, c);
}

}  // namespace flow::detail
