#include "src/run.hpp"

#include <algorithm>

#include "src/payloads.hpp"
#include "src/pending.hpp"
#include "src/plans.hpp"
#include "src/recovery_gate.hpp"

namespace flow::detail {

run::run(loaded_run loaded, run_settings settings, host& h)
    : row_(std::move(loaded.row)), settings_(settings), host_(h), history_(std::move(loaded.entries)),
      known_waitpoints_(std::move(loaded.waitpoints)), mailbox_(std::move(loaded.mailbox)),
      root_(std::make_unique<scope>(*this, root_branch_))
{
    last_ = durable_ = history_.last();
    before_ = stands();
    for (auto const& w : known_waitpoints_) remember_due(w.id, w.due_at);
    open_.run = row_.id;
    open_.num = row_.num;
}

run::~run()
{
    body_.reset();  // frames first: what is in flight deregisters from what follows
    gate_.reset();
}

// ---- events -------------------------------------------------------------------------------------------------------------

void run::enter(std::unique_ptr<body> b)
{
    body_ = std::move(b);
    if (auto damage = history_.verify(row_.id)) {
        hold("corrupt", "journal row " + std::to_string(static_cast<std::int64_t>(damage->seq)) + " is damaged (" +
                            damage->column + "). Restore a back-up of the store, then: flow resume " + to_string(row_.id));
        return;
    }
    for (auto const& r : std::exchange(mailbox_, {}))
        if (phase_ == phase::live && !dry_) mail(r);
    if (phase_ != phase::live) return;
    if (!dry_) gate_ = recovery_gate::needed(*this, *root_, [this] { begin_body(); });
    if (!gate_ && !answering_) begin_body();
    else if (!gate_) kept_back_.push_back([this] { begin_body(); });
    after_event();
}

void run::refuse(std::string kind, std::string message)
{
    for (auto const& r : std::exchange(mailbox_, {}))
        if (phase_ == phase::live && !dry_) mail(r);
    if (!answering_) hold(std::move(kind), std::move(message));
    else kept_back_.push_back([this, kind, message] { hold(kind, message); });
    after_event();
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
        if (answering_ || kept_back_.empty()) return;
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

void run::superseded(std::optional<waitpoint_row> decided)
{
    last_ = durable_;
    in_flight_.clear();
    bytes_in_flight_ = 0;
    row_.status = before_.status;
    row_.snapshot = before_.snapshot;
    row_.reason = before_.reason;
    if (phase_ == phase::leaving) phase_ = phase::live;
    struct superseded const why{std::move(decided)};
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
        auto const at = flying_.find(t);
        if (at != flying_.end() && phase_ == phase::live) at->second->due(t);
    });
}

void run::woken(waitpoint_row const& w)
{
    dispatch([this, w] {
        auto const at = waiting_.find(w.id);
        if (at != waiting_.end() && phase_ == phase::live && !stopping_) at->second->woken(w);
    });
}

void run::mail(request const& r)
{
    dispatch([this, r] {
        if (phase_ != phase::live) return;
        take(r);
        if (auto again = std::exchange(hold_again_, nullptr)) again();
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

void run::release()
{
    dispatch([this] {
        if (phase_ != phase::live) return;
        bool const waiting = row_.status.execution == execution_status::executing_with_waitpoints;
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

// ---- for operations -------------------------------------------------------------------------------------------------------

namespace {

/// The operation an entry belongs to, by the kind of its outcome.
entry_kind family(entry_kind k) noexcept
{
    using enum entry_kind;
    switch (k) {
    case intent: case started: case attempt_failed: case step: case step_failed: case step_skipped: case returned:
    case abandoned: case intervention: case decision: return step;
    case wait: case waited: case wait_failed: return waited;
    case sleep: case woken: return woken;
    default: return k;
    }
}

std::string_view family_name(entry_kind k) noexcept
{
    using enum entry_kind;
    switch (family(k)) {
    case step: return "step";
    case waited: return "wait_for_token";
    case woken: return "sleep";
    case token: return "make_token";
    case value: return "value";
    default: return to_string(k);
    }
}

}  // namespace

run::found run::find(scope const& s, position const& at, expectation const& wanted, journaled_operation& op,
                     std::span<journal_entry const* const>& entries)
{
    if (phase_ != phase::live || stopping_) return found::stopped;
    bool const reachable = !s.shielded();
    if (s.in_branch().cancel_delivered && reachable) {
        op.fail(error(errc::cancelled, "the run was cancelled"));
        return found::finished;
    }
    entries = history_.peek();
    if (entries.empty()) {
        if (!is_cancelling() || !reachable) return found::nothing;
        if (!go_live()) return found::stopped;
        deliver_cancel(s.in_branch(), at, wanted.name, op);
        submit();
        return found::finished;
    }
    auto const& first = *entries.front();
    auto const& last = *entries.back();
    bool const kind_fits = first.kind == entry_kind::cancel_delivered || family(first.kind) == wanted.kind;
    bool const class_fits = first.cls == effect::none || wanted.cls == effect::none || first.cls == wanted.cls;
    bool const shape_fits = (first.shape_out.empty() || first.shape_out == wanted.shape_out) &&
                            (first.shape_in.empty() || first.shape_in == wanted.shape_in);
    if (first.path != at.path || !kind_fits || first.name != wanted.name || !class_fits || !shape_fits) {
        mismatch(at, wanted, first);
        return found::stopped;
    }
    if (last.kind == entry_kind::cancel_delivered) {
        s.in_branch().cancel_delivered = true;
        op.fail(error(errc::cancelled, "the run was cancelled"));
        history_.pass();
        return found::finished;
    }
    return found::recorded;
}

std::optional<std::string_view> run::intact_payload(journal_entry const& e)
{
    std::string_view text = e.payload;
    if (e.in_blob) {
        auto blob = host_.load_blob(e.hash);
        if (!blob) return std::nullopt;
        blob_ = *std::move(blob);
        text = blob_;
    }
    if (sha256(text) != e.hash) return std::nullopt;
    return text;
}

journal_entry run::make(entry_kind k, position const& at) const
{
    journal_entry e;
    e.kind = k;
    e.path = at.path;
    e.place = at.place;
    return e;
}

seq_no run::append(journal_entry e)
{
    last_ = next(last_);
    e.seq = last_;
    e.epoch = row_.epoch;
    e.at = now();
    e.in_blob = e.payload.size() > settings_.blob_threshold;
    seal(e, row_.id);
    open_bytes_ += e.payload.size() + 200;  // a row's other columns, roughly
    open_.entries.push_back(std::move(e));
    return last_;
}

void run::change(status_event on, wait_reason const& reason, std::string why)
{
    auto const to = next(row_.status, on, status_actor::holder);
    if (!to) {
        host_.warn("status: " + std::string(to_string(row_.status.execution)) + "/" +
                   std::string(to_string(row_.status.run)) + " does not allow " + std::string(to_string(on)));
        return;
    }
    auto e = snapshot_entry(*to, on, row_.snapshot, to_json(reason), std::move(why), {}, now());
    row_.snapshot = append(std::move(e));
    row_.status = *to;
    row_.reason = to_json(reason);
    open_.change = run_change{*to, row_.terminal_reason, row_.reason, false};
}

void run::submit()
{
    if (open_.entries.empty()) return;
    group g;
    std::swap(g, open_);
    open_.run = g.run;
    open_.num = g.num;
    g.epoch = row_.epoch;
    g.after = seq_no{static_cast<std::int64_t>(g.entries.front().seq) - 1};
    in_flight_.emplace_back(last_, open_bytes_);
    bytes_in_flight_ += std::exchange(open_bytes_, 0);
    if (!answering_) before_ = stands();
    host_.write(std::move(g));
}

void run::submit_and_hold(answered then)
{
    answering_ = std::move(then);
    submit();
}

bool run::window_full() const noexcept
{
    return static_cast<std::int64_t>(last_) - static_cast<std::int64_t>(durable_) >=
               static_cast<std::int64_t>(settings_.window_entries) ||
           bytes_in_flight_ >= settings_.window_bytes;
}

void run::when_durable(pending& p) { want_durable_.push_back(&p); }

void run::block(wait_reason const& reason)
{
    // A run taken over while it waited stands on what it waited for then; a snapshot only if that is another thing now.
    bool const waits_already = row_.status.execution == execution_status::executing_with_waitpoints;
    if (row_.status.execution == execution_status::executing || (waits_already && parse_wait_reason(row_.reason).id != reason.id))
        change(status_event::block, reason, "Run was blocked by a waitpoint.");
}

void run::unblock(std::string why)
{
    if (row_.status.execution == execution_status::executing_with_waitpoints)
        change(status_event::unblock, {}, std::move(why));
}

void run::resume(completion& c)
{
    if (!stopping_ && phase_ == phase::live) c.done();
}

ticket run::enter_flight(pending& p)
{
    auto const t = ticket{next_ticket_++};
    flying_[t] = &p;
    return t;
}

ticket run::second_ticket(pending& p) { return enter_flight(p); }

void run::drop_ticket(ticket t) noexcept
{
    if (t == ticket::none) return;
    host_.disarm(t);
    flying_.erase(t);
}

void run::leave_flight(pending& p) noexcept
{
    for (auto i = flying_.begin(); i != flying_.end();) {
        if (i->second == &p) {
            host_.disarm(i->first);
            i = flying_.erase(i);
        } else {
            ++i;
        }
    }
    std::erase_if(waiting_, [&](auto const& w) { return w.second == &p; });
    std::replace(want_durable_.begin(), want_durable_.end(), &p, static_cast<pending*>(nullptr));
}

void run::wait_for(waitpoint_id w, pending& p) { waiting_[w] = &p; }
void run::no_longer_waits(waitpoint_id w) noexcept { waiting_.erase(w); }

waitpoint_row const* run::known(waitpoint_id w) const
{
    for (auto const& row : known_waitpoints_)
        if (row.id == w) return &row;
    return nullptr;
}

time_point run::token_due(waitpoint_id w) const
{
    auto const at = token_due_.find(w);
    return at == token_due_.end() ? never : at->second;
}

uuid run::draw_uuid()
{
    uuid id;
    host_.fill_random(id.bytes);
    id.bytes[6] = static_cast<std::uint8_t>((id.bytes[6] & 0x0F) | 0x40);
    id.bytes[8] = static_cast<std::uint8_t>((id.bytes[8] & 0x3F) | 0x80);
    return id;
}

bool run::go_live()
{
    if (dry_) would_go_on_ = true;
    return !dry_ && !stopping_ && phase_ == phase::live;
}

// ---- holds ------------------------------------------------------------------------------------------------------------------

void run::hold(std::string kind, std::string message)
{
    if (phase_ != phase::live) return;
    if (dry_) {
        would_be_held_by_ = std::move(message);
        phase_ = phase::over;
        return;
    }
    if (is_cancelling()) {  // its clean-up cannot be reached: it ends without
        leave(status_event::end_cancelled, entry_kind::failure,
              write_payload(to_payload({errc::cancelled, "", "the run was cancelled", "", 0})), encoding::json, {}, "cancelled",
              "Run was cancelled. Its clean-up did not run: " + message);
        return;
    }
    phase_ = phase::leaving;
    host_.warn("run " + to_string(row_.id) + " is held (" + kind + "): " + message);
    wait_reason reason;
    reason.type = wait_reason::kind::code;
    reason.id = std::move(kind);
    reason.detail = message;
    reason.since = now();
    change(status_event::hold, reason, std::move(message));
    open_.change->release = true;
    submit_and_hold([this, kind = reason.id, message = reason.detail](struct superseded const* why) {
        if (why) hold_again_ = [this, kind, message] { hold(kind, message); };
    });
}

void run::mismatch(position const& at, expectation const& wanted, journal_entry const& recorded)
{
    auto describe_class = [](effect e) { return e == effect::none ? std::string("default class") : std::string(to_string(e)); };
    std::string text = "nondeterminism at position " + at.path + " (branch: top) of workflow " + row_.workflow + " version " +
                       std::to_string(row_.version) + ": the journal has " + std::string(family_name(recorded.kind)) + " \"" +
                       recorded.name + "\" (" + describe_class(recorded.cls) + ", shape " +
                       (recorded.shape_out.empty() ? "-" : recorded.shape_out) + ", position " + recorded.path +
                       ", entry " + std::to_string(static_cast<std::int64_t>(recorded.seq)) + "), the code asks for " +
                       std::string(family_name(wanted.kind)) + " \"" + std::string(wanted.name) + "\" (" +
                       describe_class(wanted.cls) + ", shape " +
                       (wanted.shape_out.empty() ? "-" : std::string(wanted.shape_out)) + ", place " + at.place +
                       "). Put the old code back and start again, or register the new code as another version";
    hold("nondeterminism", std::move(text));
}

void run::unused(journal_entry const& recorded)
{
    hold("nondeterminism",
         "nondeterminism at the end of workflow " + row_.workflow + " version " + std::to_string(row_.version) +
             " (branch: top): the journal goes on with " + std::string(family_name(recorded.kind)) + " \"" + recorded.name +
             "\" (position " + recorded.path + ", entry " + std::to_string(static_cast<std::int64_t>(recorded.seq)) +
             "), the code has ended. Put the old code back and start again, or register the new code as another version");
}

// ---- requests and cancel --------------------------------------------------------------------------------------------------

void run::take(request const& r)
{
    if (r.kind == request_kind::cancel) return take_cancel(r, {});
    auto e = make(entry_kind::request, {});
    e.name = to_string(r.kind);
    e.by = r.by;
    e.why = r.why;
    append(std::move(e));
    add(take_request{r.id, 0});
    submit();
}

void run::cancel_here(std::string by, std::string why)
{
    request r;
    r.id = request_id{};  // nobody's row: decided by an intervention
    r.run = row_.id;
    r.by = std::move(by);
    r.why = std::move(why);
    take_cancel(r, {});
}

void run::take_cancel(request const& r, std::vector<waitpoint_row> answered_first)
{
    bool const again = is_cancelling();
    auto e = make(entry_kind::request, {});
    e.name = to_string(request_kind::cancel);
    e.by = r.by;
    e.why = r.why;
    append(std::move(e));
    if (!r.id.value.is_nil()) add(take_request{r.id, open_.entries.size() - 1});
    if (again) return submit();  // a second cancel changes nothing more

    std::vector<ticket> reached;
    bool withdraws = false;
    for (auto const& [t, p] : flying_) {
        if (p->self() != t || p->shielded()) continue;
        auto const w = p->withdrawable();
        bool const answered = w && std::any_of(answered_first.begin(), answered_first.end(),
                                               [&](auto const& row) { return row.id == *w; });
        if (w && !answered) {
            add(decide_waitpoint{*w, waitpoint_status::withdrawn});
            withdraws = true;
        }
        if (!answered) reached.push_back(t);
    }
    change(status_event::cancel, {}, "Cancel was taken" + (r.by.empty() ? std::string(".") : ": asked for by " + r.by + "."));
    auto deliver = [this, reached, answered_first] {
        for (auto const& row : answered_first) woken(row);
        for (auto t : reached) {
            auto const at = flying_.find(t);
            if (at != flying_.end()) at->second->cancel();
        }
    };
    if (!withdraws) {
        submit();
        deliver();
        return;
    }
    submit_and_hold([this, r, deliver, answered_first](struct superseded const* why) mutable {
        if (!why) return deliver();
        if (why->by) answered_first.push_back(*why->by);  // it is answered: its value comes first (P42)
        take_cancel(r, std::move(answered_first));
    });
}

void run::deliver_cancel(branch& b, position const& at, std::string_view name, journaled_operation& op)
{
    auto e = make(entry_kind::cancel_delivered, at);
    e.name = name;
    append(std::move(e));
    b.cancel_delivered = true;
    op.fail(error(errc::cancelled, "the run was cancelled"));
}

// ---- the end --------------------------------------------------------------------------------------------------------------

void run::leave(status_event on, entry_kind last, std::string payload, flow::encoding how, std::string_view shape,
                std::string reason, std::string why)
{
    auto e = make(last, {});
    e.payload = std::move(payload);
    e.encoding = how;
    e.shape_out = shape;
    append(std::move(e));
    row_.terminal_reason = std::move(reason);
    change(on, {}, std::move(why));
    phase_ = phase::leaving;
    submit();
}

void run::fail_here(error const& e)
{
    leave(status_event::fail, entry_kind::failure, write_payload(to_payload(e.detail())), encoding::json, {},
          std::string(row_of(e.code()).name), "Run failed: " + e.message());
}

void run::finish()
{
    if (stopping_) return;
    if (auto const left = history_.peek(); !left.empty()) return unused(*left.front());
    if (dry_) {
        would_go_on_ = true;
        phase_ = phase::over;
        return;
    }
    auto fail_with = [&](error const& e, std::string reason) {
        leave(status_event::fail, entry_kind::failure, write_payload(to_payload(e.detail())), encoding::json, {},
              std::move(reason), "Run failed: " + e.message());
    };
    bool was_cancelled = is_cancelling();
    if (auto const thrown = body_->failure()) {
        auto const e = describe(thrown);
        if (e.code() == errc::store_key) return hold("store_key", e.message());
        if (e.code() != errc::cancelled) {
            if (!was_cancelled) return fail_with(e, "user_error");
            return fail_with(e, "cleanup_failed");
        }
        was_cancelled = true;
    }
    if (was_cancelled) {
        leave(status_event::end_cancelled, entry_kind::failure,
              write_payload(to_payload({errc::cancelled, "", "the run was cancelled", "", 0})), encoding::json, {}, "cancelled",
              "Run was cancelled.");
        return;
    }
    call_result result;
    body_->result(result);
    if (result.end == call_end::value && result.payload.size() > settings_.max_payload) {
        result.end = call_end::unstorable;
        result.error.message = "the result has " + std::to_string(result.payload.size()) + " bytes; the limit is " +
                               std::to_string(settings_.max_payload);
    }
    if (result.end != call_end::value)
        return fail_with(error(errc::output_unstorable, "the workflow's result cannot be stored: " + result.error.message),
                         "user_error");
    leave(status_event::succeed, entry_kind::result, std::move(result.payload), result.encoding, body_->result_shape(), "",
          "Run succeeded.");
}

}  // namespace flow::detail
