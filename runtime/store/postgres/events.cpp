// deliver(): what happens outside, into the inbox first, then to who waits for it (protocol P36).
#include "runtime/store/postgres/events.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "runtime/store/postgres/changes.hpp"
#include "runtime/store/postgres/postgres_store.hpp"
#include "runtime/store/postgres/rows.hpp"
#include "src/events.hpp"

namespace flow::postgres_detail {

namespace {

/// What stands for a topic among the server's advisory locks. Two topics under one number wait for each other, no more.
std::int64_t lock_number(topic const& t)
{
    auto const hash = sha256("flow topic " + std::to_string(t.first.size()) + ' ' + t.first + t.second);
    std::int64_t number = 0;
    std::memcpy(&number, hash.bytes.data(), sizeof number);
    return number;
}

struct stored_event {
    digest hash;
    std::optional<run_id> taker;
};
std::optional<stored_event> told_before(connection& c, event_id id)
{
    auto r = c.run("select i.hash, t.id from inbox i left join waitpoints w on w.num = i.consumed_by left join runs t on t.num = w.run where i.id = $1",
                   params{} << id.value);
    if (!r.step()) return std::nullopt;
    return stored_event{r.hash(0), r.is_null(1) ? std::nullopt : std::optional(run_id{r.id(1)})};
}

struct open_waits {
    bool any = false;
    std::string wanted;  ///< the shape of the oldest
    std::optional<found_waitpoint> fitting;  ///< locked
};

/// Who waits for such an event, the longest first. Nobody joins them meanwhile: their topic is locked.
open_waits waiting_for(connection& c, event const& e)
{
    static auto const page = select_waitpoints("waitpoints w join runs o on o.num = w.run where w.type = 3 and w.status = 0 and w.name = $1"
                                               " and w.correlation = $2 and w.num > $3 order by w.num limit 100");
    open_waits out;
    std::int64_t after = 0;
    for (;;) {
        std::vector<found_waitpoint> found;
        for (auto r = c.run(page, params{} << std::string_view(e.topic) << std::string_view(e.correlation) << after); r.step();)
            found.push_back({waitpoint_num(r), read_waitpoint(r)});
        if (found.empty()) return out;
        after = found.back().num;
        for (auto& w : found) {
            bool const fits = detail::fits(w.row, e.payload);
            // It may time out or be withdrawn just now: then nobody waits here.
            if (fits && !c.run("select 1 from waitpoints where num = $1 and status = 0 for no key update", params{} << w.num).step()) continue;
            if (!out.any) out.wanted = w.row.shape;
            out.any = true;
            if (!fits) continue;
            out.fitting = std::move(w);
            return out;
        }
    }
}

std::size_t kept(connection& c, std::string_view name)
{
    auto r = c.run("select count(*) from (select 1 from inbox where topic = $1 and consumed_by is null limit $2) k",
                   params{} << name << static_cast<std::int64_t>(inbox_limit));
    r.step();
    return static_cast<std::size_t>(r.number(0));
}

}  // namespace

void lock_topics(connection& c, std::set<topic> const& topics)
{
    std::set<std::int64_t> numbers;
    for (auto const& t : topics) numbers.insert(lock_number(t));
    for (auto const n : numbers) c.with_next("select pg_advisory_xact_lock(" + std::to_string(n) + ");");
}

delivered deliver_event(transaction& t, event const& e)
{
    auto& c = t.c;
    std::optional<run_row> to;
    if (e.run) {
        c.run("select 1 from runs where id = $1 for no key update", params{} << e.run->value);
        to = find_run(c, *e.run);
    }
    lock_topics(c, {{e.topic, e.correlation}});
    detail::inbox_facts facts;
    auto const before = told_before(c, e.id);
    if (before) facts.told_before = before->hash;
    if (to) facts.addressee = to->status.run;
    auto waits = before ? open_waits{} : waiting_for(c, e);
    facts.is_awaited = waits.any;
    facts.fits = waits.fitting.has_value();
    if (!before && !facts.fits) facts.kept = kept(c, e.topic);

    delivered told{detail::judge(e, facts), {}, {}};
    // Committed after all by a try of this very call.
    if (t.in_doubt && told.answer == delivery_answer::duplicate) {
        told.answer = before->taker ? delivery_answer::matched : delivery_answer::kept;
        told.run = before->taker;
    }
    if (facts.is_awaited && !facts.fits) told.wanted = waits.wanted;
    if (before || !detail::is_written(e, told.answer)) return told;
    bool const matched = told.answer == delivery_answer::matched;
    c.run("insert into inbox(id, topic, key, run, payload, encoding, hash, by, at, expires_at, consumed_by) values ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11)",
          params{} << e.id.value << std::string_view(e.topic) << std::string_view(e.correlation) << (to ? std::optional(to->num) : std::nullopt)
                   << bytes{e.payload} << number(encoding::json) << sha256(e.payload) << std::string_view(e.by) << e.at << e.expires_at
                   << (matched ? std::optional(waits.fitting->num) : std::nullopt));
    if (matched) {
        told.run = waits.fitting->row.run;
        complete_waitpoint(c, waits.fitting->num, detail::ended_by(waits.fitting->row, e, e.at));
    }
    return told;
}

void return_to_inbox(connection& c, std::int64_t waitpoint, time_point at)
{
    static auto const sql = "select " + std::string(store_detail::event_columns) + " from " + std::string(store_detail::event_tables) +
                            " where i.consumed_by = $1 and i.consumed_seq is null";
    auto r = c.run(sql, params{} << waitpoint);
    if (!r.step()) return;
    auto const e = store_detail::read_event(r);
    c.run("update inbox set consumed_by = null where num = $1", params{} << e.cursor);
    auto const next = waiting_for(c, e.what).fitting;
    if (!next) return;
    c.run("update inbox set consumed_by = $1 where num = $2", params{} << next->num << e.cursor);
    complete_waitpoint(c, next->num, detail::ended_by(next->row, e.what, at));
}

outcome<delivered> postgres_store::deliver(event const& what)
{
    delivered told;
    auto const done = db_.write("deliver", db_.patience(), [&](transaction& t) {
        told = deliver_event(t, what);
        t.locked();
        if (!detail::is_written(what, told.answer)) t.quiet();
    });
    if (!done) return done.error();
    if (told.answer == delivery_answer::matched) news_.concerns_everybody();
    return told;
}

outcome<std::vector<event_row>> postgres_reader::events(event_filter const& which)
{
    static auto const all_events = "select " + std::string(store_detail::event_columns) + " from " + std::string(store_detail::event_tables);
    static auto const rest = std::string(" and i.num > $1 and ($2 = '' or i.topic = $2) and ($3 = '' or i.key = $3) and ($5 < 0 or $5 ="
                                         " case when i.consumed_by is null then 0 when i.consumed_seq is null then 1 else 2 end) order by i.num limit $6");
    static auto const of_all = all_events + " where $4::uuid is null" + rest,
                      of_run = all_events + " where i.run = (select num from runs where id = $4::uuid)" + rest;
    std::vector<event_row> out;
    auto const done = db_.read([&](connection& c) {
        out = all<event_row>(c.run(which.run ? of_run : of_all, params{} << which.after << std::string_view(which.topic) << std::string_view(which.correlation)
                                                 << (which.run ? std::optional(which.run->value) : std::nullopt)
                                                 << (which.fate ? number(*which.fate) : std::int64_t{-1})
                                                 << static_cast<std::int64_t>(std::min<std::size_t>(which.limit, 1'000'000))),
                             [](rows& r) { return store_detail::read_event(r); });
    });
    if (!done) return done.error();
    return out;
}
static_assert(static_cast<int>(event_fate::kept) == 0 && static_cast<int>(event_fate::given) == 1 && static_cast<int>(event_fate::taken) == 2);

}  // namespace flow::postgres_detail
