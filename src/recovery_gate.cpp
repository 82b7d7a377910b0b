#include "src/recovery_gate.hpp"

#include <utility>

#include "src/texts.hpp"

namespace flow::detail {

namespace {

struct standing {
    int recoveries = 0;  ///< since the newest progress or decision
    std::optional<intervention_payload> asked;
};

standing read(std::vector<journal_entry> const& entries)
{
    using enum entry_kind;
    standing s;
    for (auto const& e : entries) {
        bool const about_run = e.path.empty();
        if (e.kind == recovered) ++s.recoveries;
        else if (about_run && e.kind == intervention) {
            s.asked = read_payload<intervention_payload>(e.payload);
            if (s.asked && s.asked->step != texts::the_run) s.asked.reset();
        }
        else if (about_run && e.kind == decision) s = {};
        else if (is_progress(e)) s.recoveries = 0;
    }
    return s;
}

}  // namespace

int recoveries_without_progress(std::vector<journal_entry> const& entries) { return read(entries).recoveries; }

pending_ptr recovery_gate::needed(run& r, scope& top, std::function<void()> open)
{
    auto s = read(r.recorded().all());
    if (r.is_cancelling() || (!s.asked && s.recoveries <= r.settings().max_recoveries)) return nullptr;
    auto* gate = new recovery_gate(top, std::move(open), std::move(s.asked), s.recoveries);
    pending_ptr owned(gate);
    gate->begin();
    return owned;
}

recovery_gate::recovery_gate(scope& top, std::function<void()> open, std::optional<intervention_payload> asked, int recoveries)
    : pending(top, static_cast<continuation&>(*this), {}), open_(std::move(open)), asked_(std::move(asked)), recoveries_(recoveries)
{
}

void recovery_gate::begin()
{
    bool const fresh = !asked_;
    auto const now = run_.now();
    if (fresh) {
        intervention_payload p;
        p.waitpoint = waitpoint_id{run_.draw_uuid()};
        p.question = "The process ended " + std::to_string(recoveries_) + " times in a row while this run was executing, without "
                     "progress. Going on may end it again.";
        p.choices = {"retry", "fail", "cancel"};
        p.step = texts::the_run;
        asked_ = std::move(p);
        auto e = run_.make(entry_kind::intervention, {});
        e.payload = write_payload(*asked_);
        e.encoding = encoding::json;
        run_.append(std::move(e));
        run_.add(insert_waitpoint{texts::intervention_waitpoint(run_.row().id, *asked_, {}, now)});
        run_.add(add_edge{asked_->waitpoint, {}, {}});
    }
    run_.wait_for(asked_->waitpoint, *this);
    run_.block(*this, texts::asks(*asked_, std::string(texts::the_run), now));
    run_.submit();
    if (auto const* known = run_.known(asked_->waitpoint); known && known->status != waitpoint_status::pending)
        run_.woken(*known);
}

void recovery_gate::woken(waitpoint_row const& w)
{
    if (std::exchange(over_, true)) return;
    auto d = read_payload<decision_payload>(w.output).value_or(decision_payload{"fail", {}});
    auto e = run_.make(entry_kind::decision, {});
    e.payload = write_payload(d);
    e.encoding = encoding::json;
    e.by = w.by;
    e.why = w.why;
    run_.append(std::move(e));
    run_.take(w.id);
    run_.unblock(*this, "Run was continued: " + w.by + " decided \"" + d.choice + "\".");
    run_.submit();
    run_.no_longer_waits(w.id, *this);
    if (d.choice == "cancel") return run_.cancel_here(w.by, w.why);
    if (d.choice == "fail") return run_.fail_here(error(errc::recoveries_exhausted, asked_->question));
    auto const open = open_;  // may let this go
    open();
}

void recovery_gate::cancel()
{
    over_ = true;
    auto const open = open_;
    open();  // the body is entered: its first operation throws
}

std::optional<waitpoint_id> recovery_gate::withdrawable() const
{
    return over_ ? std::nullopt : std::optional(asked_->waitpoint);
}

}  // namespace flow::detail
