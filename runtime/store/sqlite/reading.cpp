// load(): a run as its holder needs it; and what people look at.
#include <algorithm>

#include "runtime/store/id_range.hpp"
#include "runtime/store/sqlite/rows.hpp"
#include "runtime/store/sqlite/sqlite_store.hpp"
#include "src/version_policy.hpp"

namespace flow::sqlite_detail {

namespace {

template <class Value, class Read>
std::vector<Value> all(rows& r, Read const& read)
{
    std::vector<Value> out;
    while (r.step()) out.push_back(read(r));
    return out;
}

std::int64_t capped(std::size_t limit) { return static_cast<std::int64_t>(std::min<std::size_t>(limit, 1'000'000'000)); }

std::string blob_of(connection& c, digest const& hash)
{
    auto r = c.prepare("select payload from blobs where hash = ?");
    r << hash;
    if (!r.step()) throw refusal(errc::store_corrupt, "there is no blob " + to_string(hash));
    return r.text(0);
}

template <class T>
outcome<T> finish(outcome<void> const& done, T& value)
{
    if (!done) return done.error();
    return std::move(value);
}

}  // namespace

namespace {

std::optional<loaded_run> load_run(connection& c, run_id run)
{
    static auto const find = select_runs("runs r where r.id = ?");
    static auto const entries = select_journal("journal where run = ? and seq >= ? order by seq");
    static auto const before = select_journal("journal where run = ? and seq = ?");
    // Two halves that are each in order already: no table of its own is made to join them.
    static auto const waits =
        select_waitpoints("edges e cross join waitpoints w on w.num = e.waitpoint join runs o on o.num = w.run where e.run = ?1") + " union all " +
        select_waitpoints("waitpoints w join runs o on o.num = w.run where w.run = ?1 and w.status = 0"
                          " and not exists (select 1 from edges e where e.run = ?1 and e.waitpoint = w.num)") +
        " order by 1";
    static auto const mail = select_requests("requests q join runs r on r.num = q.run where q.run = ? and q.fate = 0 order by q.num");

    // Not reset before the end: the other statements read the same snapshot.
    auto r = c.prepare(find.c_str());
    r << run.value;
    if (!r.step()) return std::nullopt;
    std::optional<loaded_run> out(std::in_place);
    out->row = read_run(r);
    auto const num = out->row.num;
    std::int64_t continued = 0, from = 0;
    {
        auto newest = c.prepare("select (select max(seq) from journal where run = ?1 and kind = 31),"
                                " (select max(seq) from journal where run = ?1 and kind = 30),"
                                " (select max(seq) from journal where run = ?1)");
        newest << num;
        newest.step();
        continued = newest.number(0);  // null reads as 0
        from = std::max(continued, newest.number(1));
        // An entry is large: growing step by step would move each of them several times.
        out->entries.reserve(static_cast<std::size_t>(newest.number(2) - from) + 2);
    }
    for (auto const seq : {std::int64_t{1}, continued}) {
        if (seq == 0 || seq >= from) continue;
        auto e = c.prepare(before.c_str());
        e << num << seq;
        while (e.step()) out->entries.push_back(read_entry(e));
    }
    {
        auto e = c.prepare(entries.c_str());
        e << num << from;
        while (e.step()) out->entries.push_back(read_entry(e));
    }
    {
        auto w = c.prepare(waits.c_str());
        out->waitpoints = all<waitpoint_row>(w << num, read_waitpoint);
    }
    auto q = c.prepare(mail.c_str());
    out->mailbox = all<request>(q << num, read_request);
    return out;
}

}  // namespace

outcome<std::optional<loaded_run>> sqlite_store::load(run_id run) { return std::move(load_all({&run, 1}).front()); }

std::vector<outcome<std::optional<loaded_run>>> sqlite_store::load_all(std::span<run_id const> runs)
{
    std::vector<outcome<std::optional<loaded_run>>> all;
    auto const done = db_.read([&](connection& c) {
        all.clear();
        // Not reset before the end: all that is read meanwhile is one moment, and one look at the log.
        auto moment = c.prepare("select 1 from meta limit 1");
        if (runs.size() > 1) moment.step();
        for (auto const id : runs) all.emplace_back(load_run(c, id));
    });
    if (!done) all.assign(runs.size(), done.error());
    return all;
}

outcome<std::optional<run_row>> sqlite_store::run(run_id id)
{
    std::optional<run_row> out;
    auto const done = db_.read([&](connection& c) { out = find_run(c, id); });
    return finish(done, out);
}

outcome<std::optional<run_row>> sqlite_reader::run_by_key(std::string_view tenant, std::string_view key)
{
    static auto const sql = select_runs("runs r where r.tenant = ? and r.key = ? and r.key <> ''");
    struct {
        std::string_view tenant, key;
        std::optional<run_row> out;
    } asked{tenant, key, {}};  // one reference to all of it: an idle engine asks, and must allocate nothing for it
    auto const done = db_.read([&asked](connection& c) {
        auto r = c.prepare(sql.c_str());
        r << asked.tenant << asked.key;
        if (r.step()) asked.out = read_run(r);
    });
    return finish(done, asked.out);
}

outcome<std::vector<run_row>> sqlite_reader::runs_like(std::string_view prefix)
{
    // The range of ids that begin with these digits: the shortest and the longest way to go on.
    static auto const sql = select_runs("runs r where r.id between ? and ? order by r.id limit 2");
    std::vector<run_row> out;
    auto const range = store_detail::id_range(prefix);
    if (!range) return out;
    auto const done = db_.read([&](connection& c) {
        auto r = c.prepare(sql.c_str());
        out = all<run_row>(r << range->first << range->second, read_run);
    });
    return finish(done, out);
}

outcome<std::vector<run_row>> sqlite_reader::runs(run_filter const& which)
{
    // One statement for every filter: an empty field compares with itself.
    static auto const sql = select_runs(
        "runs r where (?1 < 0 or r.status = ?1) and (?2 = '' or r.workflow = ?2) and (?3 = '' or r.tenant = ?3)"
        " and r.created_at >= ?4 and (?5 is null or r.num < (select num from runs where id = ?5)) and (?6 = 0 or r.owner = ?6)"
        " and (?7 = '' or instr(' ' || replace(r.tags, ',', ' ') || ' ', ' ' || ?7 || ' ') > 0) and r.created_at < ?8"
        " order by r.num desc limit ?9");
    std::vector<run_row> out;
    auto const done = db_.read([&](connection& c) {
        auto r = c.prepare(sql.c_str());
        r << (which.status ? number(*which.status) : std::int64_t{-1}) << std::string_view(which.workflow)
          << std::string_view(which.tenant) << which.since;
        if (which.before)
            r << which.before->value;
        else
            r << nullptr;
        r << static_cast<std::int64_t>(which.owner.value_or(owner_id::nobody)) << std::string_view(which.tag) << which.until;
        out = all<run_row>(r << capped(which.limit), read_run);
    });
    return finish(done, out);
}

outcome<std::vector<journal_entry>> sqlite_store::journal(run_id run, seq_no after, std::size_t limit)
{
    static auto const sql =
        select_journal("journal where run = (select num from runs where id = ?) and seq > ? order by seq limit ?");
    std::vector<journal_entry> out;
    auto const done = db_.read([&](connection& c) {
        auto r = c.prepare(sql.c_str());
        out = all<journal_entry>(r << run.value << number(after) << capped(limit), read_entry);
    });
    return finish(done, out);
}

outcome<std::string> sqlite_store::load_blob(digest const& hash)
{
    std::string out;
    auto const done = db_.read([&](connection& c) { out = blob_of(c, hash); });
    return finish(done, out);
}

outcome<std::optional<waitpoint_row>> sqlite_store::waitpoint(waitpoint_id id)
{
    std::optional<waitpoint_row> out;
    auto const done = db_.read([&](connection& c) {
        if (auto w = find_waitpoint(c, id)) out = std::move(w->row);
    });
    return finish(done, out);
}

outcome<std::vector<waitpoint_row>> sqlite_reader::waitpoints(waitpoint_filter const& which)
{
    static auto const sql = select_waitpoints(
        "waitpoints w join runs o on o.num = w.run where (?1 is null or o.id = ?1) and (?2 < 0 or w.status = ?2)"
        " and (?3 < 0 or w.purpose = ?3) order by w.num desc limit ?4");
    std::vector<waitpoint_row> out;
    auto const done = db_.read([&](connection& c) {
        auto r = c.prepare(sql.c_str());
        if (which.run)
            r << which.run->value;
        else
            r << nullptr;
        r << (which.status ? number(*which.status) : std::int64_t{-1})
          << (which.purpose ? number(*which.purpose) : std::int64_t{-1});
        out = all<waitpoint_row>(r << capped(which.limit), read_waitpoint);
    });
    return finish(done, out);
}

outcome<std::vector<request_row>> sqlite_reader::requests(run_id run)
{
    static auto const sql = select_requests("requests q join runs r on r.num = q.run where r.id = ? order by q.num");
    std::vector<request_row> out;
    auto const done = db_.read([&](connection& c) {
        auto r = c.prepare(sql.c_str());
        out = all<request_row>(r << run.value, [](rows& row) {
            return request_row{read_request(row), read_fate(row), read_request_entry(row)};
        });
    });
    return finish(done, out);
}

outcome<std::vector<owner_row>> sqlite_reader::owners()
{
    std::vector<owner_row> out;
    auto const done = db_.read([&](connection& c) {
        auto r = c.prepare("select id, name, pid, started_at, workflows from owners order by id");
        out = all<owner_row>(r, [](rows& row) {
            return owner_row{as<owner_id>(row.number(0)), row.text(1), row.number(2), row.time(3), false, detail::read_announced(row.text(4))};
        });
        for (auto& o : out) o.alive = locks_.holds(o.id) || file_lock::is_held(locks_.name_of(o.id));
    });
    return finish(done, out);
}

outcome<std::vector<journal_entry>> sqlite_reader::published(run_id run)
{
    static auto const sql = select_journal("journal where run = (select num from runs where id = ?1) and seq in"
                                           " (select seq from published where run = (select num from runs where id = ?1)) order by name");
    std::vector<journal_entry> out;
    auto const done = db_.read([&](connection& c) {
        auto r = c.prepare(sql.c_str());
        out = all<journal_entry>(r << run.value, read_entry);
    });
    return finish(done, out);
}

outcome<std::vector<journal_entry>> sqlite_reader::publications(run_id run, seq_no after, std::size_t limit)
{
    static auto const sql = select_journal("journal where run = (select num from runs where id = ?) and kind = 34 and seq > ? order by seq limit ?");
    std::vector<journal_entry> out;
    auto const done = db_.read([&](connection& c) {
        auto r = c.prepare(sql.c_str());
        out = all<journal_entry>(r << run.value << number(after) << capped(limit), read_entry);
    });
    return finish(done, out);
}
static_assert(static_cast<int>(entry_kind::published) == 34);

outcome<std::vector<child_row>> sqlite_reader::children(run_id parent, std::optional<run_id> after, std::size_t limit)
{
    static auto const sql = select_runs_and("k.on_close", "children k join runs r on r.num = k.child where k.parent = (select num from runs where id = ?)"
                                                          " and k.child > coalesce((select num from runs where id = ?), 0) order by k.child limit ?");
    std::vector<child_row> out;
    auto const done = db_.read([&](connection& c) {
        auto r = c.prepare(sql.c_str());
        out = all<child_row>(r << parent.value << after.value_or(run_id{}).value << capped(limit),
                             [](rows& row) { return child_row{read_run(row), as<close_policy>(row.number(22))}; });
    });
    return finish(done, out);
}

outcome<std::vector<workflow_version>> sqlite_reader::versions_to_claim()
{
    std::vector<workflow_version> out;
    auto const done = db_.read([&](connection& c) {
        auto r = c.prepare("select distinct workflow, version from runs where execution = 2");
        auto const pair = [](rows& row) { return workflow_version{row.text(0), static_cast<std::uint32_t>(row.number(1))}; };
        out = all<workflow_version>(r, pair);
        auto ids = c.prepare("select id from owners");
        while (ids.step()) {
            auto const owner = as<owner_id>(ids.number(0));
            if (locks_.holds(owner) || file_lock::is_held(locks_.name_of(owner))) continue;
            auto left = c.prepare("select distinct workflow, version from runs where owner = ? and owner <> 0");
            for (auto& w : all<workflow_version>(left << number(owner), pair)) out.push_back(std::move(w));
        }
        std::sort(out.begin(), out.end());
        out.erase(std::unique(out.begin(), out.end()), out.end());
    });
    return finish(done, out);
}

}  // namespace flow::sqlite_detail
