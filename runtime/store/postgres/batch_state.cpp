#include "runtime/store/postgres/batch_state.hpp"

#include <algorithm>

#include "runtime/store/postgres/rows.hpp"
#include "src/events.hpp"
#include "src/group_check.hpp"
#include "src/plans.hpp"

namespace flow::postgres_detail {

namespace {

bool ends(group const& g) { return g.change && is_terminal(g.change->status.run); }

/// The waitpoint an effect speaks of, whoever made it.
waitpoint_id const* spoken_of(row_effect const& e)
{
    if (auto const* x = std::get_if<add_edge>(&e)) return &x->waitpoint;
    if (auto const* x = std::get_if<decide_waitpoint>(&e)) return &x->waitpoint;
    if (auto const* x = std::get_if<leave_waitpoint>(&e)) return &x->waitpoint;
    if (auto const* x = std::get_if<flow::return_event>(&e)) return &x->waitpoint;
    if (auto const* x = std::get_if<take_waitpoint>(&e)) return &x->waitpoint;
    return nullptr;
}

/// For one constant instead of many: a list is parsed and planned number by number.
std::string any_of(std::set<std::int64_t> const& nums) { return "any('{" + number_list(nums) + "}'::bigint[])"; }

std::string id_list(std::set<waitpoint_id> const& ids)
{
    std::string out;
    for (auto const& id : ids) out += (out.empty() ? "'" : ",'") + to_string(id) + "'";
    return out;
}

template <class Range, class Each>
params pairs(Range const& range, Each const& each)
{
    batch b(2);
    for (auto const& x : range) each(b, x);
    return b.arrays();
}

std::string const kept_events =
    "select " + std::string(store_detail::event_columns) + " from (select * from inbox where topic = $1 and key = $2 and consumed_by is null and num > $3"
    " order by num limit $4) i left join runs a on a.num = i.run left join waitpoints w on false left join runs t on false order by i.num";

}  // namespace

/// What the groups speak of.
struct batch_state::concerned {
    explicit concerned(std::span<group const> groups)
    {
        for (auto const& g : groups) {
            runs.insert(g.num);
            if (!g.effects.empty() || g.change) with_edges.insert(g.num);
            if (g.change) with_mail.insert(g.num);
            if (ends(g)) {
                ending.insert(g.num);
                closing.insert(g.num);
                end_points.insert(end_of(g.run));
            }
            for (auto const& e : g.effects) {
                if (auto const* w = std::get_if<insert_waitpoint>(&e); w && detail::wants_event(g, w->row))
                    topics[{w->row.name, w->row.correlation}].push_back(&w->row);
                if (auto const* r = std::get_if<flow::return_event>(&e)) topics[{r->topic, r->correlation}];
                if (auto const* id = spoken_of(e)) waitpoints.insert(*id);
                if (auto const* d = std::get_if<decide_waitpoint>(&e)) decided.insert(d->waitpoint);
                if (std::holds_alternative<take_request>(e)) with_mail.insert(g.num);
                if (std::holds_alternative<flow::close_children>(e)) closing.insert(g.num);
                if (auto const* s = std::get_if<start_child>(&e)) starts.push_back(s);
            }
        }
    }
    std::set<std::int64_t> runs, with_edges, with_mail, ending, closing;
    std::vector<start_child const*> starts;
    std::set<waitpoint_id> waitpoints, decided, end_points;  ///< end_points: of runs that may be children
    std::map<topic, std::vector<waitpoint_row const*>> topics;  ///< and the waits that are made
};

batch_state::batch_state(transaction& t, std::span<group const> groups) : c_(t.c)
{
    concerned const all(groups);
    lock(all);
    read(all);
    t.locked();
}

void batch_state::lock(concerned const& all)
{
    // Whoever only appends could do with FOR SHARE. But nobody else ever wants less of these rows, and one pass by number takes one
    // mode.
    c_.with_next("select 1 from runs where num = " +
                 (all.closing.empty() ? any_of(all.runs) : any_with_children(all.runs, number_list(all.closing))) +
                 " order by num for no key update;");
    std::set<topic> topics;
    for (auto const& [t, waits] : all.topics) topics.insert(t);
    lock_topics(c_, topics);
    std::string which;
    if (!all.waitpoints.empty()) which = "w.id in (" + id_list(all.waitpoints) + ")";
    if (!all.ending.empty()) which += (which.empty() ? "" : " or ") + ("(w.run = " + any_of(all.ending) + " or w.id in (" + id_list(all.end_points) + ")) and w.status = 0");
    if (which.empty()) return;
    // What waits or leaves holds off whoever decides; what decides holds off everybody.
    auto const* const mode = all.decided.empty() && all.ending.empty() ? " for share of w;" : " for no key update of w;";
    c_.with_next("select 1 from waitpoints w where " + which + " order by w.num" + mode);
}

void batch_state::read(concerned const& all)
{
    // One statement, behind those that lock and in their message: to plan it anew takes less than to wait once more for an answer.
    auto sql = "select 0, r.num, r.id, false, r.execution, r.status, r.epoch, r.owner, r.version" + std::string(last_seq_of_run) +
               " from runs r where r.num = " + any_of(all.runs);
    auto const add = [&](bool wanted, std::string const& part) {
        if (wanted) sql += " union all select " + part;
    };
    constexpr auto edge = "1, e.run, w.id, w.status <> 0, 0, 0, 0, 0, 0, 0 from waitpoints w join edges e on e.waitpoint = w.num where ";
    add(!all.with_edges.empty(), edge + ("e.run = " + any_of(all.with_edges)));
    add(!all.decided.empty(), edge + ("w.id in (" + id_list(all.decided) + ")"));
    auto const ends = all.ending.empty() ? std::string() : "(w.run = " + any_of(all.ending) + " or w.id in (" + id_list(all.end_points) + ")) and w.status = 0";
    add(!all.ending.empty(), edge + ends);
    add(!all.ending.empty(), "2, w.run, w.id, false, 0, 0, 0, 0, 0, 0 from waitpoints w where " + ends);
    add(!all.closing.empty(), "4, k.parent, r.id, false, 0, 0, 0, 0, 0, 0 from children k join runs r on r.num = k.parent where k.parent = " + any_of(all.closing));
    add(!all.with_mail.empty(), "3, run, id, false, 0, 0, 0, 0, 0, 0 from requests where fate = 0 and run = " + any_of(all.with_mail));
    auto waitpoints = all.waitpoints;
    for (auto r = c_.simple(sql); r.step();) {
        auto const run = r.number(1);
        switch (r.number(0)) {
        case 0: {
            run_state s;
            s.row.num = run;
            s.row.id = {r.id(2)};
            s.row.status = {as<execution_status>(r.number(4)), as<run_status>(r.number(5))};
            s.row.epoch = as<epoch_no>(r.number(6));
            s.row.owner = as<owner_id>(r.number(7));
            s.row.version = static_cast<std::uint32_t>(r.number(8));
            s.last = as<seq_no>(r.number(9));
            runs_.emplace(run, std::move(s));
            break;
        }
        case 1:
            edges_.emplace(link{run, {r.id(2)}}, r.flag(3));
            waiters_[{r.id(2)}].insert(run);
            break;
        case 2: waitpoints.insert({r.id(2)}); break;
        case 4: parents_.insert(run); break;
        default: mail_[run].insert({r.id(2)});
        }
    }
    if (!waitpoints.empty()) read_waits(std::vector(waitpoints.begin(), waitpoints.end()));
    if (!all.topics.empty()) read_inbox(all);
    if (all.starts.empty()) return;
    static auto const by_id = select_runs("runs r where r.id = any($1::uuid[])");
    batch ids(1);
    for (auto const* s : all.starts) ids << s->run.id.value;
    for (auto r = c_.run(by_id, ids.arrays()); r.step();) {
        auto row = read_run(r);
        there_.emplace(row.id, std::move(row));
    }
    for (auto const* s : all.starts)
        if (auto row = find_key(c_, s->run.tenant, s->run.key)) keyed_.emplace(std::pair(s->run.tenant, s->run.key), *std::move(row));
}

void batch_state::read_inbox(concerned const& all)
{
    for (auto const& [t, waits] : all.topics) {
        // One for each wait that is made; further ones only while there are some that do not fit.
        auto open = waits;
        std::int64_t after = 0;
        for (bool more = true; more && !open.empty();) {
            more = false;
            auto r = c_.run(kept_events, params{} << std::string_view(t.first) << std::string_view(t.second) << after
                                                  << static_cast<std::int64_t>(open.size() + 10));
            while (r.step()) {
                auto row = store_detail::read_event(r);
                after = row.cursor;
                more = true;
                auto const fits = std::find_if(open.begin(), open.end(), [&](auto const* w) {
                    return row.what.expires_at > w->created_at && detail::fits(*w, row.what.payload);
                });
                if (fits == open.end()) continue;
                open.erase(fits);
                inbox_[t].emplace(row.cursor, std::move(row.what));
            }
        }
    }
}

void batch_state::read_waits(std::span<waitpoint_id const> ids)
{
    static auto const sql = select_waitpoints("waitpoints w join runs o on o.num = w.run where w.id = any($1::uuid[])");
    batch b(1);
    for (auto const id : ids) b << id.value;
    std::map<run_id, std::int64_t> nums;
    for (auto const& [num, s] : runs_) nums.emplace(s.row.id, num);
    for (auto r = c_.run(sql, b.arrays()); r.step();) {
        wait_state w;
        w.num = waitpoint_num(r);
        w.row = read_waitpoint(r);
        if (auto const it = nums.find(w.row.run); it != nums.end()) w.run = it->second;
        waits_.emplace(w.row.id, std::move(w));
    }
}

run_state* batch_state::run(std::int64_t num)
{
    auto const it = runs_.find(num);
    return it == runs_.end() ? nullptr : &it->second;
}

wait_state* batch_state::waitpoint(waitpoint_id id)
{
    auto const it = waits_.find(id);
    return it == waits_.end() ? nullptr : &it->second;
}

bool batch_state::landed(group const& g)
{
    std::vector<std::pair<epoch_no, std::uint64_t>> stored;
    auto r = c_.run("select epoch, checksum from journal where run = $1 and seq > $2 order by seq limit $3",
                    params{} << g.num << number(g.after) << static_cast<std::int64_t>(g.entries.size()));
    while (r.step()) stored.emplace_back(as<epoch_no>(r.number(0)), static_cast<std::uint64_t>(r.number(1)));
    while (stored.size() < g.entries.size()) {
        auto const seq = seq_no{static_cast<std::int64_t>(g.after) + static_cast<std::int64_t>(stored.size()) + 1};
        auto const it = appended_.find({g.num, seq});
        if (it == appended_.end()) return false;
        stored.emplace_back(it->second->epoch, it->second->checksum);
    }
    for (std::size_t i = 0; i < g.entries.size(); ++i)
        if (stored[i] != std::pair(g.entries[i].epoch, g.entries[i].checksum)) return false;
    return true;
}

void batch_state::append(group const& g)
{
    for (auto const& e : g.entries) {
        entries_.emplace_back(g.num, &e);
        appended_.emplace(std::pair(g.num, e.seq), &e);
    }
    auto& run = runs_.at(g.num);
    run.last = g.entries.back().seq;
    writers_.insert(run.row.owner);
}

bool batch_state::make(std::int64_t run, waitpoint_row const& row)
{
    if (!waits_.emplace(row.id, wait_state{0, run, row, false}).second) return false;
    made_.push_back(row.id);
    return true;
}

given_event batch_state::find_event(waitpoint_row const& wait, std::set<std::int64_t> const& but) const
{
    if (auto const kept = inbox_.find({wait.name, wait.correlation}); kept != inbox_.end())
        for (auto const& [num, e] : kept->second)
            if (!but.contains(num) && e.expires_at > wait.created_at && detail::fits(wait, e.payload))
                return {num, detail::ended_by(wait, e, wait.created_at)};
    return {0, wait};
}

void batch_state::give(given_event const& e)
{
    inbox_[{e.done.name, e.done.correlation}].erase(e.event);
    given_.emplace_back(e.event, e.done.id);
}

void batch_state::decide(wait_state& w, waitpoint_status fate, time_point at, std::int64_t except)
{
    if (w.row.status != waitpoint_status::pending) return;
    w.row.status = fate;
    w.row.completed_at = at;
    w.changed = true;
    for (auto const run : waiters_[w.row.id])
        if (run != except) add_wake(run, w.row.id);
}

void batch_state::add_edge(std::int64_t run, flow::add_edge const& e)
{
    edges_[{run, e.waitpoint}] = false;
    waiters_[e.waitpoint].insert(run);
    new_edges_[{run, e.waitpoint}] = {e.path, e.place};
}

void batch_state::forget(std::int64_t run, waitpoint_id w)
{
    link const l{run, w};
    edges_.erase(l);
    waiters_[w].erase(run);
    new_edges_.erase(l);
    new_wakes_.erase(l);
    gone_edges_.insert(l);
    gone_wakes_.insert(l);
}

std::vector<waitpoint_id> batch_state::decided_for(std::int64_t run)
{
    std::vector<waitpoint_id> out;
    for (auto it = edges_.lower_bound({run, {}}); it != edges_.end() && it->first.first == run; ++it) {
        auto const* w = waitpoint(it->first.second);
        if (it->second || (w && w->row.status != waitpoint_status::pending)) out.push_back(it->first.second);
    }
    return out;
}

bool batch_state::take_mail(std::int64_t run, request_id id, seq_no entry)
{
    if (mail_[run].erase(id) == 0) return false;
    taken_.emplace_back(id, entry);
    return true;
}

run_row const* batch_state::in_the_way(start_child const& what) const
{
    if (auto const at = there_.find(what.run.id); at != there_.end()) return detail::is_that_child(at->second, what) ? nullptr : &at->second;
    auto const at = keyed_.find({what.run.tenant, what.run.key});
    return at == keyed_.end() ? nullptr : &at->second;
}

void batch_state::start(std::int64_t parent, start_child const& what)
{
    if (there_.contains(what.run.id)) return;
    auto [row, plan] = detail::new_row(what.run);
    detail::number(plan, row.id, seq_no::none, row.epoch);
    row.status = plan.change.status;
    row.reason = plan.change.reason;
    row.snapshot = plan.snapshot;
    there_.emplace(row.id, row);
    if (!row.key.empty()) keyed_.emplace(std::pair(row.tenant, row.key), row);
    if (what.on_close != close_policy::detached) make(parent, detail::end_waitpoint(what));
    parents_.insert(parent);
    starts_.push_back({parent, &what, std::move(row), std::move(plan)});
}

void batch_state::complete_end(run_id run, detail::run_result result, time_point at)
{
    auto* const w = waitpoint(end_of(run));
    if (!w || w->row.status != waitpoint_status::pending) return;
    decide(*w, waitpoint_status::completed, at, 0);
    w->completed = true;
    w->row.output = std::move(result.output);
    w->row.output_encoding = result.how;
    w->row.output_is_error = result.is_error;
    w->row.by = "run " + to_string(run);
}

void batch_state::close(std::int64_t run, bool ends, std::vector<run_id> only, time_point at)
{
    if (!parents_.contains(run)) return;
    closing_.push_back({run, ends, std::move(only)});
    closed_at_ = std::max(closed_at_, at);
}

void batch_state::clear_up(std::int64_t run, time_point at)
{
    for (auto& [_, w] : waits_)
        if (w.run == run) decide(w, waitpoint_status::withdrawn, at, run);
    for (auto it = edges_.lower_bound({run, {}}); it != edges_.end() && it->first.first == run;) {
        waiters_[it->first.second].erase(run);
        new_edges_.erase(it->first);
        it = edges_.erase(it);
    }
    std::erase_if(new_wakes_, [&](link const& l) { return l.first == run; });
    mail_[run].clear();
    runs_.at(run).ended = true;
}

bool batch_state::frees_runs() const
{
    return std::any_of(runs_.begin(), runs_.end(), [](auto const& r) {
        return r.second.changed && !r.second.ended && r.second.row.owner == owner_id::nobody;
    });
}

bool batch_state::wakes_or_queues() const
{
    return !new_wakes_.empty() || std::any_of(runs_.begin(), runs_.end(), [](auto const& r) {
        return r.second.changed && r.second.row.status.execution == execution_status::queued;
    });
}

void batch_state::write()
{
    std::vector<run_entry> entries;
    for (auto const& [run, e] : entries_) entries.push_back({run, e});
    insert_entries(c_, entries);
    write_starts();
    write_waits();
    write_children();
    write_links();
    write_inbox();
    write_mail();
    std::vector<run_row> changed;
    for (auto const& [_, s] : runs_)
        if (s.changed) changed.push_back(s.row);
    update_runs(c_, changed);
    for (auto const& [run, p] : put_back_) put_payload_back(c_, run, p.seq, p.payload);
    clear_up_ended();
    close_children();
}

void batch_state::write_starts()
{
    std::vector<run_row> rows;
    for (auto const& s : starts_) rows.push_back(s.row);
    auto const nums = insert_runs(c_, rows);
    // Tried again whole, the batch finds who it was.
    if (nums.size() < rows.size()) throw refusal(errc::store_busy, "another has started a run with this id or key just now");
    std::vector<run_entry> entries;
    for (auto& s : starts_) {
        s.row.num = nums.at(s.row.id);
        for (auto const& e : s.plan.entries) entries.push_back({s.row.num, &e});
    }
    insert_entries(c_, entries);
}

void batch_state::write_children()
{
    if (starts_.empty()) return;
    batch b(4);
    for (auto const& s : starts_) b << s.parent << s.row.num << end_of(s.row.id).value << number(s.what->on_close);
    c_.run("insert into children(parent, child, waitpoint, on_close) select n.parent, n.child, coalesce(w.num, 0), n.on_close from"
           " unnest($1::bigint[], $2::bigint[], $3::uuid[], $4::smallint[]) n(parent, child, id, on_close) left join waitpoints w on w.id = n.id",
           b.arrays());
}

/// As everything stands once the rest is written.
void batch_state::close_children()
{
    for (auto const& one : closing_) {
        auto all = plan_closing(c_, {&one, 1}, closed_at_);
        write_plans(c_, all.plans, closed_at_);
        write_asked(c_, all.requests);
        asked_children_ = asked_children_ || !all.requests.empty();
    }
}

void batch_state::write_waits()
{
    std::vector<run_waitpoint> made;
    batch decided(3), ended(6);
    for (auto const id : made_) made.push_back({waits_.at(id).run, &waits_.at(id).row});
    for (auto const& [_, w] : waits_) {
        if (w.num == 0) continue;
        if (w.completed) ended << w.num << w.row.completed_at << bytes{w.row.output} << number(w.row.output_encoding)
                               << std::int64_t{w.row.output_is_error} << std::string_view(w.row.by);
        else if (w.changed) decided << w.num << number(w.row.status) << w.row.completed_at;
    }
    insert_waitpoints(c_, made);
    if (!decided.empty())
        c_.run("update waitpoints w set status = n.status, completed_at = n.at from unnest($1::bigint[], $2::smallint[], $3::bigint[])"
               " n(num, status, at) where w.num = n.num",
               decided.arrays());
    if (!ended.empty())
        c_.run("update waitpoints w set status = " + std::to_string(number(waitpoint_status::completed)) +
                   ", completed_at = n.at, output = n.output, output_encoding = n.how, output_is_error = n.failed, by = n.by from unnest($1::bigint[],"
                   " $2::bigint[], $3::bytea[], $4::smallint[], $5::smallint[], $6::text[]) n(num, at, output, how, failed, by) where w.num = n.num",
               ended.arrays());
}

void batch_state::write_links()
{
    auto const each = [](batch& b, link const& l) { b << l.first << l.second.value; };
    for (auto const& [links, table] : {std::pair(&gone_edges_, "edges"), std::pair(&gone_wakes_, "wakes")})
        if (!links->empty())
            c_.run(std::string("delete from ") + table + " x using unnest($1::bigint[], $2::uuid[]) n(run, id), waitpoints w"
                   " where w.id = n.id and x.run = n.run and x.waitpoint = w.num",
                   pairs(*links, each));
    if (!new_edges_.empty()) {
        batch b(4);
        for (auto const& [l, where] : new_edges_) b << l.first << l.second.value << std::string_view(where.first) << std::string_view(where.second);
        c_.run("insert into edges(run, waitpoint, path, place) select n.run, w.num, n.path, n.place from unnest($1::bigint[], $2::uuid[],"
               " $3::text[], $4::text[]) n(run, id, path, place) join waitpoints w on w.id = n.id",
               b.arrays());
    }
    if (!new_wakes_.empty())
        c_.run("insert into wakes(run, waitpoint) select n.run, w.num from unnest($1::bigint[], $2::uuid[]) n(run, id) join waitpoints w"
               " on w.id = n.id",
               pairs(new_wakes_, each));
}

void batch_state::write_inbox()
{
    if (!given_.empty())
        c_.run("update inbox i set consumed_by = w.num from unnest($1::bigint[], $2::uuid[]) n(num, id) join waitpoints w on w.id = n.id"
               " where i.num = n.num",
               pairs(given_, [](batch& b, auto const& g) { b << g.first << g.second.value; }));
    for (auto const& [w, at] : returned_) return_to_inbox(c_, waits_.at(w).num, at);
    if (!taken_events_.empty())
        c_.run("update inbox i set consumed_seq = n.seq from unnest($1::uuid[], $2::bigint[]) n(id, seq) join waitpoints w on w.id = n.id"
               " where i.consumed_by = w.num",
               pairs(taken_events_, [](batch& b, auto const& t) { b << t.first.value << number(t.second); }));
}

void batch_state::write_mail()
{
    if (!taken_.empty())
        c_.run("update requests q set fate = " + std::to_string(number(request_fate::taken)) +
                   ", entry = n.entry from unnest($1::uuid[], $2::bigint[]) n(id, entry) where q.id = n.id",
               pairs(taken_, [](batch& b, auto const& t) { b << t.first.value << number(t.second); }));
}

void batch_state::clear_up_ended()
{
    std::set<std::int64_t> ended;
    for (auto const& [num, s] : runs_)
        if (s.ended) ended.insert(num);
    if (ended.empty()) return;
    auto const those = " run = " + any_of(ended);
    c_.with_next("delete from edges where" + those + "; delete from wakes where" + those + "; update requests set fate = " +
                 std::to_string(number(request_fate::ended_before)) + " where fate = 0 and" + those + ";");
}

}  // namespace flow::postgres_detail
