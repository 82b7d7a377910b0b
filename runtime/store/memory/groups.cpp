// apply(): groups of holders, many in one transaction.
#include <algorithm>
#include <map>
#include <set>

#include "runtime/store/memory/changes.hpp"
#include "runtime/store/memory/children.hpp"
#include "runtime/store/memory/events.hpp"
#include "runtime/store/memory/memory_store.hpp"
#include "src/events.hpp"
#include "src/group_check.hpp"

namespace flow::memory_detail {

namespace {

template <class... F>
struct overloaded : F... {
    using F::operator()...;
};

constexpr std::int64_t not_numbered_yet = 0;

class group_writer {
public:
    explicit group_writer(tables& t) : t_(t) {}

    answer judge(group const& g)
    {
        if (behind_.contains(g.num)) return detail::only(answer_kind::not_applied);
        auto a = decide(g);
        if (a.kind != answer_kind::applied) behind_.insert(g.num);
        return a;
    }

private:
    answer decide(group const& g)
    {
        if (g.num < 1 || g.num > t_.run_count() || t_.run(g.num).row.id != g.run) return detail::only(answer_kind::fenced);
        if (g.entries.empty()) throw refusal(errc::usage, "a group without an entry");
        auto const& row = t_.run(g.num).row;
        auto const last = t_.run(g.num).last();
        if (row.epoch != g.epoch) {
            // A group that releases or ends the run raised the epoch itself. Nobody has come since: it is still its holder's
            // last word, and told so.
            bool const itself = row.epoch == next(g.epoch) && row.owner == owner_id::nobody && detail::raises_epoch(g) &&
                                g.entries.back().seq == last && landed(g);
            return itself ? applied(g) : detail::only(answer_kind::fenced);
        }
        if (g.after > last) return detail::only(answer_kind::gap);
        if (g.after < last) return landed(g) ? applied(g) : detail::only(answer_kind::fenced);
        if (auto const fault = detail::fault_in(g, row.status); !fault.empty()) throw refusal(errc::usage, fault);
        look_into_inbox(g);
        if (auto a = superseded(g)) return *a;
        auto a = applied(g);
        for (auto const& effect : g.effects)
            if (auto const* e = std::get_if<add_edge>(&effect); e && given_.contains(e->waitpoint)) a.decided.push_back(given_.at(e->waitpoint).done);
        others_ = false;
        write(g);
        a.others = others_;
        return a;
    }

    /// Also of a group that was there already: told what its first try was told, as far as its edges still ask for it.
    answer applied(group const& g) const
    {
        answer a;
        for (auto const& effect : g.effects)
            if (auto const* e = std::get_if<add_edge>(&effect))
                if (auto const num = t_.find(e->waitpoint); is_decided(num)) a.decided.push_back(t_.waitpoint(num).row);
        return a;
    }

    /// Are exactly these entries there already? (P8)
    bool landed(group const& g) const
    {
        auto const& journal = t_.run(g.num).journal;
        auto at = static_cast<std::size_t>(static_cast<std::int64_t>(g.after));
        for (auto const& e : g.entries) {
            if (at >= journal.size() || journal[at].epoch != e.epoch || journal[at].checksum != e.checksum) return false;
            ++at;
        }
        return true;
    }

    /// 0: this group itself makes it.
    std::int64_t find(group const& g, std::size_t position, waitpoint_id id) const
    {
        if (detail::makes(g, id, position)) return 0;
        auto const num = t_.find(id);
        if (num == 0) throw refusal(errc::usage, "there is no waitpoint " + to_string(id));
        return num;
    }

    /// What is kept for waits that the group makes (P36).
    void look_into_inbox(group const& g)
    {
        given_.clear();
        std::set<std::int64_t> promised;
        for (auto const& effect : g.effects) {
            auto const* made = std::get_if<insert_waitpoint>(&effect);
            if (!made || !detail::wants_event(g, made->row)) continue;
            auto const num = find_event(t_, made->row, promised);
            if (num == 0) continue;
            promised.insert(num);
            given_.emplace(made->row.id, given_event{num, detail::ended_by(made->row, t_.event_at(num).what, made->row.created_at)});
        }
    }

    bool is_decided(std::int64_t num) const { return num != 0 && t_.waitpoint(num).row.status != waitpoint_status::pending; }

    std::optional<answer> superseded(group const& g) const
    {
        // Decided waitpoints that block the run; not their wake rows: whoever queued the run has deleted those (P36).
        std::set<std::int64_t> consumed, owed;
        for (auto const& [num, edge] : t_.run(g.num).edges)
            if (is_decided(num)) owed.insert(num);
        for (std::size_t i = 0; i < g.effects.size(); ++i) {
            if (auto const* e = std::get_if<add_edge>(&g.effects[i])) {
                if (auto const num = find(g, i, e->waitpoint); is_decided(num)) owed.insert(num);
                if (given_.contains(e->waitpoint)) owed.insert(not_numbered_yet);
            } else if (auto const* d = std::get_if<decide_waitpoint>(&g.effects[i])) {
                auto const num = find(g, i, d->waitpoint);
                if (is_decided(num)) return detail::superseded_by(t_.waitpoint(num).row);
                consumed.insert(num);
            } else if (auto const* l = std::get_if<leave_waitpoint>(&g.effects[i])) {
                if (auto const num = find(g, i, l->waitpoint); is_decided(num))
                    return detail::superseded_by(t_.waitpoint(num).row);
            } else if (auto const* s = std::get_if<start_child>(&g.effects[i])) {
                if (auto other = in_the_way(t_, *s)) {
                    auto a = detail::superseded_by(std::nullopt);
                    a.taken = std::move(other);
                    return a;
                }
            } else if (auto const* r = std::get_if<return_event>(&g.effects[i])) {
                consumed.insert(find(g, i, r->waitpoint));
            } else if (auto const* t = std::get_if<take_waitpoint>(&g.effects[i])) {
                consumed.insert(find(g, i, t->waitpoint));
            }
        }
        if (!g.change || !g.change->release || is_terminal(g.change->status.run)) return std::nullopt;
        bool const is_owed = std::any_of(owed.begin(), owed.end(), [&](auto const w) { return !consumed.contains(w); });
        if (has_mail(g) || (detail::parks(g.change->status) && is_owed)) return detail::superseded_by(std::nullopt);
        return std::nullopt;
    }

    bool has_mail(group const& g) const
    {
        auto const& requests = t_.run(g.num).requests;
        return std::any_of(requests.begin(), requests.end(), [&](auto const q) {
            return t_.request_at(q).fate == request_fate::left_to_holder && !detail::takes(g, t_.request_at(q).what.id);
        });
    }

    void write(group const& g)
    {
        for (auto const& e : g.entries) t_.append(g.num, e);
        auto const at = g.entries.back().at;
        for (auto const& effect : g.effects) write_effect(g, effect, at);
        if (g.change) write_change(g, at);
    }

    void forget(std::int64_t run, std::int64_t waitpoint)
    {
        t_.remove_edge(run, waitpoint);
        t_.remove_wake(run, waitpoint);
    }

    void write_effect(group const& g, row_effect const& effect, time_point at)
    {
        std::visit(overloaded{
                       [&](insert_waitpoint const& w) {
                           if (t_.find(w.row.id) != 0) throw refusal(errc::usage, "the waitpoint is there already");
                           if (!w.row.idempotency_key.empty())
                               for (auto const other : t_.run(g.num).waitpoints)
                                   if (t_.waitpoint(other).row.idempotency_key == w.row.idempotency_key)
                                       throw refusal(errc::usage, "another waitpoint of the run has this key");
                           auto const got = given_.find(w.row.id);
                           auto const num = t_.add_waitpoint(g.num, got == given_.end() ? w.row : got->second.done);
                           if (got != given_.end()) give_event(t_, got->second.event, num);
                       },
                       [&](add_edge const& e) {
                           auto const num = t_.find(e.waitpoint);
                           if (t_.add_edge(g.num, num, e) && is_decided(num)) t_.add_wake(g.num, num);
                       },
                       [&](decide_waitpoint const& d) {
                           auto const num = t_.find(d.waitpoint);
                           others_ = memory_detail::decide(t_, num, d.fate, at, g.num) || others_;
                           forget(g.num, num);
                       },
                       [&](leave_waitpoint const& l) { forget(g.num, t_.find(l.waitpoint)); },
                       [&](return_event const& r) {
                           auto const num = t_.find(r.waitpoint);
                           forget(g.num, num);
                           if (return_to_inbox(t_, num, at)) others_ = true;
                       },
                       [&](take_waitpoint const& t) {
                           auto const num = t_.find(t.waitpoint);
                           if (t_.waitpoint(num).row.type == waitpoint_type::event) take_event(t_, num, g.entries[t.entry].seq);
                           forget(g.num, num);
                       },
                       [&](take_request const& t) {
                           auto const num = t_.find(t.request);
                           if (num == 0 || t_.request_at(num).run != g.num ||
                               t_.request_at(num).fate != request_fate::left_to_holder)
                               throw refusal(errc::usage, "there is no such request in the run's mailbox");
                           t_.set_request(num, request_fate::taken, g.entries[t.entry].seq);
                       },
                       [&](put_back const& p) { t_.put_back(g.num, p.seq, p.payload); },
                       [&](start_child const& s) { others_ = start_child_of(t_, g.num, s) || others_; },
                       [&](close_children const& c) { others_ = ask_children(t_, g.num, c.only, false, at) || others_; },
                   },
                   effect);
    }

    void write_change(group const& g, time_point at)
    {
        auto row = t_.run(g.num).row;
        row.status = g.change->status;
        row.terminal_reason = g.change->terminal_reason;
        row.reason = g.change->reason;
        if (g.change->version != 0) row.version = g.change->version;
        row.due_at = detail::due_after(g, row.due_at);
        row.changed_at = at;
        row.snapshot = detail::snapshot_in(g);
        if (detail::raises_epoch(g)) {
            row.owner = owner_id::nobody;
            row.epoch = next(row.epoch);
        }
        t_.set_row(row);
        if (is_terminal(row.status.run)) others_ = end_run(t_, g.num, g.entries, at) || others_;
    }

    tables& t_;
    struct given_event {
        std::int64_t event;
        waitpoint_row done;
    };
    std::map<waitpoint_id, given_event> given_;  ///< to waits that the group at hand makes
    bool others_ = false;  ///< the group that is being written concerns other runs
    std::set<std::int64_t> behind_;  ///< runs with a group that was not applied: nor is what comes behind it
};

}  // namespace

outcome<std::vector<answer>> memory_store::apply(std::span<group const> groups, time_limit)
{
    std::vector<answer> answers;
    auto const done = write("apply", [&](tables& t) {
        answers.clear();
        answers.reserve(groups.size());
        group_writer writer(t);
        for (auto const& g : groups) answers.push_back(writer.judge(g));
    });
    if (!done) return done.error();
    return answers;
}

}  // namespace flow::memory_detail
