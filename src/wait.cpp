// wait_base: a wait as the body asks for it: what is recorded of it, or what it begins with.
#include <utility>

#include "flow/ask.hpp"
#include "src/asking.hpp"
#include "src/events.hpp"
#include "src/names.hpp"
#include "src/wait_policy.hpp"
#include "src/waiting.hpp"

namespace flow::detail {

namespace {

/// As a question is stored: the limits that its policy gives it are in it (P40).
question_terms terms_to_store(question_terms t, planned_wait const& plan)
{
    t.at_deadline = plan.then.value_or(on_deadline::fail);
    t.sla_at = plan.terms.sla_at;
    if (!plan.terms.escalations.empty()) t.escalations = plan.terms.escalations;
    return t;
}

code_terms said_in_code(wait_base const& op)
{
    if (!op.is_question()) return {op.options().timeout, {}, {}, false};
    auto const& q = op.asked();
    auto const then = q.terms.at_deadline == on_deadline::fail ? std::nullopt : std::optional(q.terms.at_deadline);
    return {q.deadline, q.sla, then, q.terms.default_approves.has_value()};
}

}  // namespace

wait_reason::kind type_of(question_terms const& asked) noexcept
{
    return asked.subject == ask_subject::input ? wait_reason::kind::input : wait_reason::kind::approval;
}

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
    fail_at(r, at, std::move(d));
    return true;
}

/// The wait is over before it has begun.
void wait_base::fail_at(run& r, position const& at, error_detail d)
{
    auto e = r.make(entry_kind::wait_failed, at);
    e.name = name_.view();
    e.shape_out = shape();
    e.shape_in = mark_of(*this);
    e.input_hash = about_of(*this);
    e.payload = write_payload(to_payload(d));
    e.encoding = encoding::json;
    fail(error(std::move(d)));
    r.append(std::move(e));
    r.submit();
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
    std::optional<question_terms> stored;
    std::optional<std::string> secret;
    if (!fresh) {
        r.consumed(at);
        auto const* known = is_question() ? r.known(on.waitpoint) : nullptr;
        if (known) stored = read_terms(known->options);
        if (is_question() && !stored) stored = asked().terms;
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
        auto const policies = child_run() ? nullptr : r.hosted_by().policies();
        auto plan = plan_wait(policies.get(), is_question() ? type_of(asked().terms) : wait_reason::kind::external, said_in_code(*this), r.now());
        if (plan.due_at != never) on.due_at = plan.due_at.time_since_epoch().count();
        if (is_question()) {
            stored = terms_to_store(asked().terms, plan);
            if (stored->at_deadline != on_deadline::fail && !on.due_at) {
                fail_at(r, at, {errc::bad_argument, "", "the question \"" + printable(stored->text, 200) +
                                "\" says what happens at its deadline and has none, and no wait policy gives it one", at.place, 0});
                return r.ready(s, c);
            }
        }
        if (plan.terms != wait_terms{}) on.policy = std::move(plan.terms);
    }
    auto waiter = std::make_unique<waiting>(*this, s, c, std::move(at), std::move(on), std::move(stored));
    auto& p = *waiter;
    live = pending_ptr(waiter.release());
    return p.begin(fresh, secret.value_or("")) && r.ready(s, c);
}

}  // namespace flow::detail
