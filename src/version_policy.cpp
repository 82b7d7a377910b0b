#include "src/version_policy.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "src/history.hpp"
#include "src/payloads.hpp"
#include "src/texts.hpp"

namespace flow::detail {

std::string announced_text(std::span<workflow_version const> all)
{
    std::string text;
    for (auto const& w : all) text += std::to_string(w.version) + ' ' + w.workflow + '\n';  // a name has no control characters
    return text;
}

std::vector<workflow_version> read_announced(std::string_view text)
{
    std::vector<workflow_version> all;
    while (!text.empty()) {
        auto const end = std::min(text.find('\n'), text.size());
        auto const line = text.substr(0, end);
        workflow_version w;
        auto const [after, failure] = std::from_chars(line.data(), line.data() + line.size(), w.version);
        if (failure == std::errc{} && after < line.data() + line.size()) {
            w.workflow = std::string(after + 1, line.data() + line.size());
            all.push_back(std::move(w));
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return all;
}

namespace {

/// Nothing of it needs what was done before: it can be done again by other code.
bool can_begin_anew(journal_entry const& e)
{
    using enum entry_kind;
    if (e.path.empty()) return e.kind != intervention && e.kind != decision;
    switch (e.kind) {
    case value: case woken: case healed: return true;
    case sleep: {
        auto const due = read_payload<due_payload>(e.payload);
        return due && !due->waitpoint;
    }
    case started: case attempt_failed: case step: case step_failed: return e.cls == effect::replayable;
    default: return false;
    }
}

std::optional<intervention_payload> open_question(std::vector<journal_entry> const& entries)
{
    std::optional<intervention_payload> asked;
    for (auto const& e : entries) {
        if (!e.path.empty()) continue;
        if (e.kind == entry_kind::decision) asked.reset();
        if (e.kind != entry_kind::intervention) continue;
        asked = read_payload<intervention_payload>(e.payload);
        if (asked && asked->step != texts::the_version) asked.reset();
    }
    return asked;
}

/// Builds a judgement, entry by entry.
class judge {
public:
    judge(loaded_run const& run, version_facts const& facts)
        : run_(run), facts_(facts), missing_("version " + std::to_string(run.row.version) + " of workflow \"" + run.row.workflow + "\""),
          status_(run.row.status), snapshot_(run.row.snapshot)
    {
    }

    version_judgement decide()
    {
        take_mail();
        auto const asked = open_question(run_.entries);
        if (status_.run == run_status::cancelling) end_cancelled();
        else if (status_.run == run_status::paused) {}
        else if (asked) settle(*asked);
        else if (facts_.here) requeue(run_.row.version, goes_on(run_.row.version, "its version is here"));
        else if (may_begin_anew()) begin_anew(facts_.newest, "no engine has " + missing_ + ", and nothing but replayable steps had begun");
        else ask();
        return std::move(out_);
    }

private:
    journal_entry& add(entry_kind kind)
    {
        auto& e = out_.plan.entries.emplace_back();
        e.kind = kind;
        e.at = facts_.now;
        return e;
    }
    template <class Payload>
    journal_entry& add(entry_kind kind, Payload const& p)
    {
        auto& e = add(kind);
        e.payload = write_payload(p);
        e.encoding = encoding::json;
        return e;
    }
    void change(status_event on, std::string reason, std::string why, bool release = true)
    {
        auto const to = next(status_, on, status_actor::holder);
        if (!to) return;
        status_ = *to;
        out_.plan.change.status = status_;
        out_.plan.change.reason = reason;
        out_.plan.change.release = release;
        out_.plan.entries.push_back(snapshot_entry(status_, on, snapshot_, std::move(reason), std::move(why), {}, facts_.now));
    }

    void take_mail()
    {
        for (auto const& r : run_.mailbox) {
            auto& e = add(entry_kind::request);
            e.name = to_string(r.kind);
            e.by = r.by;
            e.why = r.why;
            e.payload = request_payload(r);
            e.encoding = e.payload.empty() ? encoding::none : encoding::json;
            out_.effects.push_back(take_request{r.id, out_.plan.entries.size() - 1});
            if (r.kind == request_kind::cancel && status_.run != run_status::cancelling)
                change(status_event::cancel, {}, "Cancel was taken: asked for by " + r.by + ".", false);
            else if (r.kind == request_kind::pause && status_.run == run_status::running)
                change(status_event::pause, {}, "Run was paused.");
        }
    }

    bool may_begin_anew() const
    {
        return status_.run == run_status::running && std::all_of(run_.entries.begin(), run_.entries.end(), [this](auto const& e) {
                   return e.seq <= segment_start() || can_begin_anew(e);
               });
    }

    seq_no segment_start() const
    {
        auto first = seq_no::none;
        for (auto const& e : run_.entries)
            if (e.kind == entry_kind::start || is_segment_start(e.kind)) first = e.seq;
        return first;
    }

    void requeue(std::uint32_t version, std::string why)
    {
        // A run that waits is resumed through the queue, by replay.
        if (status_.execution == execution_status::executing_with_waitpoints) change(status_event::unblock, {}, "Run was continued.", false);
        change(status_event::requeue, {}, std::move(why));
        out_.plan.change.version = version;
    }
    std::string goes_on(std::uint32_t version, std::string const& why) const
    {
        return "Run goes on with version " + std::to_string(version) + ": " + why + ".";
    }

    void begin_anew(std::uint32_t version, std::string const& why)
    {
        let_go_of_waits({});
        auto& e = add(entry_kind::void_, void_payload{static_cast<std::int64_t>(next(segment_start())), {}});
        e.name = by_version_policy;
        requeue(version, "Run begins anew with version " + std::to_string(version) + ": " + why + ".");
    }

    void ask()
    {
        intervention_payload p;
        p.waitpoint = waitpoint_id{facts_.fresh};
        p.question = "No engine has registered " + missing_ + ", and it has begun what must not be begun twice. Version " +
                     std::to_string(facts_.newest) +
                     " is here. Once an engine with its own version starts, it goes on by itself; or decide: wait for it and ask no more, adopt "
                     "the new code from here on, restart from the beginning with it, fail or cancel the run.";
        p.choices = {"wait", "adopt", "restart", "fail", "cancel"};
        p.step = texts::the_version;
        p.version = facts_.newest;
        add(entry_kind::intervention, p);
        out_.effects.push_back(insert_waitpoint{texts::intervention_waitpoint(run_.row.id, p, {}, facts_.now)});
        out_.effects.push_back(add_edge{p.waitpoint, {}, {}});
        wait_for(p);
    }

    /// Held, not waiting: a wait of the run's that is over by now, or ends meanwhile, is kept and does not call it back.
    void wait_for(intervention_payload const& p)
    {
        change(status_event::hold, to_json(texts::asks(p, std::string(texts::the_version), facts_.now)), p.question);
    }

    void settle(intervention_payload const& asked)
    {
        auto const w = std::find_if(run_.waitpoints.begin(), run_.waitpoints.end(), [&](auto const& each) { return each.id == asked.waitpoint; });
        bool const answered = w != run_.waitpoints.end() && w->status == waitpoint_status::completed;
        if (!answered && !facts_.here) return wait_for(asked);  // called back for something else
        auto d = answered ? read_payload<decision_payload>(w->output) : std::nullopt;
        if (!d) d = decision_payload{answered ? "fail" : "wait", {}};
        auto& e = add(entry_kind::decision, *d);
        e.by = answered ? w->by : facts_.by;
        e.why = answered ? w->why : "its version is here";
        auto const by = e.by;
        if (answered) out_.effects.push_back(take_waitpoint{asked.waitpoint});
        else if (w != run_.waitpoints.end()) out_.effects.push_back(decide_waitpoint{asked.waitpoint, waitpoint_status::withdrawn});
        auto const target = asked.version.value_or(facts_.newest);  // whoever carries it out
        auto const decided = by + " decided \"" + d->choice + "\"";
        if (d->choice == "wait" && facts_.here) return requeue(run_.row.version, goes_on(run_.row.version, "its version is here"));
        if (d->choice == "wait") return hold();
        if (d->choice == "adopt") return requeue(target, goes_on(target, decided));
        if (d->choice == "restart") {
            let_go_of_waits(asked.waitpoint);
            return begin_anew(target, decided);
        }
        if (d->choice == "cancel") {
            change(status_event::cancel, {}, "Cancel was taken: " + decided + ".", false);
            return end_cancelled();
        }
        add(entry_kind::failure, to_payload({errc::no_version, "", "no engine has " + missing_ + "; " + decided, "", 0}));
        change(status_event::fail, {}, "Run failed: " + decided + ".", false);
        out_.plan.change.terminal_reason = "no_version";
    }

    /// They belong to what is void; what is over and not taken would keep the run from ever being given up. Who asks for a token by its
    /// key gets the same one again: that stays open.
    void let_go_of_waits(waitpoint_id settled)
    {
        if (std::exchange(let_go_, true)) return;
        for (auto const& w : run_.waitpoints) {
            if (w.id == settled) continue;
            bool const over = w.status != waitpoint_status::pending;
            bool const stays = w.type == waitpoint_type::run;  // a child goes on, and is found again
            if (over || stays) out_.effects.push_back(take_waitpoint{w.id});
            else if (w.run == run_.row.id && w.idempotency_key.empty()) out_.effects.push_back(decide_waitpoint{w.id, waitpoint_status::withdrawn});
        }
    }

    void hold()
    {
        wait_reason reason;
        reason.type = wait_reason::kind::code;
        reason.id = "no_version";
        reason.detail = "no engine has registered " + missing_ + ". Start one that has it: the run goes on by itself. Or: flow resume " +
                        to_string(run_.row.id) + ", to be asked again";
        reason.since = facts_.now;
        auto why = reason.detail;
        change(status_event::hold, to_json(reason), std::move(why));
    }

    void end_cancelled()
    {
        bool const expired = std::any_of(run_.entries.begin(), run_.entries.end(),
                                         [](auto const& e) { return e.kind == entry_kind::request && e.payload == by_deadline; });
        auto const text = std::string(expired ? "the run's deadline passed" : "the run was cancelled");
        add(entry_kind::failure, to_payload({expired ? errc::run_expired : errc::cancelled, "", text, "", 0}));
        change(expired ? status_event::expire : status_event::end_cancelled, {},
               (expired ? "Run expired: its deadline passed." : "Run was cancelled.") + std::string(" Its clean-up did not run: no engine has ") +
                   missing_ + ".",
               false);
        out_.plan.change.terminal_reason = expired ? "deadline" : "cancelled";
    }

    loaded_run const& run_;
    version_facts const& facts_;
    std::string const missing_;
    status_pair status_;
    seq_no snapshot_;
    bool let_go_ = false;
    version_judgement out_;
};

}  // namespace

version_judgement judge_version(loaded_run const& run, version_facts const& facts) { return judge(run, facts).decide(); }

bool asks_about_version(std::vector<journal_entry> const& entries) { return open_question(entries).has_value(); }

}  // namespace flow::detail
