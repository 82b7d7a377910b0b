// apply(): groups of holders, many in one transaction.
#include <algorithm>
#include <map>
#include <set>

#include "runtime/store/postgres/batch_state.hpp"
#include "runtime/store/postgres/postgres_store.hpp"
#include "src/group_check.hpp"

namespace flow::postgres_detail {

namespace {

template <class... F>
struct overloaded : F... {
    using F::operator()...;
};

class group_writer {
public:
    explicit group_writer(batch_state& state) : state_(state) {}

    answer judge(group const& g)
    {
        auto* const run = state_.run(g.num);
        if (!run) return detail::only(answer_kind::fenced);
        if (run->behind) return detail::only(answer_kind::not_applied);
        auto a = decide(g, *run);
        if (a.kind != answer_kind::applied) run->behind = true;
        return a;
    }

private:
    answer decide(group const& g, run_state& run)
    {
        if (run.row.id != g.run) return detail::only(answer_kind::fenced);
        if (g.entries.empty()) throw refusal(errc::usage, "a group without an entry");
        if (run.row.epoch != g.epoch) {
            // A group that releases or ends the run raised the epoch itself. Nobody has come since: it is still its holder's
            // last word, and told so.
            bool const itself = run.row.epoch == next(g.epoch) && run.row.owner == owner_id::nobody && detail::raises_epoch(g) &&
                                stands_last(g, run);
            return itself ? applied(g) : detail::only(answer_kind::fenced);
        }
        if (g.after > run.last) return detail::only(answer_kind::gap);
        if (g.after < run.last) return state_.landed(g) ? applied(g) : detail::only(answer_kind::fenced);
        if (auto const fault = detail::fault_in(g, run.row.status); !fault.empty()) throw refusal(errc::usage, fault);
        look_into_inbox(g);
        if (auto a = superseded(g)) return *std::move(a);
        auto a = applied(g);
        for (auto const& effect : g.effects)
            if (auto const* e = std::get_if<add_edge>(&effect); e && given_.contains(e->waitpoint)) a.decided.push_back(given_.at(e->waitpoint).done);
        auto const before = state_.wakes();
        write(g, run);
        a.others = state_.wakes() != before || state_.returns_events();
        return a;
    }

    /// What is kept for waits that the group makes (P36).
    void look_into_inbox(group const& g)
    {
        given_.clear();
        std::set<std::int64_t> promised;
        for (auto const& effect : g.effects) {
            auto const* made = std::get_if<insert_waitpoint>(&effect);
            if (!made || !detail::wants_event(g, made->row)) continue;
            auto got = state_.find_event(made->row, promised);
            if (got.event == 0) continue;
            promised.insert(got.event);
            given_.emplace(made->row.id, std::move(got));
        }
    }

    bool stands_last(group const& g, run_state const& run)
    {
        return static_cast<std::int64_t>(g.after) + static_cast<std::int64_t>(g.entries.size()) == static_cast<std::int64_t>(run.last) &&
               state_.landed(g);
    }

    /// Also of a group that was there already: told what its first try was told, as far as its edges still ask for it.
    answer applied(group const& g)
    {
        answer a;
        for (auto const& effect : g.effects)
            if (auto const* e = std::get_if<add_edge>(&effect))
                if (auto const* w = state_.waitpoint(e->waitpoint); w && w->row.status != waitpoint_status::pending)
                    a.decided.push_back(w->row);
        return a;
    }

    /// The waitpoint an effect speaks of; nothing if this group itself makes it.
    wait_state const* find(group const& g, std::size_t position, waitpoint_id id)
    {
        if (detail::makes(g, id, position)) return nullptr;
        auto const* w = state_.waitpoint(id);
        if (!w) throw refusal(errc::usage, "there is no waitpoint " + to_string(id));
        return w;
    }

    /// Looked at before anything of the group is written: so no group ever has to be undone alone.
    std::optional<answer> superseded(group const& g)
    {
        std::set<waitpoint_id> consumed, owed;
        std::optional<answer> out;
        auto const is_decided = [](wait_state const* w) { return w && w->row.status != waitpoint_status::pending; };
        auto const wants_pending = [&](wait_state const* w) {
            if (is_decided(w) && !out) out = detail::superseded_by(w->row);
        };
        for (std::size_t i = 0; i < g.effects.size(); ++i)
            std::visit(overloaded{
                           [](auto const&) {},
                           [&](add_edge const& e) {
                               if (is_decided(find(g, i, e.waitpoint)) || given_.contains(e.waitpoint)) owed.insert(e.waitpoint);
                           },
                           [&](decide_waitpoint const& d) {
                               wants_pending(find(g, i, d.waitpoint));
                               consumed.insert(d.waitpoint);
                           },
                           [&](start_child const& s) {
                               auto const* other = state_.in_the_way(s);
                               if (!other || out) return;
                               out = detail::superseded_by(std::nullopt);
                               out->taken = *other;
                           },
                           [&](leave_waitpoint const& l) { wants_pending(find(g, i, l.waitpoint)); },
                           [&](return_event const& r) {
                               find(g, i, r.waitpoint);
                               consumed.insert(r.waitpoint);
                           },
                           [&](take_waitpoint const& t) {
                               find(g, i, t.waitpoint);
                               consumed.insert(t.waitpoint);
                           },
                           [&](take_request const& t) {
                               if (!state_.mail(g.num).contains(t.request))
                                   throw refusal(errc::usage, "there is no such request in the run's mailbox");
                           },
                       },
                       g.effects[i]);
        if (!out && g.change && g.change->release && !is_terminal(g.change->status.run) &&
            (has_mail(g) || (detail::parks(g.change->status) && is_owed(g, owed, consumed))))
            out = detail::superseded_by(std::nullopt);
        return out;
    }

    /// A decided waitpoint that blocks the run and that this group does not take itself (P36). Not its wake row: whoever queued the
    /// run has deleted that.
    bool is_owed(group const& g, std::set<waitpoint_id>& owed, std::set<waitpoint_id> const& consumed)
    {
        for (auto const& w : state_.decided_for(g.num)) owed.insert(w);
        return std::any_of(owed.begin(), owed.end(), [&](auto const& w) { return !consumed.contains(w); });
    }

    /// Mail that this group does not take itself (P4).
    bool has_mail(group const& g)
    {
        auto const& mail = state_.mail(g.num);
        return std::any_of(mail.begin(), mail.end(), [&](request_id id) { return !detail::takes(g, id); });
    }

    void write(group const& g, run_state& run)
    {
        state_.append(g);
        auto const at = g.entries.back().at;
        for (auto const& effect : g.effects) write_effect(g, effect, at);
        if (!g.change) return;
        auto const& change = *g.change;
        run.changed = true;
        run.row.status = change.status;
        run.row.terminal_reason = change.terminal_reason;
        run.row.reason = change.reason;
        if (change.version != 0) run.row.version = change.version;
        run.row.due_at = detail::due_after(g, run.row.due_at);
        run.row.changed_at = at;
        run.row.snapshot = detail::snapshot_in(g);
        if (detail::raises_epoch(g)) {
            run.row.owner = owner_id::nobody;
            run.row.epoch = next(run.row.epoch);
        }
        if (!is_terminal(change.status.run)) return;
        state_.complete_end(g.run, detail::result_of_run(g.entries, run.row), at);
        state_.clear_up(g.num, at);
        state_.close(g.num, true, {}, at);
    }

    void write_effect(group const& g, row_effect const& effect, time_point at)
    {
        std::visit(overloaded{
                       [&](insert_waitpoint const& w) {
                           auto const got = given_.find(w.row.id);
                           if (got != given_.end()) state_.give(got->second);
                           if (!state_.make(g.num, got == given_.end() ? w.row : got->second.done)) throw refusal(errc::usage, "there is a waitpoint " + to_string(w.row.id) + " already");
                       },
                       [&](add_edge const& e) {
                           if (state_.has_edge(g.num, e.waitpoint)) return;
                           state_.add_edge(g.num, e);
                           if (state_.waitpoint(e.waitpoint)->row.status != waitpoint_status::pending) state_.add_wake(g.num, e.waitpoint);
                       },
                       [&](decide_waitpoint const& d) {
                           state_.decide(*state_.waitpoint(d.waitpoint), d.fate, at, g.num);
                           state_.forget(g.num, d.waitpoint);
                       },
                       [&](leave_waitpoint const& l) { state_.forget(g.num, l.waitpoint); },
                       [&](return_event const& r) {
                           state_.forget(g.num, r.waitpoint);
                           state_.return_event(r.waitpoint, at);
                       },
                       [&](take_waitpoint const& t) {
                           if (state_.waitpoint(t.waitpoint)->row.type == waitpoint_type::event)
                               state_.take_event(t.waitpoint, g.entries[t.entry].seq);
                           state_.forget(g.num, t.waitpoint);
                       },
                       [&](take_request const& t) {
                           if (!state_.take_mail(g.num, t.request, g.entries[t.entry].seq))
                               throw refusal(errc::usage, "there is no such request in the run's mailbox");
                       },
                       [&](put_back const& p) { state_.put_back(g.num, p); },
                       [&](start_child const& s) { state_.start(g.num, s); },
                       [&](close_children const& c) { state_.close(g.num, false, c.only, at); },
                   },
                   effect);
    }

    batch_state& state_;
    std::map<waitpoint_id, given_event> given_;  ///< to waits that the group at hand makes
};

}  // namespace

outcome<std::vector<answer>> postgres_store::apply(std::span<group const> groups, time_limit limit)
{
    std::vector<answer> answers;
    if (groups.empty()) return answers;
    bool frees = false, wakes = false;
    auto const done = db_.write("apply", limit, [&](transaction& t) {
        frees = wakes = false;
        answers.clear();
        answers.reserve(groups.size());
        batch_state state(t, groups);
        group_writer writer(state);
        for (auto const& g : groups) answers.push_back(writer.judge(g));
        if (state.writers().empty()) return t.quiet();
        state.write();
        frees = state.frees_runs();
        wakes = state.wakes_or_queues() || state.wakes() > 0 || state.asked_children();
        if (state.asked_children())
            for (auto& a : answers) a.others = true;
        t.before_commit = [this, writers = state.writers()] {
            for (auto const owner : writers) must_stand(owner);
        };
    });
    if (!done) return done.error();
    if (wakes) news_.concerns_everybody();
    else if (frees) news_.concerns_us();  // what they wait for may fall due: the others find it in time
    return answers;
}

}  // namespace flow::postgres_detail
