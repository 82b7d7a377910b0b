// Between rows and values, once for every SQL store: the columns and what is read of them, in the same order. `Rows` is a store's own: `number`,
// `text`, `bytes`, `is_null`, `id`, `hash` and `time` of a column of the row it stands on.
#pragma once

#include <string>
#include <string_view>

#include "flow/store.hpp"

namespace flow::store_detail {

/// A value from its stored number. The schema's CHECKs and the journal's checksums stand for what is read.
template <class Enum>
Enum as(std::int64_t number) noexcept
{
    return static_cast<Enum>(number);
}

inline constexpr std::string_view run_columns =
    "r.num, r.id, r.tenant, r.key, r.workflow, r.version, r.queue, r.tags, r.priority, r.parent, r.created_at, r.due_at,"
    " r.deadline_at, r.changed_at, r.execution, r.status, r.terminal_reason, r.reason, r.snapshot, r.epoch, r.owner, r.args_hash";
inline constexpr std::string_view journal_columns =
    "seq, epoch, segment, kind, path, place, name, class, attempt, shape_in, shape_out, encoding, payload, blob,"
    " hash, input_hash, commit_ref, by, why, at, checksum";
/// Waitpoints as w, its run as o.
inline constexpr std::string_view waitpoint_columns =
    "w.num, w.id, o.id, w.type, w.purpose, w.status, w.name, w.place, w.key, w.shape, w.secret_hash, w.due_at,"
    " w.created_at, w.completed_at, w.output, w.output_encoding, w.output_is_error, w.by, w.why, w.options, w.correlation";
inline constexpr int waitpoint_column_count = 21;
/// Events as i, the run they are told to as a, the wait they have ended as w, its run as t.
inline constexpr std::string_view event_columns =
    "i.num, i.id, i.topic, i.key, a.id, i.payload, i.by, i.at, i.expires_at, t.id, i.consumed_seq";
inline constexpr std::string_view event_tables =
    "inbox i left join runs a on a.num = i.run left join waitpoints w on w.num = i.consumed_by left join runs t on t.num = w.run";
/// Responses as p, their waitpoint as w.
inline constexpr std::string_view response_columns = "w.id, p.by, p.approves, p.value, p.why, p.at";
/// Requests as q, its run as r.
inline constexpr std::string_view request_columns = "q.id, r.id, q.kind, q.payload, q.by, q.why, q.at, q.fate, q.entry";

template <class Rows>
run_row read_run(Rows& r)
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

template <class Rows>
journal_entry read_entry(Rows& r)
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
    e.payload = r.bytes(12);
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

template <class Rows>
waitpoint_row read_waitpoint(Rows& r)
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
    row.output = r.bytes(14);
    row.output_encoding = as<encoding>(r.number(15));
    row.output_is_error = r.number(16) != 0;
    row.by = r.text(17);
    row.why = r.text(18);
    row.options = r.text(19);
    row.correlation = r.text(20);
    return row;
}

template <class Rows>
event_row read_event(Rows& r)
{
    event_row row;
    row.cursor = r.number(0);
    row.what.id = {r.id(1)};
    row.what.topic = r.text(2);
    row.what.correlation = r.text(3);
    if (!r.is_null(4)) row.what.run = run_id{r.id(4)};
    row.what.payload = r.bytes(5);
    row.what.by = r.text(6);
    row.what.at = r.time(7);
    row.what.expires_at = r.time(8);
    if (!r.is_null(9)) row.taker = run_id{r.id(9)};
    if (!r.is_null(10)) row.entry = as<seq_no>(r.number(10));
    row.fate = row.entry != seq_no::none ? event_fate::taken : row.taker ? event_fate::given : event_fate::kept;
    return row;
}

template <class Rows>
response read_response(Rows& r)
{
    response out;
    out.to = {r.id(0)};
    out.by = r.text(1);
    out.approves = r.number(2) != 0;
    out.value = r.bytes(3);
    out.why = r.text(4);
    out.at = r.time(5);
    return out;
}

template <class Rows>
request read_request(Rows& r)
{
    request q;
    q.id = {r.id(0)};
    q.run = {r.id(1)};
    q.kind = as<request_kind>(r.number(2));
    q.payload = r.bytes(3);
    q.by = r.text(4);
    q.why = r.text(5);
    q.at = r.time(6);
    return q;
}

}  // namespace flow::store_detail
