// An operation looks for what is recorded of it; code that asks for something else is told apart.
#include "src/run.hpp"

#include "src/asking.hpp"
#include "src/pending.hpp"

namespace flow::detail {

namespace {

/// The operation an entry belongs to, by the kind of its outcome.
entry_kind family(entry_kind k) noexcept
{
    using enum entry_kind;
    switch (k) {
    case intent: case started: case attempt_failed: case step: case step_failed: case step_skipped: case returned:
    case abandoned: case intervention: case decision: return step;
    case wait: case waited: case event: case wait_failed: case child_ended: return waited;
    case sleep: case woken: return woken;
    default: return k;
    }
}

std::string_view family_name(entry_kind k, std::string_view shape_in) noexcept
{
    using enum entry_kind;
    switch (family(k)) {
    case step: return "step";
    case waited:
        return k == child_ended ? "wait_for_run" : shape_in == "event" ? "wait_for_event" : shape_in == question_mark ? "ask" : "wait_for_token";
    case woken: return "sleep";
    case token: return "make_token";
    case value: return "value";
    case published: return "publish";
    case child: return "start_run";
    case resource: return "open_resource";
    default: return to_string(k);
    }
}

/// "all#0.1" of "all#0.1/charge#2".
std::string branch_of(std::string_view place)
{
    auto const slash = place.rfind('/');
    return slash == place.npos ? "top" : std::string(place.substr(0, slash));
}

}  // namespace

run::found run::find(scope& s, continuation& c, position const& at, expectation const& wanted, journaled_operation& op,
                     std::span<journal_entry const* const>& entries)
{
    if (phase_ != phase::live || stopping_) return found::stopped;
    bool const reachable = !s.shielded();
    if (s.in_branch().cancel_delivered && reachable) {
        op.fail(error(errc::cancelled, "the run was cancelled"));
        return found::finished;
    }
    auto const recorded = history_.look(at);
    entries = recorded.entries;
    // Where steps may be inserted, outcomes come in recorded order as far as they are asked for (advance); the top body asks for one at a time.
    bool const out_of_turn = history_.is_tolerant() && (delivering_ || !s.in_branch().parent);
    bool const its_turn = (recorded.its_turn || out_of_turn) && !healing_;
    if (entries.empty()) {
        if (!its_turn) return park(s, c, at, op), found::stopped;
        if (!is_cancel_wanted(s.in_branch()) || !reachable) {
            if (pausing_) return park(s, c, at, op), found::stopped;
            return found::nothing;
        }
        if (!go_live()) return found::stopped;
        deliver_cancel(s.in_branch(), at, wanted.name, op);
        submit();
        return ready(s, c) ? found::finished : found::stopped;
    }
    auto const& first = *entries.front();
    auto const& last = *entries.back();
    bool const kind_fits = first.kind == entry_kind::cancel_delivered || family(first.kind) == wanted.kind;
    bool const class_fits = first.cls == effect::none || wanted.cls == effect::none || first.cls == wanted.cls;
    bool const shape_fits = (first.shape_out.empty() || first.shape_out == wanted.shape_out) &&
                            (first.shape_in == wanted.shape_in || (first.shape_in.empty() && (wanted.kind != entry_kind::waited || first.kind == entry_kind::cancel_delivered)));
    if (history_.key_of(first) != history_.key_of(at) || !kind_fits || first.name != wanted.name || !class_fits || !shape_fits) {
        mismatch(at, wanted, first);
        return found::stopped;
    }
    // In a branch an outcome is told when the cursor comes to it; at once only what was there at once in the live run.
    bool const at_once = first.kind == entry_kind::value || first.kind == entry_kind::published || first.kind == entry_kind::child || first.kind == entry_kind::resource ? first.attempt == 0
                         : first.kind == entry_kind::step ? wanted.in_place && first.cls == effect::replayable && first.why.empty()
                                                          : first.kind == entry_kind::token;
    if (!its_turn || (s.in_branch().parent && !delivering_ && !at_once && recorded.ended))
        return park(s, c, at, op), found::stopped;
    if (last.kind == entry_kind::cancel_delivered) {
        s.in_branch().cancel_delivered = true;
        op.fail(error(errc::cancelled, "the run was cancelled"));
        history_.pass(at);
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
    if (e.encoding == encoding::none ? !text.empty() : sha256(text) != e.hash) return std::nullopt;
    return text;
}

void run::mismatch(position const& at, expectation const& wanted, journal_entry const& recorded)
{
    auto describe_class = [](effect e) { return e == effect::none ? std::string("default class") : std::string(to_string(e)); };
    std::string text = "nondeterminism at position " + at.path + " (branch: " + branch_of(at.place) + ") of workflow " + row_.workflow + " version " +
                       std::to_string(row_.version) + ": the journal has " + std::string(family_name(recorded.kind, recorded.shape_in)) + " \"" +
                       recorded.name + "\" (" + describe_class(recorded.cls) + ", shape " +
                       (recorded.shape_out.empty() ? "-" : recorded.shape_out) + ", position " + recorded.path +
                       ", entry " + std::to_string(static_cast<std::int64_t>(recorded.seq)) + "), the code asks for " +
                       std::string(family_name(wanted.kind, wanted.shape_in)) + " \"" + std::string(wanted.name) + "\" (" +
                       describe_class(wanted.cls) + ", shape " +
                       (wanted.shape_out.empty() ? "-" : std::string(wanted.shape_out)) + ", place " + at.place +
                       "). Put the old code back and start again, or register the new code as another version";
    hold("nondeterminism", std::move(text));
}

void run::not_asked_for(journal_entry const& recorded)
{
    std::string stands;
    for (auto const& [_, p] : parked_) stands += (stands.empty() ? "" : ", ") + p.at.place + " (position " + p.at.path + ")";
    hold("nondeterminism",
         "nondeterminism in workflow " + row_.workflow + " version " + std::to_string(row_.version) + ": the journal goes on with " +
             std::string(family_name(recorded.kind, recorded.shape_in)) + " \"" + recorded.name + "\" (place " + recorded.place + ", position " + recorded.path +
             ", entry " + std::to_string(static_cast<std::int64_t>(recorded.seq)) + "), the code stands at " + stands +
             ". Put the old code back and start again, or register the new code as another version");
}

void run::unused(journal_entry const& recorded)
{
    hold("nondeterminism",
         "nondeterminism at the end of workflow " + row_.workflow + " version " + std::to_string(row_.version) +
             " (branch: top): the journal goes on with " + std::string(family_name(recorded.kind, recorded.shape_in)) + " \"" + recorded.name +
             "\" (position " + recorded.path + ", entry " + std::to_string(static_cast<std::int64_t>(recorded.seq)) +
             "), the code has ended. Put the old code back and start again, or register the new code as another version");
}

}  // namespace flow::detail
