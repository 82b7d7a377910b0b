#include "runtime/store/postgres/rows.hpp"

#include <algorithm>
#include <map>

namespace flow::postgres_detail {

namespace {

std::string select(std::string_view columns, std::string_view from)
{
    return std::string("select ").append(columns).append(" from ").append(from);
}

}  // namespace

std::string select_runs(std::string_view from) { return select(store_detail::run_columns, from); }
std::string select_runs_and(std::string_view column, std::string_view from)
{
    return select(std::string(store_detail::run_columns).append(", ").append(column), from);
}
std::string select_runs_and_last(std::string_view from)
{
    return select(std::string(store_detail::run_columns).append(last_seq_of_run), from);
}

run_row read_run(rows& r) { return store_detail::read_run(r); }

std::string select_journal(std::string_view from) { return select(store_detail::journal_columns, from); }
std::string select_journal_and_run(std::string_view from) { return select(std::string(store_detail::journal_columns) + ", run", from); }
std::int64_t read_entry_run(rows& r) { return r.number(21); }

journal_entry read_entry(rows& r) { return store_detail::read_entry(r); }

std::string select_waitpoints(std::string_view from) { return select_waitpoints("null", from); }

std::string select_waitpoints(std::string_view woken_run, std::string_view from)
{
    return select(std::string(store_detail::waitpoint_columns).append(", ").append(woken_run), from);
}

run_id read_woken_run(rows& r) { return {r.id(store_detail::waitpoint_column_count)}; }

std::int64_t waitpoint_num(rows& r) { return r.number(0); }

waitpoint_row read_waitpoint(rows& r) { return store_detail::read_waitpoint(r); }

std::string select_requests(std::string_view from) { return select(store_detail::request_columns, from); }

request read_request(rows& r) { return store_detail::read_request(r); }
request_fate read_fate(rows& r) { return as<request_fate>(r.number(7)); }
seq_no read_request_entry(rows& r) { return as<seq_no>(r.number(8)); }

std::vector<std::int64_t> numbers(rows r)
{
    return all<std::int64_t>(std::move(r), [](rows& row) { return row.number(0); });
}

std::optional<run_row> find_run(connection& c, run_id id)
{
    static auto const sql = select_runs("runs r where r.id = $1");
    auto r = c.run(sql, params{} << id.value);
    return r.step() ? std::optional(read_run(r)) : std::nullopt;
}

digest key_hash(std::string_view tenant, std::string_view key)
{
    if (key.empty()) return {};
    return sha256(std::to_string(tenant.size()).append(" ").append(tenant).append(key));
}

std::optional<run_row> find_key(connection& c, std::string_view tenant, std::string_view key)
{
    static auto const sql = select_runs("runs r where r.key_hash = $1");
    if (key.empty()) return std::nullopt;
    auto r = c.run(sql, params{} << key_hash(tenant, key));
    return r.step() ? std::optional(read_run(r)) : std::nullopt;
}

void insert_entries(connection& c, std::span<run_entry const> entries)
{
    if (entries.empty()) return;
    batch b(22);
    std::vector<journal_entry const*> with_blob;
    std::map<std::pair<std::int64_t, std::string_view>, seq_no> published;  // the newest of each key: a row is written once a statement
    for (auto const& [run, entry] : entries) {
        auto const& e = *entry;
        b << run << number(e.seq) << number(e.epoch) << std::int64_t{e.segment} << number(e.kind) << std::string_view(e.path)
          << std::string_view(e.place) << std::string_view(e.name) << number(e.cls) << std::int64_t{e.attempt}
          << std::string_view(e.shape_in) << std::string_view(e.shape_out) << number(e.encoding);
        if (e.in_blob || e.encoding == encoding::none)
            b << nullptr;
        else
            b << bytes{e.payload};
        b << std::int64_t{e.in_blob} << e.hash << e.input_hash << std::string_view(e.commit_ref) << std::string_view(e.by)
          << std::string_view(e.why) << e.at << static_cast<std::int64_t>(e.checksum);
        if (e.in_blob) with_blob.push_back(entry);
        if (e.kind == entry_kind::published) published[{run, e.name}] = e.seq;
    }
    c.run("insert into journal(run, seq, epoch, segment, kind, path, place, name, class, attempt, shape_in, shape_out, encoding,"
          " payload, blob, hash, input_hash, commit_ref, by, why, at, checksum) select * from unnest($1::bigint[], $2::bigint[],"
          " $3::bigint[], $4::bigint[], $5::smallint[], $6::text[], $7::text[], $8::text[], $9::smallint[], $10::int[], $11::text[],"
          " $12::text[], $13::smallint[], $14::bytea[], $15::smallint[], $16::bytea[], $17::bytea[], $18::text[], $19::text[],"
          " $20::text[], $21::bigint[], $22::bigint[])",
          b.arrays());
    if (!published.empty()) {
        batch newest(3);
        for (auto const& [at, seq] : published) newest << at.first << at.second << number(seq);
        c.run("insert into published(run, key, seq) select * from unnest($1::bigint[], $2::text[], $3::bigint[])"
              " on conflict (run, key) do update set seq = excluded.seq",
              newest.arrays());
    }
    if (with_blob.empty()) return;
    // In one order everywhere: two who insert the same two blobs wait for each other only one way round.
    std::sort(with_blob.begin(), with_blob.end(), [](auto const* x, auto const* y) { return x->hash.bytes < y->hash.bytes; });
    for (auto const* e : with_blob)
        c.run("insert into blobs(hash, payload) values ($1::bytea, $2::bytea) on conflict do nothing",
              params{} << e->hash << bytes{e->payload});
}

void put_payload_back(connection& c, std::int64_t run, seq_no seq, std::string const& payload)
{
    auto const hash = sha256(payload);
    auto r = c.run("select blob from journal where run = $1::bigint and seq = $2::bigint and hash = $3::bytea",
                   params{} << run << number(seq) << hash);
    if (!r.step()) return;
    if (r.number(0) != 0)
        c.run("insert into blobs(hash, payload) values ($1::bytea, $2::bytea) on conflict(hash) do update set payload = excluded.payload",
              params{} << hash << bytes{payload});
    else
        c.run("update journal set payload = $1::bytea where run = $2::bigint and seq = $3::bigint",
              params{} << bytes{payload} << run << number(seq));
}

std::map<run_id, std::int64_t> insert_runs(connection& c, std::span<run_row const> all)
{
    std::map<run_id, std::int64_t> nums;
    if (all.empty()) return nums;
    batch b(22);
    for (auto const& row : all)
        b << row.id.value << std::string_view(row.tenant) << std::string_view(row.key) << key_hash(row.tenant, row.key)
          << std::string_view(row.workflow) << std::int64_t{row.version} << std::string_view(row.queue) << std::string_view(row.tags)
          << std::int64_t{row.priority} << (row.parent ? std::optional(row.parent->value) : std::nullopt) << row.created_at << row.due_at
          << row.deadline_at << row.changed_at << number(row.status.execution) << number(row.status.run)
          << std::string_view(row.terminal_reason) << std::string_view(row.reason) << number(row.snapshot) << number(row.epoch)
          << number(row.owner) << row.args_hash;
    auto r = c.run("insert into runs(id, tenant, key, key_hash, workflow, version, queue, tags, priority, parent, created_at, due_at,"
                   " deadline_at, changed_at, execution, status, terminal_reason, reason, snapshot, epoch, owner, args_hash) select * from"
                   " unnest($1::uuid[], $2::text[], $3::text[], $4::bytea[], $5::text[], $6::bigint[], $7::text[], $8::text[], $9::int[],"
                   " $10::uuid[], $11::bigint[], $12::bigint[], $13::bigint[], $14::bigint[], $15::smallint[], $16::smallint[], $17::text[],"
                   " $18::text[], $19::bigint[], $20::bigint[], $21::bigint[], $22::bytea[]) on conflict do nothing returning num, id",
                   b.arrays());
    while (r.step()) nums.emplace(run_id{r.id(1)}, r.number(0));
    return nums;
}

void update_runs(connection& c, std::span<run_row const> changed)
{
    if (changed.empty()) return;
    batch b(11);
    for (auto const& row : changed)
        b << row.num << number(row.status.execution) << number(row.status.run) << std::string_view(row.terminal_reason)
          << std::string_view(row.reason) << row.changed_at << number(row.snapshot) << number(row.epoch) << number(row.owner)
          << std::int64_t{row.version} << row.due_at;
    c.run("update runs r set execution = n.execution, status = n.status, terminal_reason = n.terminal_reason, reason = n.reason,"
          " changed_at = n.changed_at, snapshot = n.snapshot, epoch = n.epoch, owner = n.owner, version = n.version,"
          " due_at = n.due_at from unnest($1::bigint[],"
          " $2::smallint[], $3::smallint[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[],"
          " $10::bigint[], $11::bigint[]) n(num, execution, status, terminal_reason, reason, changed_at, snapshot, epoch, owner, version, due_at)"
          " where r.num = n.num",
          b.arrays());
}

void insert_waitpoints(connection& c, std::span<run_waitpoint const> made)
{
    if (made.empty()) return;
    batch b(21);
    for (auto const& [run, w] : made) {
        auto const& row = *w;
        b << row.id.value << run << number(row.type) << number(row.purpose) << number(row.status) << std::string_view(row.name)
          << std::string_view(row.place) << std::string_view(row.idempotency_key) << key_hash({}, row.idempotency_key)
          << std::string_view(row.shape) << row.secret_hash << row.due_at << row.created_at << row.completed_at << bytes{row.output}
          << number(row.output_encoding) << std::int64_t{row.output_is_error} << std::string_view(row.by)
          << std::string_view(row.why) << std::string_view(row.options) << std::string_view(row.correlation);
    }
    c.run("insert into waitpoints(id, run, type, purpose, status, name, place, key, key_hash, shape, secret_hash, due_at, created_at,"
          " completed_at, output, output_encoding, output_is_error, by, why, options, correlation) select * from unnest($1::uuid[], $2::bigint[],"
          " $3::smallint[], $4::smallint[], $5::smallint[], $6::text[], $7::text[], $8::text[], $9::bytea[], $10::text[],"
          " $11::bytea[], $12::bigint[], $13::bigint[], $14::bigint[], $15::bytea[], $16::smallint[], $17::smallint[], $18::text[],"
          " $19::text[], $20::text[], $21::text[])",
          b.arrays());
}

void insert_request(connection& c, std::int64_t run, request const& what, request_fate fate, seq_no entry)
{
    c.run("insert into requests(id, run, kind, payload, by, why, at, fate, entry) values ($1,$2,$3,$4,$5,$6,$7,$8,$9)",
          params{} << what.id.value << run << number(what.kind) << bytes{what.payload} << std::string_view(what.by)
                   << std::string_view(what.why) << what.at << number(fate) << number(entry));
}

std::optional<found_waitpoint> find_waitpoint(connection& c, waitpoint_id id)
{
    static auto const sql = select_waitpoints("waitpoints w join runs o on o.num = w.run where w.id = $1");
    auto r = c.run(sql, params{} << id.value);
    if (!r.step()) return std::nullopt;
    return found_waitpoint{waitpoint_num(r), read_waitpoint(r)};
}

}  // namespace flow::postgres_detail
