#include "runtime/store/sqlite/rows.hpp"

namespace flow::sqlite_detail {

std::string select_runs(std::string_view from)
{
    return "select r.num, r.id, r.tenant, r.key, r.workflow, r.version, r.queue, r.tags, r.priority, r.parent, r.created_at,"
           " r.due_at, r.deadline_at, r.changed_at, r.execution, r.status, r.terminal_reason, r.reason, r.snapshot, r.epoch,"
           " r.owner, r.args_hash from " +
           std::string(from);
}

run_row read_run(rows& r)
{
    run_row row;
    row.num = r.number(0);
    row.id = {r.id(1)};
    row.tenant = r.text(2);
    row.key = r.text(3);
    row.workflow = r.text(4);
    row.version = static_cast<std::uint32_t>(r.number(5));
    row.queue = r.text(6);
    row.tags = r.text(7);
    row.priority = static_cast<std::int32_t>(r.number(8));
    if (!r.is_null(9)) row.parent = run_id{r.id(9)};
    row.created_at = r.time(10);
    row.due_at = r.time(11);
    row.deadline_at = r.time(12);
    row.changed_at = r.time(13);
    row.status = {as<execution_status>(r.number(14)), as<run_status>(r.number(15))};
    row.terminal_reason = r.text(16);
    row.reason = r.text(17);
    row.snapshot = as<seq_no>(r.number(18));
    row.epoch = as<epoch_no>(r.number(19));
    row.owner = as<owner_id>(r.number(20));
    row.args_hash = r.hash(21);
    return row;
}

std::string select_journal(std::string_view from)
{
    return "select seq, epoch, segment, kind, path, place, name, class, attempt, shape_in, shape_out, encoding, payload, blob,"
           " hash, input_hash, commit_ref, by, why, at, checksum from " +
           std::string(from);
}

journal_entry read_entry(rows& r)
{
    journal_entry e;
    e.seq = as<seq_no>(r.number(0));
    e.epoch = as<epoch_no>(r.number(1));
    e.segment = static_cast<std::uint32_t>(r.number(2));
    e.kind = as<entry_kind>(r.number(3));
    e.path = r.text(4);
    e.place = r.text(5);
    e.name = r.text(6);
    e.cls = as<effect>(r.number(7));
    e.attempt = static_cast<std::uint16_t>(r.number(8));
    e.shape_in = r.text(9);
    e.shape_out = r.text(10);
    e.encoding = as<encoding>(r.number(11));
    e.payload = r.text(12);
    e.in_blob = r.number(13) != 0;
    e.hash = r.hash(14);
    e.input_hash = r.hash(15);
    e.commit_ref = r.text(16);
    e.by = r.text(17);
    e.why = r.text(18);
    e.at = r.time(19);
    e.checksum = static_cast<std::uint64_t>(r.number(20));
    return e;
}

std::string select_waitpoints(std::string_view from) { return select_waitpoints("null", from); }

std::string select_waitpoints(std::string_view woken_run, std::string_view from)
{
    return "select w.num, w.id, o.id, w.type, w.purpose, w.status, w.name, w.place, w.key, w.shape, w.secret_hash, w.due_at,"
           " w.created_at, w.completed_at, w.output, w.output_encoding, w.output_is_error, w.by, w.why, w.options, " +
           std::string(woken_run) + " from " + std::string(from);
}

run_id read_woken_run(rows& r) { return {r.id(20)}; }

std::int64_t waitpoint_num(rows& r) { return r.number(0); }

waitpoint_row read_waitpoint(rows& r)
{
    waitpoint_row row;
    row.id = {r.id(1)};
    row.run = {r.id(2)};
    row.type = as<waitpoint_type>(r.number(3));
    row.purpose = as<waitpoint_purpose>(r.number(4));
    row.status = as<waitpoint_status>(r.number(5));
    row.name = r.text(6);
    row.place = r.text(7);
    row.idempotency_key = r.text(8);
    row.shape = r.text(9);
    row.secret_hash = r.hash(10);
    row.due_at = r.time(11);
    row.created_at = r.time(12);
    row.completed_at = r.time(13);
    row.output = r.text(14);
    row.output_encoding = as<encoding>(r.number(15));
    row.output_is_error = r.number(16) != 0;
    row.by = r.text(17);
    row.why = r.text(18);
    row.options = r.text(19);
    return row;
}

std::string select_requests(std::string_view from)
{
    return "select q.id, r.id, q.kind, q.payload, q.by, q.why, q.at, q.fate, q.entry from " + std::string(from);
}

request read_request(rows& r)
{
    request q;
    q.id = {r.id(0)};
    q.run = {r.id(1)};
    q.kind = as<request_kind>(r.number(2));
    q.payload = r.text(3);
    q.by = r.text(4);
    q.why = r.text(5);
    q.at = r.time(6);
    return q;
}
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
    auto r = c.prepare("update runs set execution = ?, status = ?, terminal_reason = ?, reason = ?, changed_at = ?,"
                       " snapshot = ?, epoch = ?, owner = ? where num = ?");
    r << number(row.status.execution) << number(row.status.run) << std::string_view(row.terminal_reason)
      << std::string_view(row.reason) << row.changed_at << number(row.snapshot) << number(row.epoch) << number(row.owner)
      << row.num;
    r.run();
}

std::int64_t insert_waitpoint_row(connection& c, std::int64_t run, waitpoint_row const& row)
{
    auto r = c.prepare("insert into waitpoints(id, run, type, purpose, status, name, place, key, shape, secret_hash, due_at,"
                       " created_at, completed_at, output, output_encoding, output_is_error, by, why, options)"
                       " values (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    r << row.id.value << run << number(row.type) << number(row.purpose) << number(row.status) << std::string_view(row.name)
      << std::string_view(row.place) << std::string_view(row.idempotency_key) << std::string_view(row.shape)
      << row.secret_hash << row.due_at << row.created_at << row.completed_at << std::string_view(row.output)
      << number(row.output_encoding) << std::int64_t{row.output_is_error} << std::string_view(row.by)
      << std::string_view(row.why) << std::string_view(row.options);
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
