// A step whose outcome is not known: reconcile, compensate, or a person; and a stored output that is damaged (P27 to P30).
#include <algorithm>
#include <utility>

#include "src/step_machine.hpp"
#include "src/texts.hpp"

namespace flow::detail {

void step_machine::in_doubt()
{
    record_.in_doubt = true;
    role_ = role::own;
    doing_ = doing::nothing;
    if (record_.unfinished) {  // a sub-step that a crash cut off, or that is to be tried again
        auto const open = *std::exchange(record_.unfinished, std::nullopt);
        role_ = open.name == "reconcile" ? role::reconcile : role::compensate;
        bool const given = role_ == role::reconcile ? op_.make_reconcile() != nullptr : op_.make_compensate() != nullptr;
        if (given) {
            sub_index_ = record_.sub_steps - 1;
            failures_ = open.attempts_failed;
            attempt_ = failures_;
            if (record_.sub_next_at) return pause_until(*record_.sub_next_at);
            return attempt_next();
        }
        role_ = role::own;
    }
    auto const settled = std::exchange(record_.settled, {});
    auto const newest = [&](std::string_view name) {
        auto const at = std::find_if(settled.rbegin(), settled.rend(), [&](auto const& s) { return s.name == name; });
        return at == settled.rend() ? std::string() : at->fate;
    };
    if (auto const fate = newest("compensate"); !fate.empty()) {
        role_ = role::compensate;
        return sub_step_done(fate, nullptr);
    }
    if (auto const fate = newest("reconcile"); !fate.empty() && fate != "done") {
        role_ = role::reconcile;
        return sub_step_done(fate, nullptr);
    }
    if (op_.make_reconcile()) return sub_step(role::reconcile);
    role_ = role::reconcile;
    sub_step_done("unknown", nullptr);
}

void step_machine::sub_step(role what)
{
    role_ = what;
    sub_index_ = record_.sub_steps++;
    failures_ = 0;
    attempt_ = 0;
    attempt_next();
}

void step_machine::sub_step_done(std::string fate, call_result const* r)
{
    auto const was = role_;
    if (r || (doing_ == doing::calling && fate != "failed")) {  // it ran here, and is not recorded yet
        auto e = entry(entry_kind::step);
        e.why = fate;
        if (r && was == role::reconcile) {
            e.payload = r->payload;
            e.encoding = r->encoding;
            e.commit_ref = r->commit_ref;
        } else {
            e.shape_out.clear();
        }
        run_.append(std::move(e));
    }
    role_ = role::own;
    attempt_ = record_.attempts_begun;
    failures_ = record_.attempts_failed;
    doing_ = doing::nothing;
    if (cancel_wanted_ && fate != "done") {
        run_.submit();
        return give_up();
    }
    if (was == role::reconcile && fate == "done" && r) {
        if (auto const ok = op_.accept(r->encoding, r->payload); !ok) {
            run_.submit();
            return run_.hold("undecodable", ok.error().message());
        }
        auto e = entry(entry_kind::step);
        e.payload = r->payload;
        e.encoding = r->encoding;
        e.commit_ref = record_.commit_ref;
        e.why = "found by reconcile";
        return settle(std::move(e));
    }
    run_.submit();
    bool const may_run_again = (was == role::reconcile && fate == "not_done") || (was == role::compensate && fate == "done");
    if (may_run_again) {
        record_.in_doubt = false;
        if (!record_.threw_in_doubt) return attempt_next();  // a crash cut it off: that is no failure of the attempt
        failures_ = ++record_.attempts_failed;
        if (failures_ < std::max<int>(retry().max_attempts, 1) && attempt_ < most_attempts)
            return pause_until(run_.now() + delay_after(retry(), failures_));
        auto e = record_.last_error.value_or(error_detail{});
        e.code = errc::step_failed;
        e.place = at_.place;
        e.attempts = static_cast<std::uint16_t>(attempt_);
        return settle_failure(std::move(e));
    }
    if (was == role::reconcile && op_.make_compensate()) return sub_step(role::compensate);
    ask(texts::in_doubt(at_.place, record_.last_error ? record_.last_error->message : std::string()),
        {"retry", "complete", "skip", "fail", "cancel"});
}

void step_machine::cannot_store(call_result const& r)
{
    if (cls_ == effect::replayable) {
        auto e = r.error;
        e.code = errc::output_unstorable;
        e.place = at_.place;
        e.attempts = static_cast<std::uint16_t>(attempt_);
        return settle_failure(std::move(e));
    }
    // It happened: never run again for it (P28).
    auto e = entry(entry_kind::returned);
    e.payload = write_payload(to_payload(r.error));
    e.encoding = encoding::json;
    e.commit_ref = r.commit_ref;
    run_.append(std::move(e));
    record_.commit_ref = r.commit_ref;
    record_.last_error = r.error;
    ask(texts::unstorable(at_.place), {"complete", "skip", "fail", "cancel"});
}

// ---- a person ---------------------------------------------------------------------------------------------------------------

void step_machine::ask(std::string question, std::vector<std::string> choices)
{
    bool const fresh = !asked_;
    doing_ = doing::asking;
    if (fresh) {
        intervention_payload p;
        p.waitpoint = waitpoint_id{run_.draw_uuid()};
        p.question = std::move(question);
        p.choices = std::move(choices);
        p.step = at_.place;
        p.output_shape = op_.shape();
        p.attempt = static_cast<std::uint16_t>(attempt_);
        p.commit_ref = record_.commit_ref;
        if (record_.last_error) p.error = record_.last_error->message;
        if (record_.intent_at) p.intent_at = record_.intent_at->time_since_epoch().count();
        asked_ = p;
    }
    auto const& p = *asked_;
    asked_since_ = run_.now();
    run_.wait_for(p.waitpoint, *this);
    if (fresh) {
        auto e = entry(entry_kind::intervention);
        e.payload = write_payload(p);
        e.encoding = encoding::json;
        run_.append(std::move(e));
        run_.add(insert_waitpoint{texts::intervention_waitpoint(run_.row().id, p, at_.place, asked_since_)});
        run_.add(add_edge{p.waitpoint, at_.path, at_.place});
    }
    run_.block(*this, texts::asks(p, at_.place, asked_since_));
    run_.submit();
    if (auto const* known = run_.known(p.waitpoint); known && known->status != waitpoint_status::pending) woken(*known);
}

void step_machine::woken(waitpoint_row const& w)
{
    if (next_look_ && w.id == *next_look_) return look_again(true);
    if (token_ && w.id == *token_) {
        if (doing_ == doing::elsewhere) answered(w);
        else answer_ = w;
        return;
    }
    if (doing_ != doing::asking || !asked_ || w.id != asked_->waitpoint) return;
    run_.no_longer_waits(w.id, *this);
    auto d = w.status == waitpoint_status::completed ? read_payload<decision_payload>(w.output) : std::nullopt;
    if (!d) d = decision_payload{"fail", std::nullopt};  // withdrawn or unreadable: nobody decided
    auto e = entry(entry_kind::decision);
    e.payload = write_payload(*d);
    e.encoding = encoding::json;
    e.by = w.by;
    e.why = w.why;
    run_.append(std::move(e));
    run_.take(w.id);
    run_.unblock(*this, "Run was continued: " + (w.by.empty() ? std::string("somebody") : w.by) + " decided \"" + d->choice + "\".");
    asked_.reset();
    decided(*d, w.by, w.why);
}

void step_machine::decided(decision_payload const& d, std::string by, std::string why)
{
    doing_ = doing::nothing;
    if (d.choice == "retry" || d.choice == "repeat" || (d.choice == "keep" && !d.output)) {
        if (d.choice == "repeat" && damaged_) void_what_is_behind();
        run_.submit();
        if (!let_go()) {  // the timed-out function still runs: its copy must not run beside it
            doing_ = doing::timed_out;
            when_let_go_ = [this] { attempt_next(); };
            return;
        }
        record_.in_doubt = false;
        if (d.choice != "retry") damaged_.reset();  // what it returns now counts, whatever its hash
        return attempt_next();
    }
    auto e = entry(entry_kind::step);
    e.by = std::move(by);
    e.why = std::move(why);
    auto const finish_when_let_go = [this](std::function<void()> go) {
        if (let_go()) return go();
        doing_ = doing::timed_out;
        when_let_go_ = std::move(go);
    };
    if ((d.choice == "complete" || d.choice == "keep") && d.output) {
        if (auto const ok = op_.accept(encoding::json, *d.output); !ok) {
            run_.submit();
            return ask("The output given for " + at_.place + " does not fit: " + ok.error().message(),
                       {"retry", "complete", "skip", "fail", "cancel"});
        }
        e.payload = *d.output;
        e.encoding = encoding::json;
        return finish_when_let_go([this, e] { settle(e); });
    }
    if (d.choice == "skip") {
        e.kind = entry_kind::step_skipped;
        if (op_.shape() == "void") ignore(op_.accept(encoding::json, "null"), "null is void");
        else op_.fail(error(error_detail{errc::step_skipped, "", "the step was skipped by a decision", at_.place, 0}));
        return finish_when_let_go([this, e] { settle(e); });
    }
    if (d.choice == "cancel") {
        run_.submit();
        cancel_wanted_ = true;
        return finish_when_let_go([this, by = e.by, why = e.why] {
            run_.cancel_here(by, why);
        });
    }
    auto failure = record_.last_error.value_or(error_detail{});
    failure.code = errc::effect_unknown;
    if (failure.message.empty()) failure.message = "it is not known whether the step happened; a person decided that it failed";
    failure.place = at_.place;
    failure.attempts = static_cast<std::uint16_t>(attempt_);
    finish_when_let_go([this, failure, by = e.by, why = e.why] {
        auto f = entry(entry_kind::step_failed);
        f.payload = write_payload(to_payload(failure));
        f.encoding = encoding::json;
        f.by = by;
        f.why = why;
        op_.fail(error(failure));
        settle(std::move(f));
    });
}

// ---- a damaged output ---------------------------------------------------------------------------------------------------------

bool step_machine::begin_healing(journal_entry const& damaged, std::vector<journal_entry const*> behind)
{
    healing_ = true;
    run_.hold_history(true);
    damaged_ = damaged;
    behind_ = std::move(behind);
    record_.outcome = nullptr;
    auto const seq = std::to_string(static_cast<std::int64_t>(damaged.seq));
    run_.hosted_by().warn("run " + to_string(run_.row().id) + ": the stored output of " + at_.place + " (entry " + seq +
                          ") does not match its hash");
    if (record_.open_intervention) {
        asked_ = record_.open_intervention;
        ask({}, {});
    } else if (damaged.kind != entry_kind::step && damaged.kind != entry_kind::override_) {
        // A recorded failure: that it failed is known, the text is not.
        damaged_.reset();
        settle_failure({errc::step_failed, "", "the stored error does not match its hash", at_.place, damaged.attempt});
    } else if (cls_ == effect::non_replayable || op_.ends_elsewhere()) {
        ask(texts::damaged(at_.place, seq), {"complete", "fail", "cancel"});
    } else {
        attempt_next();  // same key; what it returns is compared with the hash
    }
    starting_ = false;
    return settled_;
}

void step_machine::healed(call_result const& r)
{
    if (r.end != call_end::value) {
        if (r.end == call_end::threw || r.end == call_end::not_started) return failed(r, errc::step_failed);
        return ask(texts::damaged(at_.place, std::to_string(static_cast<std::int64_t>(damaged_->seq))), {"retry", "complete", "fail", "cancel"});
    }
    if (sha256(r.payload) == damaged_->hash) {
        auto e = entry(entry_kind::healed);
        e.payload = std::to_string(static_cast<std::int64_t>(damaged_->seq));
        e.encoding = encoding::json;
        e.why = "The payload of entry " + e.payload + " was put back.";
        run_.append(std::move(e));
        run_.add(put_back{damaged_->seq, r.payload});
        run_.submit();
        op_.adopt(*own_call_);
        return finished();
    }
    // Another output than before: what was built on the old one is void, if nothing of it acted outside.
    bool const harmless = std::all_of(behind_.begin(), behind_.end(), [](journal_entry const* e) {
        using enum entry_kind;
        bool const step_like = e->kind == step || e->kind == step_failed || e->kind == started || e->kind == attempt_failed;
        return (step_like && e->cls == effect::replayable) || e->kind == value || e->kind == sleep || e->kind == woken;
    });
    if (!harmless) {
        return ask(texts::differs(at_.place), {"keep", "repeat", "complete", "fail", "cancel"});
    }
    void_what_is_behind();
    settle_value(r);
}

namespace {

/// What an entry made the run stand on: a sleep's timer, a poll's, the token of a step that ends elsewhere.
std::optional<waitpoint_id> waitpoint_of(journal_entry const& e)
{
    if (e.payload.empty()) return std::nullopt;
    if (e.kind == entry_kind::sleep) {
        auto const slept = read_payload<due_payload>(e.payload);
        return slept ? slept->waitpoint : std::nullopt;
    }
    if (e.kind != entry_kind::started && e.kind != entry_kind::intent) return std::nullopt;
    if (auto const look = read_payload<look_payload>(e.payload)) return look->waitpoint;
    auto const begun = read_payload<begun_payload>(e.payload);
    return begun ? std::optional(begun->token) : std::nullopt;
}

}  // namespace

void step_machine::void_what_is_behind()
{
    if (behind_.empty()) return;
    // What is void blocks the run no longer: else it could never be given up.
    for (auto const* e : behind_) {
        auto const stands_on = waitpoint_of(*e);
        auto const* timer = stands_on ? run_.known(*stands_on) : nullptr;
        if (!timer) continue;
        if (timer->status == waitpoint_status::pending) run_.add(decide_waitpoint{timer->id, waitpoint_status::withdrawn});
        else run_.take(timer->id);
    }
    auto e = run_.make(entry_kind::void_, {});
    e.payload = write_payload(void_payload{static_cast<std::int64_t>(behind_.front()->seq), {}});
    e.encoding = encoding::json;
    run_.recorded().cut(behind_.front()->seq);
    run_.append(std::move(e));
}

}  // namespace flow::detail
