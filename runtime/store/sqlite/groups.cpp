// apply(): groups of holders, many in one transaction.
#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "runtime/store/sqlite/changes.hpp"
#include "runtime/store/sqlite/children.hpp"
#include "runtime/store/sqlite/events.hpp"
#include "runtime/store/sqlite/rows.hpp"
#include "runtime/store/sqlite/sqlite_store.hpp"
#include "src/events.hpp"
#include "src/group_check.hpp"

namespace flow::sqlite_detail {

namespace {

template <class... F>
struct overloaded : F... {
    using F::operator()...;
};

/// What has to be known of a run to judge its groups; read once for all groups of one transaction.
struct run_state {
    bool exists = false;
    run_id id;
    epoch_no epoch{};
    status_pair status;
    owner_id owner = owner_id::nobody;
    seq_no last = seq_no::none;
    std::optional<run_id> parent;
    time_point due_at{};
    bool behind = false;  ///< a group of it was not applied: nor is what comes behind it
};

struct last_written {
    std::int64_t run = 0;
    seq_no seq{};
    std::uint64_t checksum = 0;
};

/// What a group's effects will find, looked at before anything is written: so no group ever has to be undone alone.
struct look_ahead {
    std::unordered_map<std::size_t, found_waitpoint> found;  ///< by position of the effect
    std::vector<waitpoint_row> decided;                      ///< of edges: there is nothing to wait for
    struct given_event {
        std::int64_t event;
        waitpoint_row done;
    };
    std::map<waitpoint_id, given_event> given;  ///< to waits that the group makes
    std::optional<answer> superseded;
};

constexpr std::int64_t not_numbered_yet = 0;

class group_writer {
public:
    explicit group_writer(connection& c) : c_(c) {}

    answer judge(group const& g)
    {
        auto& run = state_of(g);
        if (run.behind) return detail::only(answer_kind::not_applied);
        auto a = decide(g, run);
        if (a.kind != answer_kind::applied) run.behind = true;
        return a;
    }
    last_written const& written() const noexcept { return written_; }

private:
    run_state& state_of(group const& g)
    {
        auto const [it, fresh] = runs_.try_emplace(g.num);
        auto& run = it->second;
        if (fresh) {
            auto r = c_.prepare("select id, epoch, execution, status, owner, (select max(seq) from journal where run = num), parent, due_at"
                                " from runs where num = ?");
            r << g.num;
            if (r.step()) {
                run.exists = true;
                run.id = {r.id(0)};
                run.epoch = as<epoch_no>(r.number(1));
                run.status = {as<execution_status>(r.number(2)), as<run_status>(r.number(3))};
                run.owner = as<owner_id>(r.number(4));
                run.last = as<seq_no>(r.number(5));
                if (!r.is_null(6)) run.parent = run_id{r.id(6)};
                run.due_at = r.time(7);
            }
        }
        return run;
    }

    answer decide(group const& g, run_state& run)
    {
        if (!run.exists || run.id != g.run) return detail::only(answer_kind::fenced);
        if (g.entries.empty()) throw refusal(errc::usage, "a group without an entry");
        if (run.epoch != g.epoch) {
            // A group that releases or ends the run raised the epoch itself. Nobody has come since: it is still its holder's
            // last word, and told so.
            bool const itself = run.epoch == next(g.epoch) && run.owner == owner_id::nobody && detail::raises_epoch(g) &&
                                stands_last(g, run);
            return itself ? again(g) : detail::only(answer_kind::fenced);
        }
        if (g.after > run.last) return detail::only(answer_kind::gap);
        if (g.after < run.last) return landed(g) ? again(g) : detail::only(answer_kind::fenced);
        if (auto const fault = detail::fault_in(g, run.status); !fault.empty()) throw refusal(errc::usage, fault);
        auto seen = look(g);
        if (seen.superseded) return *seen.superseded;
        others_ = false;
        write(g, run, seen);
        answer a;
        a.decided = std::move(seen.decided);
        a.others = others_;
        return a;
    }

    /// A group that is there already: told what its first try was told, as far as its edges still ask for it.
    answer again(group const& g)
    {
        answer a;
        for (auto const& effect : g.effects)
            if (auto const* e = std::get_if<add_edge>(&effect))
                if (auto w = find_waitpoint(c_, e->waitpoint); w && w->row.status != waitpoint_status::pending)
                    a.decided.push_back(std::move(w->row));
        return a;
    }

    bool stands_last(group const& g, run_state const& run)
    {
        return static_cast<std::int64_t>(g.after) + static_cast<std::int64_t>(g.entries.size()) ==
                   static_cast<std::int64_t>(run.last) &&
               landed(g);
    }

    /// Are exactly these entries there already? (P8)
    bool landed(group const& g)
    {
        auto r = c_.prepare("select epoch, checksum from journal where run = ? and seq > ? order by seq");
        r << g.num << number(g.after);
        for (auto const& e : g.entries)
            if (!r.step() || as<epoch_no>(r.number(0)) != e.epoch || static_cast<std::uint64_t>(r.number(1)) != e.checksum)
                return false;
        return true;
    }

    look_ahead look(group const& g)
    {
        look_ahead seen;
        std::unordered_set<std::int64_t> consumed, owed;
        for (std::size_t i = 0; i < g.effects.size(); ++i) {
            std::visit(overloaded{
                           [&](insert_waitpoint const& w) { look_into_inbox(g, w.row, seen); },
                           [&](take_request const&) {},
                           [&](put_back const&) {},
                           [&](close_children const&) {},
                           [&](start_child const& s) {
                               auto other = in_the_way(c_, s);
                               if (!other || seen.superseded) return;
                               seen.superseded = detail::superseded_by(std::nullopt);
                               seen.superseded->taken = std::move(other);
                           },
                           [&](add_edge const& e) {
                               if (auto const got = seen.given.find(e.waitpoint); got != seen.given.end()) {
                                   owed.insert(not_numbered_yet);
                                   seen.decided.push_back(got->second.done);
                               }
                               auto w = find(g, i, e.waitpoint, seen);
                               if (!w || w->row.status == waitpoint_status::pending) return;
                               owed.insert(w->num);
                               seen.decided.push_back(w->row);
                           },
                           [&](decide_waitpoint const& d) {
                               auto w = find(g, i, d.waitpoint, seen);
                               if (w && w->row.status != waitpoint_status::pending && !seen.superseded)
                                   seen.superseded = detail::superseded_by(w->row);
                               if (w) consumed.insert(w->num);
                           },
                           [&](return_event const& r) {
                               if (auto w = find(g, i, r.waitpoint, seen)) consumed.insert(w->num);
                           },
                           [&](leave_waitpoint const& l) {
                               auto w = find(g, i, l.waitpoint, seen);
                               if (w && w->row.status != waitpoint_status::pending && !seen.superseded)
                                   seen.superseded = detail::superseded_by(w->row);
                           },
                           [&](take_waitpoint const& t) {
                               if (auto w = find(g, i, t.waitpoint, seen)) consumed.insert(w->num);
                           },
                       },
                       g.effects[i]);
        }
        if (!seen.superseded && g.change && g.change->release && !is_terminal(g.change->status.run) &&
            (has_mail(g) || (detail::parks(g.change->status) && is_owed(g, owed, consumed))))
            seen.superseded = detail::superseded_by(std::nullopt);
        return seen;
    }

    /// What is kept for a wait that the group makes (P36).
    void look_into_inbox(group const& g, waitpoint_row const& wait, look_ahead& seen)
    {
        if (!detail::wants_event(g, wait)) return;
        std::set<std::int64_t> promised;
        for (auto const& [id, e] : seen.given) promised.insert(e.event);
        if (auto e = find_event(c_, wait, promised))
            seen.given.emplace(wait.id, look_ahead::given_event{e->num, detail::ended_by(wait, e->what, wait.created_at)});
    }

    /// The waitpoint an effect speaks of; nothing if this group itself makes it.
    found_waitpoint const* find(group const& g, std::size_t position, waitpoint_id id, look_ahead& seen)
    {
        if (detail::makes(g, id, position)) return nullptr;
        auto w = find_waitpoint(c_, id);
        if (!w) throw refusal(errc::usage, "there is no waitpoint " + to_string(id));
        return &seen.found.emplace(position, std::move(*w)).first->second;
    }

    /// A decided waitpoint that blocks the run and that this group does not take itself (P36). Not its wake row: whoever queued the
    /// run has deleted that.
    bool is_owed(group const& g, std::unordered_set<std::int64_t>& owed, std::unordered_set<std::int64_t> const& consumed)
    {
        auto r = c_.prepare("select e.waitpoint from edges e join waitpoints w on w.num = e.waitpoint where e.run = ? and w.status <> 0");
        r << g.num;
        while (r.step()) owed.insert(r.number(0));
        return std::any_of(owed.begin(), owed.end(), [&](auto const w) { return !consumed.contains(w); });
    }

    /// Mail that this group does not take itself (P4).
    bool has_mail(group const& g)
    {
        auto r = c_.prepare("select id from requests where run = ? and fate = 0");
        r << g.num;
        while (r.step())
            if (!detail::takes(g, {r.id(0)})) return true;
        return false;
    }

    void write(group const& g, run_state& run, look_ahead const& seen)
    {
        for (auto const& e : g.entries) insert_entry(c_, g.num, e);
        auto const at = g.entries.back().at;
        for (std::size_t i = 0; i < g.effects.size(); ++i) write_effect(g, i, seen, at);
        run.last = g.entries.back().seq;
        if (g.change) write_change(g, run, at);
        written_ = {g.num, g.entries.back().seq, g.entries.back().checksum};
    }

    std::int64_t num_of(std::size_t position, waitpoint_id id, look_ahead const& seen)
    {
        auto const it = seen.found.find(position);
        if (it != seen.found.end()) return it->second.num;
        auto const w = find_waitpoint(c_, id);
        return w ? w->num : 0;
    }

    void forget(std::int64_t run, std::int64_t waitpoint)
    {
        (c_.prepare("delete from edges where run = ? and waitpoint = ?") << run << waitpoint).run();
        (c_.prepare("delete from wakes where run = ? and waitpoint = ?") << run << waitpoint).run();
    }

    void write_effect(group const& g, std::size_t i, look_ahead const& seen, time_point at)
    {
        std::visit(
            overloaded{
                [&](insert_waitpoint const& w) {
                    auto const got = seen.given.find(w.row.id);
                    auto const num = insert_waitpoint_row(c_, g.num, got == seen.given.end() ? w.row : got->second.done);
                    if (got != seen.given.end()) give_event(c_, got->second.event, num);
                },
                [&](add_edge const& e) {
                    auto const num = num_of(i, e.waitpoint, seen);
                    (c_.prepare("insert or ignore into edges(run, waitpoint, path, place) values (?,?,?,?)")
                     << g.num << num << std::string_view(e.path) << std::string_view(e.place))
                        .run();
                    if (c_.changes() == 0) return;  // the same edge again
                    auto const found = seen.found.find(i);
                    bool const decided = found != seen.found.end() && found->second.row.status != waitpoint_status::pending;
                    if (decided || seen.given.contains(e.waitpoint))
                        (c_.prepare("insert into wakes(run, waitpoint) values (?,?)") << g.num << num).run();
                },
                [&](decide_waitpoint const& d) {
                    auto const num = num_of(i, d.waitpoint, seen);
                    (c_.prepare("update waitpoints set status = ?, completed_at = ? where num = ? and status = 0")
                     << number(d.fate) << at << num)
                        .run();
                    others_ = wake(c_, num, g.num) || others_;
                    forget(g.num, num);
                },
                [&](leave_waitpoint const& l) { forget(g.num, num_of(i, l.waitpoint, seen)); },
                [&](return_event const& r) {
                    auto const num = num_of(i, r.waitpoint, seen);
                    forget(g.num, num);
                    if (return_to_inbox(c_, num, at)) others_ = true;
                },
                [&](take_waitpoint const& t) {
                    auto const found = seen.found.find(i);
                    if (found != seen.found.end() && found->second.row.type == waitpoint_type::event)
                        take_event(c_, found->second.num, g.entries[t.entry].seq);
                    forget(g.num, num_of(i, t.waitpoint, seen));
                },
                [&](take_request const& t) {
                    (c_.prepare("update requests set fate = ?, entry = ? where id = ? and run = ? and fate = 0")
                     << number(request_fate::taken) << number(g.entries[t.entry].seq) << t.request.value << g.num)
                        .run();
                    if (c_.changes() == 0) throw refusal(errc::usage, "there is no such request in the run's mailbox");
                },
                [&](put_back const& p) { put_payload_back(c_, g.num, p.seq, p.payload); },
                [&](start_child const& s) { others_ = start_child_of(c_, g.num, s) || others_; },
                [&](close_children const& which) {
                    run_row parent;
                    parent.num = g.num;
                    parent.id = g.run;
                    others_ = ask_children(c_, parent, which.only, false, at) || others_;
                },
            },
            g.effects[i]);
    }

    void write_change(group const& g, run_state& run, time_point at)
    {
        auto const& change = *g.change;
        run.status = change.status;
        if (detail::raises_epoch(g)) {
            run.owner = owner_id::nobody;
            run.epoch = next(run.epoch);
        }
        run_row row;
        row.num = g.num;
        row.id = g.run;
        row.parent = run.parent;
        row.status = change.status;
        row.terminal_reason = change.terminal_reason;
        row.reason = change.reason;
        row.due_at = run.due_at = detail::due_after(g, run.due_at);
        row.changed_at = at;
        row.epoch = run.epoch;
        row.owner = run.owner;
        row.snapshot = detail::snapshot_in(g);
        update_run(c_, row);
        if (change.version != 0) (c_.prepare("update runs set version = ? where num = ?") << std::int64_t{change.version} << g.num).run();
        if (is_terminal(change.status.run)) others_ = end_run(c_, row, g.entries, at) || others_;
    }

    connection& c_;
    bool others_ = false;  ///< the group that is being written concerns other runs
    std::unordered_map<std::int64_t, run_state> runs_;
    last_written written_;
};

bool stands(connection& c, last_written const& w)
{
    if (w.run == 0) return true;
    auto r = c.prepare("select checksum from journal where run = ? and seq = ?");
    r << w.run << number(w.seq);
    return r.step() && static_cast<std::uint64_t>(r.number(0)) == w.checksum;
}

}  // namespace

outcome<std::vector<answer>> sqlite_store::apply(std::span<group const> groups, time_limit limit)
{
    std::vector<answer> answers;
    last_written written;
    auto const done = db_.write(
        "apply", limit,
        [&](connection& c) {
            answers.clear();
            answers.reserve(groups.size());
            group_writer writer(c);
            for (auto const& g : groups) answers.push_back(writer.judge(g));
            written = writer.written();
        },
        [&](connection& c) { return stands(c, written); });
    if (!done) return done.error();
    return answers;
}

}  // namespace flow::sqlite_detail
