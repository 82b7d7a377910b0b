#include "runtime/store/memory/tables.hpp"

#include <algorithm>

namespace flow::memory_detail {

namespace {

template <class Map, class Key>
std::int64_t number_in(Map const& map, Key const& key)
{
    auto const it = map.find(key);
    return it == map.end() ? 0 : it->second;
}

template <class Set, class Key>
void put(Set& set, Key const& key, bool there)
{
    if (there)
        set.insert(key);
    else
        set.erase(key);
}

/// A set without members is not kept.
template <class Map, class Key>
void put_under(Map& map, Key const& key, std::int64_t num, bool there)
{
    auto& set = map[key];
    put(set, num, there);
    if (set.empty()) map.erase(key);
}

}  // namespace

std::int64_t tables::find(run_id id) const { return number_in(run_ids_, id); }
std::int64_t tables::find(waitpoint_id id) const { return number_in(waitpoint_ids_, id); }
std::int64_t tables::find(request_id id) const { return number_in(request_ids_, id); }
std::int64_t tables::find(event_id id) const { return number_in(event_ids_, id); }
std::int64_t tables::find_key(std::string_view tenant, std::string_view key) const
{
    return key.empty() ? 0 : number_in(keys_, std::pair(tenant, key));
}
std::string const* tables::blob(digest const& hash) const
{
    auto const it = blobs_.find(hash.bytes);
    return it == blobs_.end() ? nullptr : &it->second;
}
tables::queue const& tables::queued(workflow_version const& w) const
{
    static queue const none;
    auto const it = queued_.find(w);
    return it == queued_.end() ? none : it->second;
}
std::set<std::int64_t> const& tables::runs_of(owner_id owner) const
{
    static std::set<std::int64_t> const none;
    auto const it = held_.find(owner);
    return it == held_.end() ? none : it->second;
}

void tables::rollback()
{
    for (; !undo_.empty(); undo_.pop_back()) undo_.back()();
}

// ---- runs -----------------------------------------------------------------------------------------------------------

void tables::index(run_row const& row, bool there)
{
    if (row.status.execution == execution_status::queued && row.owner == owner_id::nobody)
        put(queued_[{row.workflow, row.version}], std::tuple(-std::int64_t{row.priority}, row.due_at, row.num), there);
    if (row.status.execution == execution_status::delayed) put(delayed_, std::pair(row.due_at, row.num), there);
    if (row.deadline_at != never && !is_terminal(row.status.execution)) put(deadlines_, std::pair(row.deadline_at, row.num), there);
    if (row.owner != owner_id::nobody) put(held_[row.owner], row.num, there);
}

std::int64_t tables::add_run(run_row row)
{
    row.num = run_count() + 1;
    run_ids_[row.id] = row.num;
    if (!row.key.empty()) keys_[{row.tenant, row.key}] = row.num;
    runs_.emplace_back().row = row;
    index(row, true);
    undo_.emplace_back([this] {
        auto const& last = runs_.back().row;
        index(last, false);
        run_ids_.erase(last.id);
        if (!last.key.empty()) keys_.erase({last.tenant, last.key});
        runs_.pop_back();
    });
    return row.num;
}

void tables::put_row(run_row const& row)
{
    auto& there = at(row.num).row;
    index(there, false);
    there = row;
    index(there, true);
}

void tables::set_row(run_row const& row)
{
    undo_.emplace_back([this, before = run(row.num).row] { put_row(before); });
    put_row(row);
}

void tables::append(std::int64_t run, journal_entry e)
{
    if (e.in_blob) {
        blobs_.try_emplace(e.hash.bytes, std::move(e.payload));  // one blob without a row that names it does no harm
        e.payload.clear();
    }
    if (e.kind == entry_kind::published) {
        auto& newest = at(run).published[e.name];
        undo_.emplace_back([this, run, key = e.name, before = newest] {
            if (before == seq_no::none) at(run).published.erase(key);
            else at(run).published[key] = before;
        });
        newest = e.seq;
    }
    at(run).journal.push_back(std::move(e));
    undo_.emplace_back([this, run] { at(run).journal.pop_back(); });
}

void tables::put_back(std::int64_t run, seq_no seq, std::string const& payload)
{
    auto const position = static_cast<std::size_t>(static_cast<std::int64_t>(seq)) - 1;
    auto& journal = at(run).journal;
    if (position >= journal.size() || journal[position].hash != sha256(payload)) return;
    auto& there = journal[position].in_blob ? blobs_[journal[position].hash.bytes] : journal[position].payload;
    undo_.emplace_back([&there, before = there] { there = before; });
    there = payload;
}

void tables::add_child(std::int64_t run, std::int64_t child, close_policy on_close)
{
    at(run).children.emplace(child, on_close);
    undo_.emplace_back([this, run, child] { at(run).children.erase(child); });
}

// ---- waitpoints -----------------------------------------------------------------------------------------------------

void tables::index(waitpoint_record const& w, std::int64_t num, bool there)
{
    if (w.row.status == waitpoint_status::pending && w.row.due_at != never) put(due_waits_, std::pair(w.row.due_at, num), there);
    if (w.row.status == waitpoint_status::pending && w.row.type == waitpoint_type::event)
        put_under(event_waits_, topic{w.row.name, w.row.correlation}, num, there);
}

std::int64_t tables::add_waitpoint(std::int64_t run, waitpoint_row row)
{
    auto const num = waitpoint_count() + 1;
    row.run = at(run).row.id;
    waitpoint_ids_[row.id] = num;
    auto& w = waitpoints_.emplace_back();
    w.row = std::move(row);
    w.run = run;
    at(run).waitpoints.push_back(num);
    index(w, num, true);
    undo_.emplace_back([this, run, num] {
        index(waitpoints_.back(), num, false);
        waitpoint_ids_.erase(waitpoints_.back().row.id);
        at(run).waitpoints.pop_back();
        waitpoints_.pop_back();
    });
    return num;
}

void tables::put_waitpoint(std::int64_t num, waitpoint_row row)
{
    auto& w = waitpoints_[static_cast<std::size_t>(num - 1)];
    index(w, num, false);
    w.row = std::move(row);
    index(w, num, true);
}

void tables::set_waitpoint(std::int64_t num, waitpoint_row row)
{
    undo_.emplace_back([this, num, before = waitpoint(num).row] { put_waitpoint(num, before); });
    put_waitpoint(num, std::move(row));
}

void tables::add_response(std::int64_t waitpoint, response r)
{
    auto& all = waitpoints_[static_cast<std::size_t>(waitpoint - 1)].responses;
    all.push_back(std::move(r));
    undo_.emplace_back([&all] { all.pop_back(); });
}

void tables::put_edge(std::int64_t run, std::int64_t waitpoint, std::optional<flow::add_edge> e)
{
    put(waitpoints_[static_cast<std::size_t>(waitpoint - 1)].waiters, run, e.has_value());
    if (e)
        at(run).edges.emplace(waitpoint, std::move(*e));
    else
        at(run).edges.erase(waitpoint);
}

bool tables::add_edge(std::int64_t run, std::int64_t waitpoint, flow::add_edge e)
{
    if (at(run).edges.contains(waitpoint)) return false;
    put_edge(run, waitpoint, std::move(e));
    undo_.emplace_back([=, this] { put_edge(run, waitpoint, std::nullopt); });
    return true;
}

void tables::remove_edge(std::int64_t run, std::int64_t waitpoint)
{
    auto const it = at(run).edges.find(waitpoint);
    if (it == at(run).edges.end()) return;
    undo_.emplace_back([=, this, before = it->second] { put_edge(run, waitpoint, before); });
    put_edge(run, waitpoint, std::nullopt);
}

void tables::put_wake(std::int64_t run, std::int64_t waitpoint, bool there)
{
    auto& wakes = at(run).wakes;
    put(wakes, waitpoint, there);
    put(with_wakes_, run, !wakes.empty());
}

void tables::add_wake(std::int64_t run, std::int64_t waitpoint)
{
    put_wake(run, waitpoint, true);
    undo_.emplace_back([=, this] { put_wake(run, waitpoint, false); });
}

void tables::remove_wake(std::int64_t run, std::int64_t waitpoint)
{
    if (!at(run).wakes.contains(waitpoint)) return;
    put_wake(run, waitpoint, false);
    undo_.emplace_back([=, this] { put_wake(run, waitpoint, true); });
}

// ---- the inbox -------------------------------------------------------------------------------------------------------

void tables::index(event_record const& e, std::int64_t num, bool there)
{
    if (e.forgotten) return;
    if (e.taker == 0) put_under(kept_events_, topic{e.what.topic, e.what.correlation}, num, there);
    if (e.what.expires_at != never) put(expiring_events_, std::pair(e.what.expires_at, num), there);
    if (there) event_ids_[e.what.id] = num;
    else event_ids_.erase(e.what.id);
}

std::int64_t tables::add_event(event what, std::int64_t run)
{
    inbox_.push_back({std::move(what), run, 0, seq_no::none, false});
    auto const num = event_count();
    index(inbox_.back(), num, true);
    undo_.emplace_back([this, num] {
        index(inbox_.back(), num, false);
        inbox_.pop_back();
    });
    return num;
}

void tables::put_event(std::int64_t num, event_record e)
{
    auto& there = inbox_[static_cast<std::size_t>(num - 1)];
    index(there, num, false);
    there = std::move(e);
    index(there, num, true);
}

void tables::set_event(event_record const& changed, std::int64_t num)
{
    undo_.emplace_back([this, num, before = event_at(num)] { put_event(num, before); });
    put_event(num, changed);
}

// ---- requests and owners --------------------------------------------------------------------------------------------

void tables::put_request(std::int64_t num, request_fate fate, seq_no entry)
{
    auto& q = requests_[static_cast<std::size_t>(num - 1)];
    q.fate = fate;
    q.entry = entry;
    put(with_mail_, num, fate == request_fate::left_to_holder);
}

void tables::add_request(std::int64_t run, request what, request_fate fate, seq_no entry)
{
    auto const num = static_cast<std::int64_t>(requests_.size()) + 1;
    request_ids_[what.id] = num;
    at(run).requests.push_back(num);
    requests_.push_back({std::move(what), run, fate, entry});
    put_request(num, fate, entry);
    undo_.emplace_back([this, run, num] {
        request_ids_.erase(requests_.back().what.id);
        with_mail_.erase(num);
        at(run).requests.pop_back();
        requests_.pop_back();
    });
}

void tables::set_request(std::int64_t num, request_fate fate, seq_no entry)
{
    auto const& before = request_at(num);
    undo_.emplace_back([this, num, was = before.fate, at = before.entry] { put_request(num, was, at); });
    put_request(num, fate, entry);
}

owner_id tables::add_owner(owner_info info)
{
    owner_id const owner{++last_owner_};  // never used twice, not even after a rollback
    set_owner(owner, owner_record{std::move(info), true});
    return owner;
}

void tables::set_owner(owner_id owner, std::optional<owner_record> record)
{
    auto const write = [this, owner](std::optional<owner_record> const& r) {
        if (r)
            owners_[owner] = *r;
        else
            owners_.erase(owner);
    };
    auto const it = owners_.find(owner);
    undo_.emplace_back([write, before = it == owners_.end() ? std::nullopt : std::optional(it->second)] { write(before); });
    write(record);
}

}  // namespace flow::memory_detail
