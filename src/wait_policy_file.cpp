// Wait policies as JSON.
#include <chrono>
#include <cmath>
#include <cstdint>
#include <utility>

#include "flow/codec.hpp"
#include "flow/workflow.hpp"
#include "src/wait_policy.hpp"

namespace flow {

namespace detail {

namespace {

using seconds = std::chrono::duration<double>;

struct rule_file {
    timeout_action action{};
    std::optional<std::vector<std::string>> to;
    std::optional<std::string> channel;
    std::optional<double> for_s;
};
struct policy_file {
    std::optional<bool> release_compute, snapshot, resumable;
    std::optional<double> sla_s, heartbeat_s, timeout_s;
    std::optional<std::vector<rule_file>> on_timeout;
};
struct policies_file {
    std::optional<policy_file> approval, input, tool, external;
};

/// To the nearest unit in which it is kept: 1.1 s are not 1.100001 s.
template <class Length, class Unit>
Length length_of(std::string_view policy, std::string_view member, std::optional<double> s)
{
    if (!s) return {};
    try {
        auto const count = std::round(std::chrono::duration<double, typename Unit::period>(seconds{*s}).count());
        if (!(std::abs(count) < 9e18)) throw error(errc::bad_argument, "it ends within 290,000 years");
        return Length(Unit(static_cast<std::int64_t>(count)));
    } catch (error const& e) {
        throw error(errc::bad_argument, "wait policy \"" + std::string(policy) + "\": " + std::string(member) + ": " + e.message());
    }
}

std::optional<wait_policy> read(std::string_view name, std::optional<policy_file>&& f)
{
    if (!f) return std::nullopt;
    wait_policy p;
    p.release_compute = f->release_compute.value_or(true);
    p.snapshot = f->snapshot.value_or(true);
    p.resumable = f->resumable.value_or(true);
    p.sla = length_of<wait_limit, duration>(name, "sla_s", f->sla_s);
    p.timeout = length_of<wait_limit, duration>(name, "timeout_s", f->timeout_s);
    p.heartbeat = length_of<time_span, std::chrono::milliseconds>(name, "heartbeat_s", f->heartbeat_s);
    if (!f->on_timeout) return p;
    for (auto& r : *f->on_timeout)
        p.on_timeout.push_back({r.action, std::move(r.to).value_or(std::vector<std::string>{}), std::move(r.channel).value_or(std::string{}),
                                length_of<wait_limit, duration>(name, "for_s", r.for_s)});
    return p;
}

std::optional<double> seconds_of(wait_limit const& l) { return l.is_set() ? std::optional(seconds(l.get()).count()) : std::nullopt; }

std::optional<policy_file> file_of(std::optional<wait_policy> const& p)
{
    if (!p) return std::nullopt;
    policy_file f;
    f.release_compute = p->release_compute;
    f.snapshot = p->snapshot;
    f.resumable = p->resumable;
    f.sla_s = seconds_of(p->sla);
    f.timeout_s = seconds_of(p->timeout);
    if (!p->heartbeat.is_zero()) f.heartbeat_s = seconds(p->heartbeat.get()).count();
    auto& rules = f.on_timeout.emplace();
    for (auto const& r : p->on_timeout) {
        auto& to = rules.emplace_back(rule_file{r.action, {}, {}, seconds_of(r.lasts)});
        if (!r.to.empty()) to.to = r.to;
        if (!r.channel.empty()) to.channel = r.channel;
    }
    return f;
}

}  // namespace

workflow<void> wait_policies_version(std::string) { co_return; }

}  // namespace detail

wait_policies parse_wait_policies(std::string_view json)
{
    auto const text = detail::compact_json(json).value();
    detail::check_shape(text, detail::shape_of<detail::policies_file>(), true).value();
    detail::policies_file f;
    detail::decode(encoding::json, text, f).value();
    wait_policies all;
    all.approval = detail::read("approval", std::move(f.approval));
    all.input = detail::read("input", std::move(f.input));
    all.tool = detail::read("tool", std::move(f.tool));
    all.external = detail::read("external", std::move(f.external));
    detail::check_wait_policies(all);
    return all;
}

std::string to_json(wait_policies const& all)
{
    std::string text;
    detail::policies_file const f{detail::file_of(all.approval), detail::file_of(all.input), detail::file_of(all.tool), detail::file_of(all.external)};
    detail::encode(encoding::json, f, text);
    return text;
}

}  // namespace flow
