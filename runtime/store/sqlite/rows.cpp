#include "runtime/store/sqlite/rows.hpp"

namespace flow::sqlite_detail {

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

run_row read_run(rows& r) { return store_detail::read_run(r); }

std::string select_journal(std::string_view from) { return select(store_detail::journal_columns, from); }

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

std::optional<run_row> find_run(connection& c, run_id id)
{
    static auto const sql = select_runs("runs r where r.id = ?");
    auto r = c.prepare(sql.c_str());
    r << id.value;
    return r.step() ? std::optional(read_run(r)) : std::nullopt;
}

std::optional<run_row> find_run(connection& c, std::int64_t num)
{
    static auto const sql = select_runs("runs r where r.num = ?");
    auto r = c.prepare(sql.c_str());
    r << num;
    return r.step() ? std::optional(read_run(r)) : std::nullopt;
}

seq_no last_seq(connection& c, std::int64_t run)
{
    auto r = c.prepare("select max(seq) from journal where run = ?");
    r << run;
    return r.step() ? as<seq_no>(r.number(0)) : seq_no::none;
}

void insert_entry(connection& c, std::int64_t run, journal_entry const& e)
{
    {
        auto r = c.prepare("insert into journal(run, seq, epoch, segment, kind, path, place, name, class, attempt, shape_in,"
                           " shape_out, encoding, payload, blob, hash, input_hash, commit_ref, by, why, at, checksum)"
                           " values (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
        r << run << number(e.seq) << number(e.epoch) << std::int64_t{e.segment} << number(e.kind) << std::string_view(e.path)
          << std::string_view(e.place) << std::string_view(e.name) << number(e.cls) << std::int64_t{e.attempt}
          << std::string_view(e.shape_in) << std::string_view(e.shape_out) << number(e.encoding);
        // JSON as text, so that any SQL tool shows it.
        if (e.in_blob || e.encoding == encoding::none)
            r << nullptr;
        else if (e.encoding == encoding::json)
            r << std::string_view(e.payload);
        else
            r.bytes(e.payload);
        r << std::int64_t{e.in_blob} << e.hash << e.input_hash << std::string_view(e.commit_ref) << std::string_view(e.by)
          << std::string_view(e.why) << e.at << static_cast<std::int64_t>(e.checksum);
        r.run();
    }
    if (e.kind == entry_kind::published)
        (c.prepare("insert or replace into published(run, key, seq) values (?,?,?)") << run << std::string_view(e.name) << number(e.seq)).run();
    if (!e.in_blob) return;
    auto r = c.prepare("insert or ignore into blobs(hash, payload) values (?,?)");
    r << e.hash;
    r.bytes(e.payload).run();
}

void put_payload_back(connection& c, std::int64_t run, seq_no seq, std::string const& payload)
{
    auto const hash = sha256(payload);
    bool blob = false, text = false;
    {
        auto r = c.prepare("select blob, encoding from journal where run = ? and seq = ? and hash = ?");
        r << run << number(seq) << hash;
        if (!r.step()) return;
        blob = r.number(0) != 0;
        text = as<encoding>(r.number(1)) == encoding::json;
    }
    if (blob) {
        auto r = c.prepare("insert into blobs(hash, payload) values (?,?)"
                           " on conflict(hash) do update set payload = excluded.payload");
        r << hash;
        return r.bytes(payload).run();
    }
    auto r = c.prepare("update journal set payload = ? where run = ? and seq = ?");
    if (text)
        r << std::string_view(payload);
    else
        r.bytes(payload);
    (r << run << number(seq)).run();
}

std::int64_t insert_run(connection& c, run_row const& row)
{
    auto r = c.prepare("insert into runs(id, tenant, key, workflow, version, queue, tags, priority, parent, created_at, due_at,"
                       " deadline_at, changed_at, execution, status, terminal_reason, reason, snapshot, epoch, owner, args_hash)"
                       " values (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    r << row.id.value << std::string_view(row.tenant) << std::string_view(row.key) << std::string_view(row.workflow)
      << std::int64_t{row.version} << std::string_view(row.queue) << std::string_view(row.tags) << std::int64_t{row.priority};
    if (row.parent)
        r << row.parent->value;
    else
        r << nullptr;
    r << row.created_at << row.due_at << row.deadline_at << row.changed_at << number(row.status.execution)
      << number(row.status.run) << std::string_view(row.terminal_reason) << std::string_view(row.reason)
      << number(row.snapshot) << number(row.epoch) << number(row.owner) << row.args_hash;
    r.run();
    return c.last_rowid();
}

void update_run(connection& c, run_row const& row)
{
    auto r = c.prepare("update runs set execution = ?, status = ?, terminal_reason = ?, reason = ?, due_at = ?, changed_at = ?,"
                       " snapshot = ?, epoch = ?, owner = ? where num = ?");
    r << number(row.status.execution) << number(row.status.run) << std::string_view(row.terminal_reason)
      << std::string_view(row.reason) << row.due_at << row.changed_at << number(row.snapshot) << number(row.epoch) << number(row.owner)
      << row.num;
    r.run();
}

std::int64_t insert_waitpoint_row(connection& c, std::int64_t run, waitpoint_row const& row)
{
    auto r = c.prepare("insert into waitpoints(id, run, type, purpose, status, name, place, key, shape, secret_hash, due_at,"
                       " created_at, completed_at, output, output_encoding, output_is_error, by, why, options, correlation)"
                       " values (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    r << row.id.value << run << number(row.type) << number(row.purpose) << number(row.status) << std::string_view(row.name)
      << std::string_view(row.place) << std::string_view(row.idempotency_key) << std::string_view(row.shape)
      << row.secret_hash << row.due_at << row.created_at << row.completed_at << std::string_view(row.output)
      << number(row.output_encoding) << std::int64_t{row.output_is_error} << std::string_view(row.by)
      << std::string_view(row.why) << std::string_view(row.options) << std::string_view(row.correlation);
    r.run();
    return c.last_rowid();
}

void insert_request(connection& c, std::int64_t run, request const& what, request_fate fate, seq_no entry)
{
    auto r = c.prepare("insert into requests(id, run, kind, payload, by, why, at, fate, entry) values (?,?,?,?,?,?,?,?,?)");
    r << what.id.value << run << number(what.kind) << std::string_view(what.payload) << std::string_view(what.by)
      << std::string_view(what.why) << what.at << number(fate) << number(entry);
    r.run();
}

std::optional<found_waitpoint> find_waitpoint(connection& c, waitpoint_id id)
{
    static auto const sql = select_waitpoints("waitpoints w join runs o on o.num = w.run where w.id = ?");
    auto r = c.prepare(sql.c_str());
    r << id.value;
    if (!r.step()) return std::nullopt;
    return found_waitpoint{waitpoint_num(r), read_waitpoint(r)};
}

}  // namespace flow::sqlite_detail
