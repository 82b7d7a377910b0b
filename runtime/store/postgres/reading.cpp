// load(): a run as its holder needs it; and what people look at.
#include <algorithm>

#include "runtime/store/id_range.hpp"
#include "runtime/store/postgres/rows.hpp"
#include "runtime/store/postgres/postgres_store.hpp"
#include "src/version_policy.hpp"

namespace flow::postgres_detail {

namespace {

std::int64_t capped(std::size_t limit) { return static_cast<std::int64_t>(std::min<std::size_t>(limit, 1'000'000'000)); }

std::string blob_of(connection& c, digest const& hash)
{
    auto r = c.run("select payload from blobs where hash = $1", params{} << hash);
    if (!r.step()) throw refusal(errc::store_corrupt, "there is no blob " + to_string(hash));
    return r.bytes(0);
}

template <class T>
outcome<T> finish(outcome<void> const& done, T& value)
{
    if (!done) return done.error();
    return std::move(value);
}

}  // namespace

outcome<std::map<run_id, loaded_run>> postgres_store::load_moment(std::span<run_id const> runs)
{
    static auto const rows_there = select_runs("runs r where r.id = any($1::uuid[])");
    // The newest segment, and what it needs of those before it (loaded_run); each by its own piece of the index.
    static auto const entries = select_journal_and_run(
        "(select e.* from unnest($1::bigint[]) n(run)"
        " cross join lateral (select coalesce(max(seq), 0) as seq from journal where run = n.run and kind = 31) c"
        " cross join lateral (select greatest(c.seq, coalesce(max(seq), 0)) as seq from journal where run = n.run and kind = 30) s"
        " cross join lateral (select * from journal where run = n.run and seq >= s.seq union all"
        " select * from journal where run = n.run and seq in (1, c.seq) and seq < s.seq) e) j order by run, seq");
    static auto const waits = select_waitpoints(
        "h.id", "(select run, waitpoint from edges where run = any($1::bigint[]) union"
        " select run, num from waitpoints where run = any($1::bigint[]) and status = 0) x"
        " join waitpoints w on w.num = x.waitpoint join runs o on o.num = w.run join runs h on h.num = x.run order by w.num");
    static auto const mails = select_requests("requests q join runs r on r.num = q.run where q.run = any($1::bigint[]) and q.fate = 0"
                                              " order by q.num");
    batch ids(1);
    for (auto const id : runs) ids << id.value;
    std::map<run_id, loaded_run> out;
    auto const done = db_.read_moment([&](connection& c) {
        out.clear();
        std::map<std::int64_t, loaded_run*> by_num;
        for (auto r = c.run(rows_there, ids.arrays()); r.step();) {
            auto row = read_run(r);
            auto& there = out[row.id];
            there.row = std::move(row);
            by_num.emplace(there.row.num, &there);
        }
        if (out.empty()) return;
        batch nums(1);
        for (auto const& [num, _] : by_num) nums << num;
        auto const those = nums.arrays();
        for (auto r = c.run(entries, those); r.step();) by_num.at(read_entry_run(r))->entries.push_back(read_entry(r));
        for (auto r = c.run(waits, those); r.step();) out.at(read_woken_run(r)).waitpoints.push_back(read_waitpoint(r));
        for (auto r = c.run(mails, those); r.step();) {
            auto q = read_request(r);
            out.at(q.run).mailbox.push_back(std::move(q));
        }
    });
    if (!done) return done.error();
    return out;
}

outcome<std::optional<loaded_run>> postgres_store::load(run_id run) { return std::move(load_all({&run, 1}).front()); }

std::vector<outcome<std::optional<loaded_run>>> postgres_store::load_all(std::span<run_id const> runs)
{
    std::vector<outcome<std::optional<loaded_run>>> all;
    all.reserve(runs.size());
    auto found = load_moment(runs);
    for (auto const id : runs) {
        if (!found) {
            all.emplace_back(found.error());
            continue;
        }
        auto const at = found->find(id);
        all.emplace_back(at == found->end() ? std::nullopt : std::optional(std::move(at->second)));
    }
    return all;
}

outcome<std::optional<run_row>> postgres_store::run(run_id id)
{
    std::optional<run_row> out;
    auto const done = db_.read([&](connection& c) { out = find_run(c, id); });
    return finish(done, out);
}

outcome<std::optional<run_row>> postgres_reader::run_by_key(std::string_view tenant, std::string_view key)
{
    std::optional<run_row> out;
    auto const done = db_.read([&](connection& c) { out = find_key(c, tenant, key); });
    return finish(done, out);
}

outcome<std::vector<run_row>> postgres_reader::runs_like(std::string_view prefix)
{
    // The range of ids that begin with these digits: the shortest and the longest way to go on.
    static auto const sql = select_runs("runs r where r.id between $1 and $2 order by r.id limit 2");
    std::vector<run_row> out;
    auto const range = store_detail::id_range(prefix);
    if (!range) return out;
    auto const done = db_.read([&](connection& c) { out = all<run_row>(c.run(sql, params{} << range->first << range->second), read_run); });
    return finish(done, out);
}

outcome<std::vector<run_row>> postgres_reader::runs(run_filter const& which)
{
    // One statement for every filter: an empty field compares with itself.
    static auto const sql = select_runs(
        "runs r where ($1::int < 0 or r.status = $1::int) and ($2 = '' or r.workflow = $2) and ($3 = '' or r.tenant = $3)"
        " and r.created_at >= $4 and ($5::uuid is null or r.num < (select num from runs where id = $5::uuid))"
        " and ($6::bigint = 0 or r.owner = $6::bigint) and ($8 = '' or strpos(' ' || replace(r.tags, ',', ' ') || ' ', ' ' || $8 || ' ') > 0)"
        " and r.created_at < $9 order by r.num desc limit $7");
    std::vector<run_row> out;
    auto const done = db_.read([&](connection& c) {
        params p;
        p << (which.status ? number(*which.status) : std::int64_t{-1}) << std::string_view(which.workflow)
          << std::string_view(which.tenant) << which.since << (which.before ? std::optional(which.before->value) : std::nullopt)
          << static_cast<std::int64_t>(which.owner.value_or(owner_id::nobody)) << capped(which.limit)
          << std::string_view(which.tag) << which.until;
        out = all<run_row>(c.run(sql, p), read_run);
    });
    return finish(done, out);
}

outcome<std::vector<journal_entry>> postgres_store::journal(run_id run, seq_no after, std::size_t limit)
{
    static auto const sql =
        select_journal("journal where run = (select num from runs where id = $1) and seq > $2 order by seq limit $3");
    std::vector<journal_entry> out;
    auto const done = db_.read([&](connection& c) {
        out = all<journal_entry>(c.run(sql, params{} << run.value << number(after) << capped(limit)), read_entry);
    });
    return finish(done, out);
}

outcome<std::string> postgres_store::load_blob(digest const& hash)
{
    std::string out;
    auto const done = db_.read([&](connection& c) { out = blob_of(c, hash); });
    return finish(done, out);
}

outcome<std::optional<waitpoint_row>> postgres_store::waitpoint(waitpoint_id id)
{
    std::optional<waitpoint_row> out;
    auto const done = db_.read([&](connection& c) {
        out.reset();
        if (auto w = find_waitpoint(c, id)) out = std::move(w->row);
    });
    return finish(done, out);
}

outcome<std::vector<waitpoint_row>> postgres_reader::waitpoints(waitpoint_filter const& which)
{
    static auto const sql = select_waitpoints(
        "waitpoints w join runs o on o.num = w.run where ($1::uuid is null or o.id = $1::uuid) and ($2::int < 0 or w.status = $2::int)"
        " and ($3::int < 0 or w.purpose = $3::int) order by w.num desc limit $4");
    std::vector<waitpoint_row> out;
    auto const done = db_.read([&](connection& c) {
        params p;
        p << (which.run ? std::optional(which.run->value) : std::nullopt) << (which.status ? number(*which.status) : std::int64_t{-1})
          << (which.purpose ? number(*which.purpose) : std::int64_t{-1}) << capped(which.limit);
        out = all<waitpoint_row>(c.run(sql, p), read_waitpoint);
    });
    return finish(done, out);
}

outcome<std::vector<request_row>> postgres_reader::requests(run_id run)
{
    static auto const sql = select_requests("requests q join runs r on r.num = q.run where r.id = $1 order by q.num");
    std::vector<request_row> out;
    auto const done = db_.read([&](connection& c) {
        out = all<request_row>(c.run(sql, params{} << run.value), [](rows& row) {
            return request_row{read_request(row), read_fate(row), read_request_entry(row)};
        });
    });
    return finish(done, out);
}

outcome<std::vector<owner_row>> postgres_reader::owners()
{
    static auto const sql = std::string("select id, name, pid, started_at, lease_until > ") + server_clock + ", workflows from owners order by id";
    std::vector<owner_row> out;
    auto const done = db_.read([&](connection& c) {
        out = all<owner_row>(c.run(sql), [](rows& row) {
            return owner_row{as<owner_id>(row.number(0)), row.text(1), row.number(2), row.time(3), row.flag(4), detail::read_announced(row.text(5))};
        });
    });
    return finish(done, out);
}

outcome<std::vector<journal_entry>> postgres_reader::published(run_id run)
{
    static auto const sql = select_journal("journal where run = (select num from runs where id = $1) and seq in"
                                           " (select seq from published where run = (select num from runs where id = $1)) order by name collate \"C\"");
    std::vector<journal_entry> out;
    auto const done = db_.read([&](connection& c) { out = all<journal_entry>(c.run(sql, params{} << run.value), read_entry); });
    return finish(done, out);
}

outcome<std::vector<journal_entry>> postgres_reader::publications(run_id run, seq_no after, std::size_t limit)
{
    static auto const sql =
        select_journal("journal where run = (select num from runs where id = $1) and kind = 34 and seq > $2 order by seq limit $3");
    std::vector<journal_entry> out;
    auto const done = db_.read([&](connection& c) {
        out = all<journal_entry>(c.run(sql, params{} << run.value << number(after) << capped(limit)), read_entry);
    });
    return finish(done, out);
}
static_assert(static_cast<int>(entry_kind::published) == 34);

outcome<std::vector<child_row>> postgres_reader::children(run_id parent, std::optional<run_id> after, std::size_t limit)
{
    static auto const sql = select_runs_and("k.on_close", "children k join runs r on r.num = k.child where k.parent = (select num from runs where id = $1)"
                                                          " and k.child > coalesce((select num from runs where id = $2), 0) order by k.child limit $3");
    std::vector<child_row> out;
    auto const done = db_.read([&](connection& c) {
        out = all<child_row>(c.run(sql, params{} << parent.value << after.value_or(run_id{}).value << capped(limit)),
                             [](rows& r) { return child_row{read_run(r), as<close_policy>(r.number(last_seq_column))}; });
    });
    return finish(done, out);
}

outcome<std::vector<workflow_version>> postgres_reader::versions_to_claim()
{
    std::vector<workflow_version> out;
    auto const done = db_.read([&](connection& c) {
        out = all<workflow_version>(c.run(std::string("select workflow, version from runs where execution = 2 union select workflow, version from runs where owner in"
                                                      " (select id from owners where lease_until <= ") + server_clock + ") and owner <> 0"),
                                    [](rows& row) { return workflow_version{row.text(0), static_cast<std::uint32_t>(row.number(1))}; });
    });
    return finish(done, out);
}

}  // namespace flow::postgres_detail
