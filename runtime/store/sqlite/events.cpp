// deliver(): what happens outside, into the inbox first, then to who waits for it (protocol P36).
#include "runtime/store/sqlite/events.hpp"

#include <algorithm>
#include <utility>

#include "runtime/store/sqlite/changes.hpp"
#include "runtime/store/sqlite/rows.hpp"
#include "runtime/store/sqlite/sqlite_store.hpp"
#include "src/events.hpp"

namespace flow::sqlite_detail {

namespace {

std::size_t kept(connection& c, std::string_view topic)
{
    auto r = c.prepare("select count(*) from (select 1 from inbox where topic = ? and consumed_by is null limit ?)");
    r << topic << static_cast<std::int64_t>(inbox_limit);
    r.step();
    return static_cast<std::size_t>(r.number(0));
}

struct open_waits {
    bool any = false;
    std::string wanted;  ///< the shape of the oldest
    std::optional<found_waitpoint> fitting;
};

/// Who waits for such an event, the longest first.
open_waits waiting_for(connection& c, event const& e)
{
    static auto const sql = select_waitpoints("waitpoints w indexed by waitpoints_event join runs o on o.num = w.run"
                                              " where w.type = 3 and w.status = 0 and w.name = ? and w.correlation = ? order by w.num");
    auto r = c.prepare(sql.c_str());
    r << std::string_view(e.topic) << std::string_view(e.correlation);
    open_waits out;
    while (!out.fitting && r.step()) {
        auto row = read_waitpoint(r);
        if (!std::exchange(out.any, true)) out.wanted = row.shape;
        if (detail::fits(row, e.payload)) out.fitting = found_waitpoint{waitpoint_num(r), std::move(row)};
    }
    return out;
}

void insert_event(connection& c, event const& e, std::int64_t run, std::int64_t taker)
{
    auto const hash = sha256(e.payload);  // bound, not copied: it lives until the statement has run
    auto r = c.prepare("insert into inbox(id, topic, key, run, payload, encoding, hash, by, at, expires_at, consumed_by) values (?,?,?,?,?,?,?,?,?,?,?)");
    r << e.id.value << std::string_view(e.topic) << std::string_view(e.correlation);
    if (run != 0) r << run;
    else r << nullptr;
    r << std::string_view(e.payload) << number(encoding::json) << hash << std::string_view(e.by) << e.at << e.expires_at;
    if (taker != 0) r << taker;
    else r << nullptr;
    r.run();
}

}  // namespace

std::optional<digest> told_before(connection& c, event_id id)
{
    auto r = c.prepare("select hash from inbox where id = ?");
    r << id.value;
    return r.step() ? std::optional(r.hash(0)) : std::nullopt;
}

delivered deliver_event(connection& c, event const& e)
{
    detail::inbox_facts facts;
    facts.told_before = told_before(c, e.id);
    auto const to = e.run ? find_run(c, *e.run) : std::nullopt;
    if (to) facts.addressee = to->status.run;
    auto const waits = waiting_for(c, e);
    auto const& first = waits.fitting;
    facts.is_awaited = waits.any;
    facts.fits = first.has_value();
    if (!facts.fits) facts.kept = kept(c, e.topic);

    delivered told{detail::judge(e, facts), {}, {}};
    if (facts.is_awaited && !facts.fits) told.wanted = waits.wanted;
    if (!detail::is_written(e, told.answer)) return told;
    bool const matched = told.answer == delivery_answer::matched;
    insert_event(c, e, to ? to->num : 0, matched ? first->num : 0);
    if (matched) {
        told.run = first->row.run;
        complete_waitpoint(c, first->num, detail::ended_by(first->row, e, e.at));
    }
    return told;
}

std::optional<inbox_event> find_event(connection& c, waitpoint_row const& wait, std::set<std::int64_t> const& but)
{
    static auto const sql = std::string("select ") + std::string(store_detail::event_columns) + " from " + std::string(store_detail::event_tables) +
                            " where i.consumed_by is null and i.topic = ? and i.key = ? and i.expires_at > ? order by i.num";
    auto r = c.prepare(sql.c_str());
    r << std::string_view(wait.name) << std::string_view(wait.correlation) << wait.created_at;
    while (r.step())
        if (auto row = store_detail::read_event(r); !but.contains(row.cursor) && detail::fits(wait, row.what.payload))
            return inbox_event{row.cursor, std::move(row.what)};
    return std::nullopt;
}

void give_event(connection& c, std::int64_t event, std::int64_t waitpoint)
{
    (c.prepare("update inbox set consumed_by = ? where num = ?") << waitpoint << event).run();
}

void take_event(connection& c, std::int64_t waitpoint, seq_no entry)
{
    (c.prepare("update inbox set consumed_seq = ? where consumed_by = ?") << number(entry) << waitpoint).run();
}

bool return_to_inbox(connection& c, std::int64_t waitpoint, time_point at)
{
    static auto const sql = std::string("select ").append(store_detail::event_columns).append(" from ").append(store_detail::event_tables) +
                            " where i.consumed_by = ? and i.consumed_seq is null";
    event_row e;
    {
        auto r = c.prepare(sql.c_str());
        if (!(r << waitpoint).step()) return false;
        e = store_detail::read_event(r);
    }
    (c.prepare("update inbox set consumed_by = null where num = ?") << e.cursor).run();
    auto const next = waiting_for(c, e.what).fitting;
    if (!next) return false;
    give_event(c, e.cursor, next->num);
    end_wait(c, next->num, detail::ended_by(next->row, e.what, at));
    return true;
}

bool has_expired_events(connection& c, time_point now)
{
    return (c.prepare("select 1 from inbox where expires_at <= ? and expires_at < 9223372036854775807 limit 1") << now).step();
}

void forget_events(connection& c, time_point now, std::int64_t limit)
{
    (c.prepare("delete from inbox where num in (select num from inbox where expires_at <= ? and expires_at < 9223372036854775807 limit ?)")
     << now << limit)
        .run();
}

outcome<delivered> sqlite_store::deliver(event const& what)
{
    delivered told;
    auto const done = db_.write(
        "deliver", db_.patience(), [&](connection& c) { told = deliver_event(c, what); },
        [&](connection& c) { return !detail::is_written(what, told.answer) || told_before(c, what.id).has_value(); });
    if (!done) return done.error();
    return told;
}

outcome<std::vector<event_row>> sqlite_reader::events(event_filter const& which)
{
    static auto const all = std::string("select ").append(store_detail::event_columns).append(" from ").append(store_detail::event_tables);
    static auto const rest = std::string(" and i.num > ?1 and (?2 = '' or i.topic = ?2) and (?3 = '' or i.key = ?3) and (?5 < 0 or ?5 ="
                                         " case when i.consumed_by is null then 0 when i.consumed_seq is null then 1 else 2 end) order by i.num limit ?6");
    static auto const of_all = all + " where ?4 is null" + rest, of_run = all + " where i.run = (select num from runs where id = ?4)" + rest;
    std::vector<event_row> out;
    auto const done = db_.read([&](connection& c) {
        auto r = c.prepare((which.run ? of_run : of_all).c_str());
        r << which.after << std::string_view(which.topic) << std::string_view(which.correlation);
        if (which.run) r << which.run->value;
        else r << nullptr;
        r << (which.fate ? number(*which.fate) : std::int64_t{-1}) << static_cast<std::int64_t>(std::min<std::size_t>(which.limit, 1'000'000));
        while (r.step()) out.push_back(store_detail::read_event(r));
    });
    if (!done) return done.error();
    return out;
}
static_assert(static_cast<int>(event_fate::kept) == 0 && static_cast<int>(event_fate::given) == 1 && static_cast<int>(event_fate::taken) == 2);

}  // namespace flow::sqlite_detail
