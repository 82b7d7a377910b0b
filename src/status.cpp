#include "flow/status.hpp"

#include <charconv>

#include "flow/codec.hpp"
#include "src/flat_object.hpp"

namespace flow {

namespace {

// Names by number: the order is that of the enums.
constexpr std::array<std::string_view, 8> execution_names{
    "created", "delayed", "queued", "executing", "executing_with_waitpoints", "suspended", "queued_executing", "finished"};
constexpr std::array<std::string_view, 12> run_names{"created",    "queued",    "running", "waiting",   "paused",    "held",
                                                     "cancelling", "succeeded", "failed",  "cancelled", "timed_out", "expired"};
constexpr std::array<std::string_view, 19> event_names{
    "enqueue", "delay", "fall_due", "claim",  "take_over", "block", "unblock",       "suspend",  "requeue", "hold",
    "pause",   "resume", "cancel",  "succeed", "fail",     "end_cancelled", "time_out", "expire", "reopen"};
constexpr std::array<std::string_view, 5> step_names{"pending", "running", "completed", "failed", "skipped"};
constexpr std::array<std::string_view, 12> kind_names{"none",  "queue", "approval",   "input",      "tool",         "external",
                                                      "timer", "child", "acceptance", "rate_limit", "intervention", "code"};

static_assert(event_names.size() == static_cast<std::size_t>(status_event::reopen) + 1);
static_assert(execution_names.size() == static_cast<std::size_t>(execution_status::finished) + 1);
static_assert(run_names.size() == static_cast<std::size_t>(run_status::expired) + 1);
static_assert(kind_names.size() == static_cast<std::size_t>(wait_reason::kind::code) + 1);

template <class Enum, std::size_t N>
constexpr std::string_view name_of(std::array<std::string_view, N> const& names, Enum value) noexcept
{
    auto const i = static_cast<std::size_t>(value);
    return i < N ? names[i] : "?";
}

template <class Enum, std::size_t N>
constexpr std::optional<Enum> value_of(std::array<std::string_view, N> const& names, std::string_view name) noexcept
{
    for (std::size_t i = 0; i < N; ++i)
        if (names[i] == name) return static_cast<Enum>(i);
    return std::nullopt;
}

}  // namespace

std::string_view to_string(execution_status s) noexcept { return name_of(execution_names, s); }
std::string_view to_string(run_status s) noexcept { return name_of(run_names, s); }
std::string_view to_string(status_event e) noexcept { return name_of(event_names, e); }
std::string_view to_string(step_status s) noexcept { return name_of(step_names, s); }
std::string_view to_string(wait_reason::kind k) noexcept { return name_of(kind_names, k); }

std::optional<execution_status> parse_execution_status(std::string_view name) noexcept
{
    return value_of<execution_status>(execution_names, name);
}
std::optional<run_status> parse_run_status(std::string_view name) noexcept { return value_of<run_status>(run_names, name); }
std::optional<status_event> parse_status_event(std::string_view name) noexcept
{
    return value_of<status_event>(event_names, name);
}

std::string to_json(wait_reason const& w)
{
    if (w == wait_reason{}) return {};
    detail::flat_object out;
    out.text("type", to_string(w.type));
    if (!w.id.empty()) out.text("id", w.id);
    if (!w.name.empty()) out.text("name", w.name);
    if (!w.detail.empty()) out.text("detail", w.detail);
    out.number("since", w.since.time_since_epoch().count());
    if (w.until != never) out.number("until", w.until.time_since_epoch().count());
    if (w.sla_at != never) out.number("sla_at", w.sla_at.time_since_epoch().count());
    if (w.policy != 0) out.number("policy", w.policy);
    if (!w.resumable) out.raw("resumable", "false");
    if (!w.escalations.empty()) {
        std::string list;
        detail::encode(encoding::json, w.escalations, list);
        out.raw("escalations", list);
    }
    return out.str();
}

wait_reason parse_wait_reason(std::string_view json)
{
    wait_reason out;
    auto const members = detail::read_flat_object(json);
    if (!members) return out;
    auto const text = [&](std::string_view name) {
        auto const it = members->find(name);
        return it == members->end() ? std::string{} : it->second;
    };
    auto const number = [&](std::string_view name) -> std::optional<std::int64_t> {
        auto const digits = text(name);
        std::int64_t count = 0;
        auto const end = digits.data() + digits.size();
        auto const read = std::from_chars(digits.data(), end, count);
        return digits.empty() || read.ec != std::errc{} || read.ptr != end ? std::nullopt : std::optional(count);
    };
    auto const instant = [&](std::string_view name, time_point otherwise) {
        auto const count = number(name);
        return count ? time_point{duration{*count}} : otherwise;
    };
    out.type = value_of<wait_reason::kind>(kind_names, text("type")).value_or(wait_reason::kind::none);
    out.id = text("id");
    out.name = text("name");
    out.detail = text("detail");
    out.since = instant("since", {});
    out.until = instant("until", never);
    out.sla_at = instant("sla_at", never);
    out.policy = static_cast<std::uint32_t>(number("policy").value_or(0));
    out.resumable = text("resumable") != "false";
    if (auto const list = text("escalations"); !list.empty() && !detail::decode(encoding::json, list, out.escalations)) out.escalations.clear();
    return out;
}

}  // namespace flow
