// A step meets the history: recorded, or live.
#include "flow/step.hpp"

#include "src/step_machine.hpp"

namespace flow::detail {

bool step_base::start(scope& s, completion& c)
{
    auto& r = s.owner();
    auto at = s.next(name_.view());
    std::span<journal_entry const* const> entries;
    auto const what = r.find(s, at, {entry_kind::step, name_.view(), cls_, {}, shape()}, *this, entries);
    if (what == run::found::stopped) return false;
    if (what == run::found::finished) return true;

    step_record record;
    if (what == run::found::recorded) record = read_step(entries, at.path);
    // A class taken by default is the one that was recorded (P3).
    auto const cls = record.cls != effect::none ? record.cls : cls_ != effect::none ? cls_ : r.settings().default_effect;

    if (auto const* outcome = record.outcome) {
        auto const text = r.intact_payload(*outcome);
        if (!text) {
            if (!r.go_live()) return false;
            auto damaged = *outcome;
            auto behind = r.recorded().behind();
            r.consumed();
            auto machine = std::unique_ptr<step_machine, pending_deleter>(
                new step_machine(*this, s, c, std::move(at), std::move(record), cls));
            auto& m = *machine;
            live = std::move(machine);
            return m.begin_healing(damaged, std::move(behind));
        }
        switch (outcome->kind) {
        case entry_kind::step_skipped:
            if (shape() == "void") ignore(accept(encoding::json, "null"), "null is void");
            else fail(error(error_detail{errc::step_skipped, "", "the step was skipped by a decision", at.place, 0}));
            break;
        case entry_kind::step_failed:
        case entry_kind::abandoned: {
            auto const p = read_payload<failure_payload>(*text);
            fail(error(p ? from_payload(*p) : error_detail{errc::step_failed, "", "unreadable failure", at.place, 0}));
            break;
        }
        default:
            if (auto const ok = accept(outcome->encoding, *text); !ok) {
                r.hold("undecodable", "the stored output of step \"" + std::string(name_.view()) + "\" (place " + at.place +
                                          ") no longer fits its type: " + ok.error().message() +
                                          ". Make the type read it again, then: flow resume " + to_string(r.row().id));
                return false;
            }
        }
        r.consumed();
        return true;
    }

    if (!r.go_live()) return false;
    if (what == run::found::recorded) r.consumed();
    auto machine = std::unique_ptr<step_machine, pending_deleter>(
        new step_machine(*this, s, c, std::move(at), std::move(record), cls));
    auto& m = *machine;
    live = std::move(machine);
    return m.begin();
}

}  // namespace flow::detail
