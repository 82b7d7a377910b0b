#include "flow/inspect.hpp"

#include <algorithm>
#include <map>

#include "src/asking.hpp"
#include "src/events.hpp"
#include "src/history.hpp"
#include "src/payloads.hpp"
#include "src/recovery_gate.hpp"
#include "src/wait_texts.hpp"

namespace flow::detail {

namespace {

/// What lies in a blob is judged where it is read.
bool is_intact(journal_entry const& e) { return e.in_blob || sha256(e.payload) == e.hash; }

class view_maker {
public:
    void read(journal_entry const& e);
    std::vector<step_view> take() { return std::move(steps_); }
    std::vector<happening> take_happened() { return std::move(happened_); }
    /// The step whose time-out is the newest entry: the body goes on when its function has returned (P26).
    std::string const& over_time() const noexcept { return over_time_; }

private:
    step_view& at(journal_entry const& e)
    {
        auto const [where, fresh] = index_.emplace(e.place, steps_.size());
        if (fresh) {
            step_view s;
            s.place = e.place;
            s.name = e.name;
            s.begun_at = e.at;
            steps_.push_back(std::move(s));
        }
        auto& s = steps_[where->second];
        if (e.cls != effect::none) s.cls = e.cls;
        s.attempts = std::max<int>(s.attempts, e.attempt);
        return s;
    }
    /// The outcome of a step, of whatever kind.
    step_view& ended(journal_entry const& e, step_status how)
    {
        auto& s = at(e);
        s.status = how;
        s.ended_at = e.at;
        s.next_at = never;
        s.entry = e.seq;
        return s;
    }
    void tell(journal_entry const& e);

    std::vector<step_view> steps_;
    std::vector<happening> happened_;
    std::string over_time_;
    std::map<std::string, std::size_t> index_;
};

void view_maker::tell(journal_entry const& e)
{
    using enum entry_kind;
    std::string text;
    switch (e.kind) {
    case snapshot:  // its `why` is the sentence, not somebody's reason
        happened_.push_back({e.seq, e.at, e.why, e.by, {}});
        return;
    case request: text = "It was asked to " + e.name + "."; break;
    case waited: text = e.place + " was answered."; break;
    case event: text = e.place + " got its event."; break;
    case child:
        if (auto const p = read_payload<child_payload>(e.payload); p && !p->refused) text = e.place + " was started as run " + to_string(p->run) + ".";
        else text = e.place + " was not started.";
        break;
    case child_ended: text = e.place + " has ended."; break;
    case decision: {
        auto const p = read_payload<decision_payload>(e.payload);
        text = (e.place.empty() ? "The run" : e.place) + " was decided" + (p ? ": " + p->choice : std::string()) + ".";
        break;
    }
    case override_: text = "The outcome of " + e.place + " was set."; break;
    case healed: text = "The damaged output of " + e.place + " was made again."; break;
    case void_: text = "Part of what was recorded no longer counts."; break;
    case checkpoint: text = "It began segment " + std::to_string(e.segment) + " at a checkpoint."; break;
    case continued: text = "It began anew, as segment " + std::to_string(e.segment) + "."; break;
    case abandoned: text = e.place + " was given up: it is not known whether it happened."; break;
    default: return;
    }
    happened_.push_back({e.seq, e.at, std::move(text), e.by, e.why});
}

void view_maker::read(journal_entry const& e)
{
    using enum entry_kind;
    tell(e);
    over_time_.clear();
    if (e.kind == attempt_failed || e.kind == step_failed)
        if (auto const p = read_payload<failure_payload>(e.payload); p && p->code == row_of(errc::step_timeout).name) over_time_ = e.place;
    switch (e.kind) {
    case intent:
    case started: {
        auto& s = at(e);
        s.status = step_status::running;
        s.next_at = never;
        return;
    }
    case attempt_failed: {
        auto& s = at(e);
        s.status = step_status::running;
        if (auto const p = read_payload<failure_payload>(e.payload)) {
            s.error = p->message;
            s.next_at = p->next_at ? time_point(duration(*p->next_at)) : never;
            if (!p->next_at && !p->in_doubt.value_or(false)) s.status = step_status::failed;  // decided, and not told to the body yet
        }
        if (!e.commit_ref.empty()) s.commit_ref = e.commit_ref;
        return;
    }
    case returned: {
        auto& s = at(e);
        s.status = step_status::running;
        s.commit_ref = e.commit_ref;
        return;
    }
    case step:
    case override_: {
        auto& s = ended(e, step_status::completed);
        s.output_hash = e.hash;
        s.output_damaged = !is_intact(e);
        s.output = s.output_damaged ? std::string() : e.payload;
        s.output_encoding = e.encoding;
        s.output_in_blob = e.in_blob;
        s.error.clear();
        if (!e.commit_ref.empty()) s.commit_ref = e.commit_ref;
        return;
    }
    case step_failed:
    case abandoned: {
        auto& s = ended(e, step_status::failed);
        if (auto const p = read_payload<failure_payload>(e.payload)) s.error = p->message;
        return;
    }
    case step_skipped: ended(e, step_status::skipped); return;
    default: return;
    }
}

std::string in_words(std::string_view text, wait_reason const& w, run_row const& row)
{
    return filled(text, w, &row, [](time_point t) { return to_string(t); });
}
wait_reason in_queue() { return {.type = wait_reason::kind::queue, .id = {}, .name = {}, .detail = {}}; }

std::string doing_of(run_row const& row, std::vector<step_view> const& steps, wait_reason const& w, std::string const& over_time)
{
    auto const active = std::find_if(steps.rbegin(), steps.rend(), [](auto const& s) { return s.status == step_status::running; });
    using enum run_status;
    switch (row.status.run) {
    case created: return "It waits for its start time.";
    case queued: return in_words(words_of(wait_reason::kind::queue).doing, in_queue(), row);
    case waiting:
        return w.detail.empty() ? in_words(words_of(w.type).doing, w, row) : w.detail;
    case paused: return "It is paused.";
    case held: return "It is held: " + w.detail;
    case cancelling:
        if (active != steps.rend()) return "It is being cancelled: it waits for the function of " + active->place + " to return.";
        return "It is being cancelled: its clean-up runs.";
    case run_status::running: break;
    default: return "It has ended.";
    }
    if (!over_time.empty()) return "The time of step " + over_time + " is over; it goes on when the step's function has returned.";
    if (active != steps.rend() && active->next_at != never)
        return "Attempt " + std::to_string(active->attempts) + " of step " + active->place + " failed; the next is due at " +
               to_string(active->next_at) + ".";
    if (active != steps.rend()) return "It runs step " + active->place + ", attempt " + std::to_string(active->attempts) + ".";
    if (!steps.empty()) return "It runs; the newest finished step is " + steps.back().place + ".";
    return "It runs.";
}

std::string unblocked_by(run_row const& row, wait_reason const& w, std::vector<open_wait> const& open)
{
    auto const id = to_string(row.id);
    if (row.status.run == run_status::paused) return "flow resume " + id;
    auto const action = [&](wait_reason const& r) { return in_words(words_of(r.type).action, r, row); };
    for (auto const& o : open) {
        if (to_string(o.row.id) != w.id) continue;
        // The waitpoint knows more than the reason: whom an event is for, what may be chosen.
        if (o.row.purpose == waitpoint_purpose::event) return send_command(o.row);
        if (o.row.purpose != waitpoint_purpose::intervention) continue;
        std::string choices;
        for (auto const& c : o.choices) choices += (choices.empty() ? " " : "|") + c;
        return action(w) + choices;
    }
    return action(w.type == wait_reason::kind::none && row.status.run == run_status::queued ? in_queue() : w);
}

resume_result resume_of(run_row const& row, std::vector<step_view> const& steps, wait_reason const& w,
                        std::vector<open_wait> const& open)
{
    if (is_terminal(row.status.run)) return stays{"it has ended: " + std::string(to_string(row.status.run))};
    if (row.status.run == run_status::paused) return stays{"it is paused"};
    if (row.status.run == run_status::held) return stays{w.detail};
    auto const index_of = [&](std::string_view place) -> std::optional<std::size_t> {
        auto const s = std::find_if(steps.begin(), steps.end(), [&](auto const& each) { return each.place == place; });
        return s == steps.end() ? std::nullopt : std::optional(static_cast<std::size_t>(s - steps.begin()));
    };
    for (auto const& o : open)
        if (o.row.purpose == waitpoint_purpose::intervention) return asks_person{o.question, index_of(o.row.place)};
    auto const next = std::find_if(steps.begin(), steps.end(), [](auto const& s) {
        return s.status == step_status::pending || s.status == step_status::running || s.output_damaged;
    });
    auto const at = static_cast<std::size_t>(next - steps.begin());
    if (next != steps.end() && next->cls == effect::non_replayable)
        return asks_person{next->output_damaged ? "the recorded output of " + next->place + " is damaged"
                                                : next->place + " may have happened, unless its reconcile or compensate settles it",
                           at};
    return goes_on{at};
}

std::vector<std::string> unfinished(std::vector<step_view> const& steps)
{
    std::vector<std::string> items;
    for (auto const& s : steps) {
        auto const ref = s.commit_ref.empty() ? std::string() : " (" + s.commit_ref + ")";
        bool const outside = s.cls == effect::non_replayable || s.cls == effect::idempotent;
        switch (s.status) {
        case step_status::completed:
            if (s.cls == effect::non_replayable) items.push_back("happened, cannot be undone here: " + s.place + ref);
            else if (s.output_in_blob || (!s.output.empty() && s.output != "null"))
                items.push_back("finished, its output can be used again: " + s.place);
            break;
        case step_status::running:
            items.push_back((outside ? "may have happened: " : "not finished: ") + s.place + ref);
            break;
        case step_status::failed: items.push_back("failed: " + s.place + (s.error.empty() ? "" : ": " + s.error)); break;
        default: break;
        }
    }
    return items;
}

/// The stores' own entries do not carry it.
std::uint32_t segment_of(std::vector<journal_entry> const& entries)
{
    for (auto e = entries.rbegin(); e != entries.rend(); ++e)
        if (is_segment_start(e->kind)) return e->segment;
    return 0;
}

}  // namespace

open_wait as_open_wait(waitpoint_row row)
{
    open_wait o;
    if (row.purpose == waitpoint_purpose::intervention)
        if (auto p = read_payload<intervention_payload>(row.options)) {
            o.question = std::move(p->question);
            o.choices = std::move(p->choices);
            o.output_shape = std::move(p->output_shape);
        }
    if (row.purpose == waitpoint_purpose::approval)
        if (auto t = read_terms(row.options)) {
            o.question = t->text;
            o.choices = t->choices;
            o.asks = std::move(t);
        }
    o.row = std::move(row);
    return o;
}

run_view make_view(run_row row, std::vector<journal_entry> const& entries, std::vector<waitpoint_row> const& waitpoints)
{
    run_view v;
    view_maker maker;
    for (auto const& e : entries) {
        maker.read(e);
        if (e.kind == entry_kind::result && is_intact(e)) {
            v.result = e.payload;
            v.result_encoding = e.encoding;
            v.result_in_blob = e.in_blob;
        }
        if (e.kind == entry_kind::failure)
            if (auto const p = read_payload<failure_payload>(e.payload)) v.failure = from_payload(*p);
    }
    auto const over_time = maker.over_time();
    v.steps = maker.take();
    v.happened = maker.take_happened();
    v.entries = entries.empty() ? 0 : static_cast<std::int64_t>(entries.back().seq);
    v.segment = entries.empty() ? 0 : segment_of(entries);
    v.waits_for = parse_wait_reason(row.reason);
    for (auto const& w : waitpoints)
        if (w.purpose == waitpoint_purpose::token || w.purpose == waitpoint_purpose::intervention || w.purpose == waitpoint_purpose::event ||
            w.purpose == waitpoint_purpose::approval)
            v.open.push_back(as_open_wait(w));
    v.recoveries = recoveries_without_progress(entries);
    v.resume = resume_of(row, v.steps, v.waits_for, v.open);
    v.doing = doing_of(row, v.steps, v.waits_for, over_time);
    v.unblocked_by = unblocked_by(row, v.waits_for, v.open);
    if (is_terminal(row.status.run) && row.status.run != run_status::succeeded) v.unfinished = unfinished(v.steps);
    v.row = std::move(row);
    return v;
}

}  // namespace flow::detail
