#include "src/version_policy.hpp"

#include <algorithm>
#include <charconv>

#include "src/history.hpp"
#include "src/payloads.hpp"

namespace flow::detail {

std::string announced_text(std::span<workflow_version const> all)
{
    std::string text;
    for (auto const& w : all) text += std::to_string(w.version) + ' ' + w.workflow + '\n';  // a name has no control characters
    return text;
}

std::vector<workflow_version> read_announced(std::string_view text)
{
    std::vector<workflow_version> all;
    while (!text.empty()) {
        auto const end = std::min(text.find('\n'), text.size());
        auto const line = text.substr(0, end);
        workflow_version w;
        auto const [after, failure] = std::from_chars(line.data(), line.data() + line.size(), w.version);
        if (failure == std::errc{} && after < line.data() + line.size()) {
            w.workflow = std::string(after + 1, line.data() + line.size());
            all.push_back(std::move(w));
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return all;
}

namespace {

/// Nothing of it needs what was done before: it can be done again by other code.
bool can_begin_anew(journal_entry const& e)
{
    using enum entry_kind;
    if (e.path.empty()) return e.kind != intervention && e.kind != decision;
    switch (e.kind) {
    case value: case woken: case healed: return true;
    case sleep: {
        auto const due = read_payload<due_payload>(e.payload);
        return due && !due->waitpoint;
    }
    case started: case attempt_failed: case step: case step_failed: return e.cls == effect::replayable;
    default: return false;
    }
}

}  // namespace

plan plan_missing_version(loaded_run const& run, std::uint32_t newest, time_point now)
{
    auto const& row = run.row;
    auto const version = std::to_string(row.version);
    auto first = seq_no::none;  // of this segment
    for (auto const& e : run.entries)
        if (e.kind == entry_kind::start || is_segment_start(e.kind)) first = e.seq;
    bool const anew = row.status.run == run_status::running &&
                      std::all_of(run.entries.begin(), run.entries.end(), [&](auto const& e) { return e.seq <= first || can_begin_anew(e); });
    auto status = row.status;
    plan p;
    auto const add = [&](status_event on, std::string reason, std::string why) {
        status = next(status, on, status_actor::holder).value_or(status);
        p.change = {status, {}, reason, true};
        p.entries.push_back(snapshot_entry(status, on, row.snapshot, std::move(reason), std::move(why), {}, now));
    };
    if (row.status.run == run_status::cancelling) {  // its clean-up cannot be reached
        journal_entry e;
        e.kind = entry_kind::failure;
        e.payload = write_payload(to_payload({errc::cancelled, "", "the run was cancelled", "", 0}));
        e.encoding = encoding::json;
        e.at = now;
        p.entries.push_back(std::move(e));
        add(status_event::end_cancelled, {}, "Run was cancelled. Its clean-up did not run: no engine has version " + version + ".");
        p.change.terminal_reason = "cancelled";
        p.change.release = false;
        return p;
    }
    if (!anew) {
        wait_reason reason;
        reason.type = wait_reason::kind::code;
        reason.id = "no_version";
        reason.detail = "no engine has registered version " + version + " of workflow " + row.workflow + ", and it has begun what must not be begun twice. "
                        "Start an engine that has that version: it goes on by itself. Or give it up: flow cancel " + to_string(row.id);
        reason.since = now;
        auto why = reason.detail;
        add(status_event::hold, to_json(reason), std::move(why));
        return p;
    }
    journal_entry e;
    e.kind = entry_kind::void_;
    e.name = by_version_policy;
    e.payload = "{\"from\":" + std::to_string(static_cast<std::int64_t>(next(first))) + ",\"places\":[]}";
    e.encoding = encoding::json;
    e.at = now;
    p.entries.push_back(std::move(e));
    add(status_event::requeue, {}, "Run begins anew with version " + std::to_string(newest) + ": no engine has version " + version +
                                       ", and nothing but replayable steps had begun.");
    p.change.version = newest;
    return p;
}

}  // namespace flow::detail
