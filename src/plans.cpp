#include "src/plans.hpp"

#include <algorithm>
#include <cassert>
#include <charconv>

#include "src/flat_object.hpp"

namespace flow::detail {

namespace {

std::string owner_name(owner_id owner) { return "owner " + std::to_string(static_cast<std::int64_t>(owner)); }

std::string queue_reason(std::string_view queue, time_point since)
{
    return to_json({.type = wait_reason::kind::queue, .id = {}, .name = std::string(queue), .detail = {}, .since = since});
}

/// One status change with its entry. The caller has asked the tables: `to` is what they answered.
void add_change(plan& p, status_pair to, status_event on, seq_no previous, std::string reason, std::string why, std::string by,
                time_point at)
{
    p.change.status = to;
    p.change.reason = reason;
    p.due_at = at;
    p.entries.push_back(snapshot_entry(to, on, previous, std::move(reason), std::move(why), std::move(by), at));
}

plan one_change(run_row const& row, status_event on, std::string reason, std::string why, std::string by, time_point at)
{
    auto const to = next(row.status, on, status_actor::system);
    assert(to && "the store asked for a change that the status tables do not have");
    plan p;
    add_change(p, to.value_or(row.status), on, row.snapshot, std::move(reason), std::move(why), std::move(by), at);
    return p;
}

journal_entry request_entry(request const& what)
{
    journal_entry e;
    e.kind = entry_kind::request;
    e.name = to_string(what.kind);
    e.payload = request_payload(what);
    e.encoding = e.payload.empty() ? encoding::none : encoding::json;
    e.by = what.by;
    e.why = what.why;
    e.at = what.at;
    return e;
}

request_plan taken(run_row const& row, request const& what, status_event on, std::string why)
{
    auto const to = next(row.status, on, status_actor::outside);
    if (!to) return {request_fate::refused, std::nullopt};
    plan p;
    p.entries.push_back(request_entry(what));
    // A pause leaves the wait as it is.
    auto reason = to->execution == execution_status::queued ? queue_reason(row.queue, what.at) : on == status_event::pause ? row.reason : std::string{};
    add_change(p, *to, on, row.snapshot, std::move(reason), std::move(why), what.by, what.at);
    return {request_fate::taken, std::move(p)};
}

}  // namespace

journal_entry snapshot_entry(status_pair to, status_event on, seq_no previous, std::string reason, std::string why,
                             std::string by, time_point at)
{
    flat_object payload;
    payload.text("execution", to_string(to.execution)).text("run", to_string(to.run));
    if (previous != seq_no::none) payload.number("previous", static_cast<std::int64_t>(previous));
    if (!reason.empty()) payload.raw("reason", reason);
    journal_entry e;
    e.kind = entry_kind::snapshot;
    e.name = to_string(on);
    e.encoding = encoding::json;
    e.payload = payload.str();
    e.by = std::move(by);
    e.why = std::move(why);
    e.at = at;
    return e;
}

std::optional<snapshot_payload> read_snapshot(journal_entry const& e)
{
    auto const members = read_flat_object(e.payload);
    if (e.kind != entry_kind::snapshot || !members) return std::nullopt;
    auto const text = [&](std::string_view name) {
        auto const it = members->find(name);
        return it == members->end() ? std::string{} : it->second;
    };
    auto const execution = parse_execution_status(text("execution"));
    auto const run = parse_run_status(text("run"));
    if (!execution || !run) return std::nullopt;
    snapshot_payload out{.status = {*execution, *run}, .previous = seq_no::none, .reason = text("reason")};
    auto const digits = text("previous");
    std::int64_t previous = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), previous);
    out.previous = seq_no{previous};
    return out;
}

seq_no number(plan& p, run_id run, seq_no last, epoch_no epoch)
{
    for (auto& e : p.entries) {
        last = next(last);
        e.seq = last;
        e.epoch = epoch;
        seal(e, run);
        if (e.kind == entry_kind::snapshot) p.snapshot = last;
    }
    return last;
}

void change_row(run_row& row, plan const& p, epoch_no epoch, owner_id owner, time_point at)
{
    // Who stands in the queue keeps its place, whatever else comes for it.
    bool const joins = p.change.status.execution == execution_status::queued && row.status.execution != execution_status::queued;
    if (joins) row.due_at = p.due_at;
    row.status = p.change.status;
    row.terminal_reason = p.change.terminal_reason;
    row.reason = p.change.reason;
    row.snapshot = p.snapshot;
    row.changed_at = at;
    row.epoch = epoch;
    row.owner = owner;
}

std::optional<status_pair> follow(status_pair from, std::span<journal_entry const> entries)
{
    for (auto const& e : entries) {
        if (e.kind != entry_kind::snapshot) continue;
        auto const on = parse_status_event(e.name);
        auto const to = on ? next(from, *on, status_actor::holder) : std::nullopt;
        if (!to) return std::nullopt;
        from = *to;
    }
    return from;
}

plan plan_start(new_run const& what)
{
    plan p;
    journal_entry e;
    e.kind = entry_kind::start;
    e.name = what.workflow;
    e.encoding = what.encoding;
    e.payload = what.arguments;
    e.in_blob = what.arguments.size() > blob_threshold;
    e.shape_in = what.arguments_shape;
    e.by = what.by;
    e.why = what.why;
    e.at = what.at;
    p.entries.push_back(std::move(e));

    bool const delayed = what.due_at > what.at;
    auto const on = delayed ? status_event::delay : status_event::enqueue;
    auto reason = delayed ? to_json({.type = wait_reason::kind::timer, .id = {}, .name = {}, .detail = {}, .since = what.at,
                                     .until = what.due_at})
                          : queue_reason(what.queue, what.at);
    add_change(p, next({}, on, status_actor::system).value(), on, seq_no::none, std::move(reason),
               delayed ? "Run was created and is DELAYED until it falls due." : "Run was created and QUEUED.", what.by, what.at);
    return p;
}

new_run_row new_row(new_run const& what)
{
    new_run_row out;
    out.plan = plan_start(what);
    auto& row = out.row;
    row.id = what.id;
    row.tenant = what.tenant;
    row.key = what.key;
    row.workflow = what.workflow;
    row.version = what.version;
    row.queue = what.queue;
    row.tags = what.tags;
    row.priority = what.priority;
    row.created_at = row.changed_at = what.at;
    row.due_at = std::max(what.due_at, what.at);
    row.deadline_at = what.deadline_at;
    row.args_hash = sha256(what.arguments);
    row.parent = what.parent;
    return out;
}

bool is_same_start(run_row const& there, new_run const& what)
{
    return there.workflow == what.workflow && there.args_hash == sha256(what.arguments) &&
           (!what.version_given || there.version == what.version);
}

plan plan_claim(run_row const& row, owner_id owner, time_point now)
{
    return one_change(row, status_event::claim, {}, "Run was claimed by " + owner_name(owner) + ".", owner_name(owner), now);
}

plan plan_take_over(run_row const& row, owner_id dead, owner_id owner, time_point now)
{
    // Its wait reason stays: who takes a waiting run over still finds it waiting.
    auto p = one_change(row, status_event::take_over, row.reason,
                        "Run was taken over by " + owner_name(owner) + " after " + owner_name(dead) + " had ended.",
                        owner_name(owner), now);
    // A run that only stood at a wait was not executing: its owner's death says nothing against it (P31).
    if (row.status.execution == execution_status::executing) {
        journal_entry e;
        e.kind = entry_kind::recovered;
        e.name = owner_name(dead);
        e.encoding = encoding::json;
        e.payload = flat_object{}
                        .number("dead", static_cast<std::int64_t>(dead))
                        .number("owner", static_cast<std::int64_t>(owner))
                        .number("epoch", static_cast<std::int64_t>(row.epoch))
                        .str();
        e.by = owner_name(owner);
        e.why = "Its owner ended while the run was executing.";
        e.at = now;
        p.entries.insert(p.entries.begin(), std::move(e));
    }
    return p;
}

std::optional<plan> plan_quarantine(run_row const& row, std::string why, time_point now)
{
    auto const to = next(row.status, status_event::hold, status_actor::holder);
    if (!to) return std::nullopt;
    wait_reason reason;
    reason.type = wait_reason::kind::code;
    reason.id = "corrupt";  // not tried again by itself (P41)
    reason.detail = why;
    reason.since = now;
    plan p;
    p.change = {*to, {}, to_json(reason), true};
    p.entries.push_back(snapshot_entry(*to, status_event::hold, row.snapshot, p.change.reason, std::move(why), {}, now));
    return p;
}

plan plan_unblock(run_row const& row, time_point due, time_point now)
{
    // `unblock` lets a waiting body go on at once, which takes its holder. Nobody holds this run: it is resumed through the
    // queue. A cancelling run stays what it is either way.
    auto const on = row.status.run == run_status::waiting || is_held_by_question(row) ? status_event::resume : status_event::unblock;
    auto p = one_change(row, on, queue_reason(row.queue, now), "Run was QUEUED after waitpoints completed.", "system", now);
    p.due_at = due;
    return p;
}

plan plan_fall_due(run_row const& row, time_point now)
{
    auto p = one_change(row, status_event::fall_due, queue_reason(row.queue, now), "Run was QUEUED when it fell due.", "system", now);
    p.due_at = row.due_at;
    return p;
}

plan plan_deadline(run_row const& row, time_point now)
{
    if (row.epoch == epoch_no{}) {
        auto p = one_change(row, status_event::expire, {}, "Run expired: its deadline passed before it began.", "system", now);
        p.change.terminal_reason = "deadline";
        return p;
    }
    request r;
    r.kind = request_kind::cancel;
    r.payload = by_deadline;
    r.by = "system";
    r.why = "its deadline passed";
    r.at = now;
    auto p = one_change(row, status_event::cancel, queue_reason(row.queue, now), "Run's deadline passed: it was QUEUED to clean up.", "system", now);
    p.entries.insert(p.entries.begin(), request_entry(r));
    p.due_at = row.deadline_at;
    p.withdraw_waits = true;
    return p;
}

std::string request_payload(request const& what)
{
    if (!what.payload.empty()) return what.payload;
    return what.id.value.is_nil() ? std::string() : quoted(to_string(what.id));
}

request_plan plan_request(run_row const& row, request const& what)
{
    if (is_terminal(row.status.run)) return {request_fate::ended_before, std::nullopt};
    if (row.owner != owner_id::nobody) return {request_fate::left_to_holder, std::nullopt};
    switch (what.kind) {
    case request_kind::cancel:
        if (row.epoch == epoch_no{}) {  // never claimed, so its body has not begun: there is nothing to clean up
            auto out = taken(row, what, status_event::end_cancelled, "Run was cancelled before it began.");
            if (out.plan) out.plan->change.terminal_reason = "cancelled";
            return out;
        } else {
            auto out = taken(row, what, status_event::cancel, "Run was asked to cancel and QUEUED to clean up.");
            // What is cancelled already stands in its clean-up: that waits on.
            if (out.plan) out.plan->withdraw_waits = row.status.run != run_status::cancelling;
            return out;
        }
    case request_kind::pause: return taken(row, what, status_event::pause, "Run was paused.");
    case request_kind::resume:
        if (row.status.run != run_status::paused && row.status.run != run_status::held) break;
        return taken(row, what, status_event::resume, "Run was QUEUED after it was resumed.");
    case request_kind::raise:
    case request_kind::accept: break;  // only a holder can act on these
    }
    return {request_fate::refused, std::nullopt};
}

bool is_held_by_question(run_row const& row) noexcept
{
    return row.status == status_pair{execution_status::suspended, run_status::held} && row.reason.starts_with(question_reason);
}

epoch_no epoch_for_request(run_row const& row) noexcept
{
    return row.epoch == epoch_no{} ? row.epoch : next(row.epoch);
}

}  // namespace flow::detail
