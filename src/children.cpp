#include "src/children.hpp"

#include <algorithm>

#include "src/payloads.hpp"

namespace flow {

namespace {

/// Sixteen bytes of a hash, as RFC 9562 has them in version 8.
uuid derived(std::string_view text)
{
    uuid id;
    auto const hash = sha256(text);
    std::copy_n(hash.bytes.begin(), id.bytes.size(), id.bytes.begin());
    id = as_uuid4(id);
    id.bytes[6] = static_cast<std::uint8_t>((id.bytes[6] & 0x0F) | 0x80);
    return id;
}

std::string bytes_of(run_id id) { return {reinterpret_cast<char const*>(id.value.bytes.data()), id.value.bytes.size()}; }

}  // namespace

waitpoint_id end_of(run_id child) noexcept { return {derived("end of run " + bytes_of(child))}; }

namespace detail {

run_id child_id(run_id parent, std::uint32_t segment, std::string_view place)
{
    return {derived("child of run " + bytes_of(parent) + '/' + std::to_string(segment) + '/' + std::string(place))};
}

waitpoint_row end_waitpoint(start_child const& what)
{
    waitpoint_row w;
    w.id = end_of(what.run.id);
    w.run = what.run.parent.value_or(run_id{});
    w.type = waitpoint_type::run;
    w.purpose = waitpoint_purpose::child;
    w.name = what.run.workflow;
    w.place = what.place;
    w.created_at = what.run.at;
    return w;
}

bool is_that_child(run_row const& there, start_child const& what) noexcept
{
    return there.id == what.run.id && there.parent == what.run.parent && there.workflow == what.run.workflow;
}

run_result result_of_run(std::span<journal_entry const> last, run_row const& row)
{
    for (auto e = last.rbegin(); e != last.rend(); ++e)
        if (e->kind == entry_kind::result || e->kind == entry_kind::failure) return {e->payload, e->encoding, e->kind == entry_kind::failure};
    // Ended by the store, before its body had begun.
    bool const expired = row.status.run == run_status::expired;
    error_detail const d{expired ? errc::run_expired : errc::cancelled, "",
                         expired ? "the run's deadline passed before it began" : "the run was cancelled before it began", "", 0};
    return {write_payload(to_payload(d)), encoding::json, true};
}

request close_request(run_id child, run_id parent, bool ended, time_point now)
{
    request r;
    r.id = {derived("close run " + bytes_of(child))};
    r.run = child;
    r.kind = request_kind::cancel;
    r.by = "run " + to_string(parent);
    r.why = ended ? "its parent ended" : "what started it was cancelled";
    r.at = now;
    return r;
}

bool is_cancelled_child(waitpoint_row const& w)
{
    if (w.type != waitpoint_type::run || !w.output_is_error) return false;
    auto const p = read_payload<failure_payload>(w.output);
    return p && from_payload(*p).code == errc::cancelled;
}

error_detail failure_of_child(run_id child, waitpoint_row const& w, std::string_view place)
{
    error_detail d{errc::child_failed, "", "run " + to_string(child), std::string(place), 0};
    auto const p = read_payload<failure_payload>(w.output);
    if (!p) {
        d.message += " ended without a result";
        return d;
    }
    auto const inner = from_payload(*p);
    d.tag = inner.tag;
    d.message += ": " + std::string(row_of(inner.code).name);
    if (!inner.place.empty()) d.message += " at " + inner.place;
    d.message += ": " + (inner.message.empty() ? std::string(row_of(inner.code).meaning) : inner.message);
    return d;
}

}  // namespace detail
}  // namespace flow
