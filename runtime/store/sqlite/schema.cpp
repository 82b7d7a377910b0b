#include "runtime/store/sqlite/schema.hpp"

#include <array>
#include <thread>

#include <sqlite3.h>

#include "flow/rows.hpp"
#include "runtime/store/sqlite/errors.hpp"
#include "runtime/store/status_check.hpp"

namespace flow::sqlite_detail {

namespace {

/// Version 1: fixed. What came later is added by upgrades, in a new file too.
constexpr auto tables = R"sql(
create table meta(name text primary key, value) without rowid;

create table runs(
    num integer primary key, id blob not null unique, tenant text not null, key text not null, workflow text not null,
    version integer not null, queue text not null, tags text not null, priority integer not null, parent blob,
    created_at integer not null, due_at integer not null, deadline_at integer not null, changed_at integer not null,
    execution integer not null, status integer not null, terminal_reason text not null, reason text not null,
    snapshot integer not null, epoch integer not null, owner integer not null, args_hash blob,
    @STATUS_CHECK@);
create unique index runs_key on runs(tenant, key) where key <> '';
create index runs_queued on runs(workflow, version, priority desc, num) where execution = 2;
create index runs_delayed on runs(due_at) where execution = 1;
create index runs_owner on runs(owner) where owner <> 0;
create index runs_status on runs(status, num);
create index runs_deadline on runs(deadline_at) where deadline_at < 9223372036854775807 and execution <> 7;

create table journal(
    id integer primary key, run integer not null, seq integer not null, epoch integer not null, segment integer not null,
    kind integer not null, path text not null, place text not null, name text not null, class integer not null,
    attempt integer not null, shape_in text not null, shape_out text not null, encoding integer not null, payload,
    blob integer not null, hash blob, input_hash blob, commit_ref text not null, by text not null, why text not null,
    at integer not null, checksum integer not null);
create unique index journal_run on journal(run, seq);
-- Where a run's newest segment begins: only what closes one has an entry here.
create index journal_checkpoint on journal(run, seq) where kind = 30;
create index journal_continued on journal(run, seq) where kind = 31;
create index journal_published on journal(run, seq) where kind = 34;

create table blobs(id integer primary key, hash blob not null unique, payload blob not null);

create table waitpoints(
    num integer primary key, id blob not null unique, run integer not null, type integer not null, purpose integer not null,
    status integer not null, name text not null, place text not null, key text not null, shape text not null,
    secret_hash blob, due_at integer not null, created_at integer not null, completed_at integer not null,
    output text, output_encoding integer not null, output_is_error integer not null, by text not null, why text not null,
    options text not null);
create index waitpoints_run on waitpoints(run, status);
create index waitpoints_due on waitpoints(due_at) where status = 0 and due_at < 9223372036854775807;
create unique index waitpoints_key on waitpoints(run, key) where key <> '';

create table edges(
    run integer not null, waitpoint integer not null, path text not null, place text not null,
    primary key(run, waitpoint)) without rowid;
create index edges_waitpoint on edges(waitpoint);

create table wakes(run integer not null, waitpoint integer not null, primary key(run, waitpoint)) without rowid;

create table requests(
    num integer primary key, id blob not null unique, run integer not null, kind integer not null, payload text not null,
    by text not null, why text not null, at integer not null, fate integer not null, entry integer not null);
create index requests_run on requests(run);
create index requests_mail on requests(run, num) where fate = 0;

create table owners(
    id integer primary key autoincrement, name text not null, pid integer not null, started_at integer not null,
    pings integer not null, workflows text not null default '');

create table inbox(
    num integer primary key, id blob not null unique, topic text not null, key text not null, run integer,
    payload text, encoding integer not null, hash blob, by text not null, at integer not null, expires_at integer not null,
    consumed_by integer, consumed_seq integer);
create index inbox_topic on inbox(topic, key, num) where consumed_by is null;

create table outbox(
    num integer primary key, run integer not null, seq integer not null, key text not null unique, channel text not null,
    recipient text not null, payload text, attempts integer not null, next_at integer not null, sent_at integer,
    receipt text);
create index outbox_next on outbox(next_at) where sent_at is null;

create table budgets(
    run integer not null, dimension text not null, granted integer not null, used integer not null, reserved integer not null,
    primary key(run, dimension)) without rowid;
create table ledger(
    num integer primary key, run integer not null, seq integer not null, place text not null, attempt integer not null,
    dimension text not null, movement integer not null, amount integer not null, at integer not null);
create unique index ledger_reservation on ledger(run, place, attempt, dimension) where movement = 1;

create table published(run integer not null, key text not null, seq integer not null, primary key(run, key)) without rowid;

create table limits(
    scope text not null, name text not null, used integer not null, allowed integer not null, refilled_at integer not null,
    primary key(scope, name)) without rowid;

create table children(
    parent integer not null, child integer not null, waitpoint integer not null, on_close integer not null,
    primary key(parent, child)) without rowid;
create unique index children_child on children(child);
)sql";

/// What version 2 adds: waits for events, questions to people.
constexpr auto second = R"sql(
alter table waitpoints add column correlation text not null default '';
create index waitpoints_event on waitpoints(name, correlation, num) where type = 3 and status = 0;
create index inbox_taker on inbox(consumed_by) where consumed_by is not null;
create index inbox_expires on inbox(expires_at) where expires_at < 9223372036854775807;
create index inbox_run on inbox(run) where run is not null;
create table responses(
    num integer primary key, waitpoint integer not null, by text not null, approves integer not null, value text not null,
    why text not null, at integer not null);
create unique index responses_by on responses(waitpoint, by);
)sql";
static_assert(static_cast<int>(waitpoint_type::event) == 3);

/// Version 3: queued runs stand in line by when they became due (P62). Those that an older version queued keep the due instant of their start.
constexpr auto third = R"sql(
drop index runs_queued;
create index runs_queued on runs(workflow, version, priority desc, due_at, num) where execution = 2;
)sql";
static_assert(static_cast<int>(execution_status::queued) == 2);

std::int64_t big_endian(unsigned char const* p)
{
    return (std::int64_t{p[0]} << 24) | (std::int64_t{p[1]} << 16) | (std::int64_t{p[2]} << 8) | std::int64_t{p[3]};
}

/// SQLite does not call its busy handler for everything that may find the file locked while it is made.
template <class F>
void insist(std::chrono::steady_clock::time_point deadline, F const& f)
{
    for (;;) {
        try {
            return f();
        } catch (failure const& e) {
            if (!is_busy(e.code) || std::chrono::steady_clock::now() >= deadline) throw;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
}

[[noreturn]] void foreign(std::string const& file)
{
    throw refusal(errc::store_foreign, file + " holds something else than a flow database");
}

/// Adds what came after `version`.
void upgrade(connection& c, std::int64_t version)
{
    if (version < 2) c.run(second);
    if (version < 3) c.run(third);
    c.run("pragma user_version = " + std::to_string(schema_version));
}

/// The version of the tables that are there; 0: the file is empty. In a transaction: another process may be making them.
std::int64_t version_of(connection& c, std::string const& file)
{
    auto const id = c.number("pragma application_id");
    auto const version = c.number("pragma user_version");
    if (id == application_id) {
        if (version > schema_version)
            throw refusal(errc::store_newer, file + " has schema version " + std::to_string(version) +
                                                 ", this program knows up to " + std::to_string(schema_version));
        return version;
    }
    if (id != 0 || version != 0 || c.number("select count(*) from sqlite_schema") != 0) foreign(file);
    return 0;
}

template <class F>
void in_transaction(connection& c, char const* begin, F const& f)
{
    c.run(begin);
    try {
        f();
        c.run("commit");
    } catch (...) {
        if (c.in_transaction()) c.run("rollback");
        throw;
    }
}

void make(connection& c, digest const& key_fingerprint)
{
    std::string sql = tables;
    constexpr std::string_view mark = "@STATUS_CHECK@";
    sql.replace(sql.find(mark), mark.size(), store_detail::status_check());
    c.run(sql);
    c.run("pragma application_id = " + std::to_string(application_id));
    upgrade(c, 1);
    auto insert = c.prepare("insert into meta(name, value) values ('key_fingerprint', ?)");
    (insert << key_fingerprint).run();
}

}  // namespace

void check_header(connection& c, std::string const& file)
{
    std::array<unsigned char, 100> head{};
    auto const size = c.raw_bytes(head.data(), head.size());
    if (size == 0) return;
    static constexpr std::string_view magic("SQLite format 3\0", 16);
    if (size < 100 || std::string_view(reinterpret_cast<char*>(head.data()), magic.size()) != magic) foreign(file);
    auto const id = big_endian(&head[68]);
    // 0: perhaps nothing is in it yet. The tables and the number come with the same commit, which the log does not hold
    // (see prepare_schema), so any other number is somebody else's.
    if (id != 0 && id != application_id) foreign(file);
}

void check_schema(connection& c, std::string const& file)
{
    in_transaction(c, "begin", [&] {
        if (version_of(c, file) == 0) throw refusal(errc::store_foreign, file + " is empty");
    });
}

void prepare_schema(connection& c, std::string const& file, digest (*make_key)(std::string const&), std::string const& key_file,
                    std::chrono::steady_clock::time_point deadline)
{
    std::int64_t there = 0;
    insist(deadline, [&] {
        in_transaction(c, "begin", [&] { there = version_of(c, file); });
    });
    if (there != schema_version) {
        // Before the file is put into WAL mode: so its first page has our number from the first commit on.
        insist(deadline, [&] {
            in_transaction(c, "begin immediate", [&] {
                there = version_of(c, file);
                if (there == 0) make(c, make_key(key_file));
                else if (there < schema_version) upgrade(c, there);
            });
        });
    }
    insist(deadline, [&] {
        auto r = c.prepare("pragma journal_mode = wal");
        if (!r.step() || r.view(0) != "wal") throw failure(SQLITE_BUSY, "the file could not be put into WAL mode");
    });
}

}  // namespace flow::sqlite_detail
