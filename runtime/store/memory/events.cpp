// deliver(): what happens outside, into the inbox first, then to who waits for it (protocol P36).
#include "runtime/store/memory/events.hpp"

#include <algorithm>

#include "runtime/store/memory/changes.hpp"
#include "runtime/store/memory/memory_store.hpp"
#include "src/events.hpp"

namespace flow::memory_detail {

namespace {

std::set<std::int64_t> const& under(std::map<tables::topic, std::set<std::int64_t>> const& map, std::string const& topic, std::string const& correlation)
{
    static std::set<std::int64_t> const none;
    auto const it = map.find({topic, correlation});
    return it == map.end() ? none : it->second;
}

std::size_t kept(tables const& t, std::string const& topic)
{
    std::size_t n = 0;
    for (auto it = t.kept_events().lower_bound({topic, {}}); it != t.kept_events().end() && it->first.first == topic; ++it) n += it->second.size();
    return n;
}

}  // namespace

delivered deliver_event(tables& t, event const& e)
{
    detail::inbox_facts facts;
    if (auto const before = t.find(e.id); before != 0) facts.told_before = sha256(t.event_at(before).what.payload);
    auto const run = e.run ? t.find(*e.run) : 0;
    if (run != 0) facts.addressee = t.run(run).row.status.run;
    auto const& waits = under(t.event_waits(), e.topic, e.correlation);
    auto const first = std::find_if(waits.begin(), waits.end(), [&](auto w) { return detail::fits(t.waitpoint(w).row, e.payload); });
    facts.is_awaited = !waits.empty();
    facts.fits = first != waits.end();
    facts.kept = kept(t, e.topic);

    delivered told{detail::judge(e, facts), {}, {}};
    if (facts.is_awaited && !facts.fits) told.wanted = t.waitpoint(*waits.begin()).row.shape;
    if (!detail::is_written(e, told.answer)) return told;
    auto const waitpoint = told.answer == delivery_answer::matched ? *first : 0;
    auto const num = t.add_event(e, run);
    if (waitpoint != 0) {
        give_event(t, num, waitpoint);
        auto const row = t.waitpoint(waitpoint).row;
        told.run = row.run;
        complete_waitpoint(t, waitpoint, detail::ended_by(row, e, e.at));
    }
    return told;
}

std::int64_t find_event(tables const& t, waitpoint_row const& wait, std::set<std::int64_t> const& but)
{
    for (auto const num : under(t.kept_events(), wait.name, wait.correlation)) {
        auto const& e = t.event_at(num).what;
        if (!but.contains(num) && e.expires_at > wait.created_at && detail::fits(wait, e.payload)) return num;
    }
    return 0;
}

void give_event(tables& t, std::int64_t event, std::int64_t waitpoint)
{
    auto e = t.event_at(event);
    e.taker = waitpoint;
    t.set_event(e, event);
}

namespace {

/// Which one it was stands in the waitpoint (src/events.cpp). 0: it has been forgotten.
std::int64_t given_to(tables const& t, std::int64_t waitpoint)
{
    auto const id = parse_uuid(t.waitpoint(waitpoint).row.why);
    return id ? t.find(event_id{*id}) : 0;
}

}  // namespace

bool return_to_inbox(tables& t, std::int64_t waitpoint, time_point at)
{
    auto const num = given_to(t, waitpoint);
    if (num == 0) return false;
    give_event(t, num, 0);
    auto const e = t.event_at(num).what;
    auto const& waits = under(t.event_waits(), e.topic, e.correlation);
    auto const next = std::find_if(waits.begin(), waits.end(), [&](auto w) { return detail::fits(t.waitpoint(w).row, e.payload); });
    if (next == waits.end()) return false;
    auto const to = *next;
    give_event(t, num, to);
    end_wait(t, to, detail::ended_by(t.waitpoint(to).row, e, at));
    return true;
}

void take_event(tables& t, std::int64_t waitpoint, seq_no entry)
{
    auto const num = given_to(t, waitpoint);
    if (num == 0) return;
    auto e = t.event_at(num);
    e.entry = entry;
    t.set_event(e, num);
}

void forget_events(tables& t, time_point now, std::size_t limit)
{
    std::vector<std::int64_t> old;
    for (auto const& [at, num] : t.expiring_events()) {
        if (at > now || old.size() >= limit) break;
        old.push_back(num);
    }
    for (auto const num : old) {
        auto e = t.event_at(num);
        e.forgotten = true;
        e.what = {};
        t.set_event(e, num);
    }
}

outcome<delivered> memory_store::deliver(event const& what)
{
    delivered told;
    auto const done = write("deliver", [&](tables& t) { told = deliver_event(t, what); });
    if (!done) return done.error();
    return told;
}

outcome<std::vector<event_row>> memory_reader::events(event_filter const& which)
{
    std::scoped_lock guard(t_.mutex);
    auto const& t = t_.rows;
    std::vector<event_row> out;
    for (auto num = std::max<std::int64_t>(which.after, 0) + 1; num <= t.event_count() && out.size() < which.limit; ++num) {
        auto const& e = t.event_at(num);
        if (e.forgotten) continue;
        event_row row{e.what, num, event_fate::kept, std::nullopt, e.entry};
        if (e.taker != 0) row.taker = t.waitpoint(e.taker).row.run;
        row.fate = e.entry != seq_no::none ? event_fate::taken : e.taker != 0 ? event_fate::given : event_fate::kept;
        if ((which.topic.empty() || which.topic == e.what.topic) && (which.correlation.empty() || which.correlation == e.what.correlation) &&
            (!which.run || which.run == e.what.run) && (!which.fate || *which.fate == row.fate))
            out.push_back(std::move(row));
    }
    return out;
}

}  // namespace flow::memory_detail
