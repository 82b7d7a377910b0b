// A step meets the history: recorded, or live.
#include "flow/step.hpp"

#include "src/step_machine.hpp"

namespace flow::detail {

bool step_base::start(scope& s, continuation& c) { return proceed(s, c, s.next(name_.view())); }

bool step_base::proceed(scope& s, continuation& c, position at)
{
    auto& r = s.owner();
    bool const in_place = options_.inline_ && !polls() && !ends_elsewhere();
    std::span<journal_entry const* const> entries;
    auto const what = r.find(s, c, at, {entry_kind::step, name_.view(), cls_, {}, shape(), in_place}, *this, entries);
    if (what == run::found::stopped) return false;
    if (what == run::found::finished) return true;

    step_record record;
    if (what == run::found::recorded) {
        // The common case, a step that has been done: no more is read than its outcome.
        if (is_outcome(entries.back()->kind) && entries.back()->place == at.place)
            if (auto const text = r.intact_payload(*entries.back())) return take_recorded(r, at, *entries.back(), *text);
        record = read_step(entries, at.place);
    }
    // A class taken by default is the one that was recorded (P3).
    auto const cls = record.cls != effect::none ? record.cls : cls_ != effect::none ? cls_ : r.settings().default_effect;

    if (auto const* outcome = record.outcome) {
        if (auto const text = r.intact_payload(*outcome)) return take_recorded(r, at, *outcome, *text);
        if (!r.go_live()) return false;
        auto const damaged = *outcome;
        auto behind = r.recorded().behind();
        r.consumed(at);
        auto& m = go_live_as(s, c, std::move(at), std::move(record), cls);
        return m.begin_healing(damaged, std::move(behind)) && r.ready(s, c);
    }

    if (!r.go_live()) return false;
    if (what == run::found::recorded) r.consumed(at);
    bool const at_once = what == run::found::nothing && cls == effect::replayable && in_place && !r.window_full();
    if (at_once) {
        // Nothing is waited for and nobody can stop it: the function is called in place, without any state of its own.
        attempt_data data;
        data.run = r.row().id;
        data.segment = r.segment();
        data.place = data.step_place = at.place;
        data.epoch = r.row().epoch;
        data.clock = &r.hosted_by().clock();
        attempt a(data);
        call_result result;
        if (call_here(a, result)) {
            if (result.end == call_end::value && result.payload.size() <= r.settings().max_payload) {
                auto e = r.make(entry_kind::step, at);
                e.name = name_.view();
                e.cls = cls;
                e.attempt = 1;
                e.shape_out = shape();
                e.payload = std::move(result.payload);
                e.encoding = result.encoding;
                e.commit_ref = std::move(data.commit_ref);
                r.append(std::move(e));
                r.submit();
                return true;
            }
            return go_live_as(s, c, std::move(at), std::move(record), cls).begin_after(std::move(result)) && r.ready(s, c);
        }
    }
    return go_live_as(s, c, std::move(at), std::move(record), cls).begin() && r.ready(s, c);
}

step_machine& step_base::go_live_as(scope& s, continuation& c, position at, step_record record, effect cls)
{
    auto* const machine = new step_machine(*this, s, c, std::move(at), std::move(record), cls);
    live = pending_ptr(machine);
    return *machine;
}

bool step_base::take_recorded(run& r, position const& at, journal_entry const& outcome, std::string_view text)
{
    switch (outcome.kind) {
    case entry_kind::step_skipped:
        if (shape() == "void") ignore(accept(encoding::json, "null"), "null is void");
        else fail(error(error_detail{errc::step_skipped, "", "the step was skipped by a decision", at.place, 0}));
        break;
    case entry_kind::step_failed:
    case entry_kind::abandoned: {
        auto const p = read_payload<failure_payload>(text);
        fail(error(p ? from_payload(*p) : error_detail{errc::step_failed, "", "unreadable failure", at.place, 0}));
        break;
    }
    default:
        if (auto const ok = accept(outcome.encoding, text); !ok) {
            r.hold("undecodable", "the stored output of step \"" + std::string(name_.view()) + "\" (place " + at.place +
                                      ") no longer fits its type: " + ok.error().message() +
                                      ". Make the type read it again, then: flow resume " + to_string(r.row().id));
            return false;
        }
    }
    r.consumed(at);
    return true;
}

}  // namespace flow::detail
