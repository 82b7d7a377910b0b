#include "src/wait_policy.hpp"

#include <algorithm>
#include <utility>

#include "flow/detail/enum_names.hpp"
#include "flow/error.hpp"

namespace flow::detail {

namespace {

using enum timeout_action;

constexpr std::size_t most_people = 100;

std::optional<wait_policy> const* policy_of(wait_policies const& all, wait_reason::kind type)
{
    switch (type) {
    case wait_reason::kind::approval: return &all.approval;
    case wait_reason::kind::input: return &all.input;
    case wait_reason::kind::tool: return &all.tool;
    case wait_reason::kind::external: return &all.external;
    default: return nullptr;
    }
}

bool asks_people(wait_reason::kind type) { return type == wait_reason::kind::approval || type == wait_reason::kind::input; }

/// Which waits can be ended so.
bool suits(timeout_action a, wait_reason::kind type)
{
    switch (a) {
    case fail: return true;
    case escalate: return type != wait_reason::kind::tool;
    case expire:
    case default_answer: return asks_people(type);
    case cancel_tool: return type == wait_reason::kind::tool;
    }
    return false;
}

void check(wait_reason::kind type, wait_policy const& p)
{
    auto const refuse = [&](std::string const& why) { throw error(errc::bad_argument, "wait policy \"" + std::string(to_string(type)) + "\": " + why); };
    auto const is_no_time = [](wait_limit const& l) { return l.is_set() && l.get() <= duration::zero(); };
    if (is_no_time(p.sla) || is_no_time(p.timeout)) refuse("a time is more than 0; leave it out for no limit");
    if (type != wait_reason::kind::tool && !p.heartbeat.is_zero()) refuse("only a tool gives signs of life: heartbeat_s belongs to \"tool\"");
    if (type == wait_reason::kind::tool && !(p.snapshot && p.resumable))
        refuse("what happens to a step whose process ends says its side-effect class: leave out snapshot and resumable");
    std::size_t people = 0;
    for (std::size_t i = 0; i < p.on_timeout.size(); ++i) {
        auto const& rule = p.on_timeout[i];
        auto const name = names_of<timeout_action>().name(static_cast<std::int64_t>(rule.action));
        if (!suits(rule.action, type)) refuse("\"" + std::string(name) + "\" ends no wait of this type");
        bool const escalates = rule.action == escalate;
        if (escalates && rule.to.empty() && rule.channel.empty()) refuse("escalate says to whom (to), or where it is shown (channel)");
        if (escalates && std::find(rule.to.begin(), rule.to.end(), "") != rule.to.end()) refuse("escalate names somebody by an empty name");
        people += rule.to.size();
        bool const fit = std::all_of(rule.to.begin(), rule.to.end(), [](auto const& name) { return name.size() <= 256; }) && rule.channel.size() <= 256;
        if (!fit || people > most_people) refuse("escalate names at most 100 people in all, by at most 256 bytes each: all of it is stored with every wait");
        if (!escalates && !(rule.to.empty() && rule.channel.empty() && !rule.lasts.is_set())) refuse("only escalate has to, channel and for_s");
        if (is_no_time(rule.lasts)) refuse("for_s is more than 0");
        if (escalates && !p.timeout.is_set() && !p.sla.is_set()) refuse("escalate needs timeout_s or sla_s: when?");
        bool const ends = !escalates && rule.action != default_answer;
        if (ends && i + 1 < p.on_timeout.size()) refuse("after \"" + std::string(name) + "\" nothing is done any more");
    }
}

time_point later(time_point t, wait_limit const& l)
{
    return t == never || l.get() > duration::max() - t.time_since_epoch() ? never : t + l.get();
}

on_deadline meaning_of(timeout_action a)
{
    return a == expire ? on_deadline::expire : a == default_answer ? on_deadline::default_answer : on_deadline::fail;
}

/// The rules from the time-out on.
void follow(wait_policy const& p, code_terms const& code, time_point now, planned_wait& out)
{
    auto const& length = p.timeout.is_set() || p.on_timeout.empty() ? p.timeout : code.sla.is_set() ? code.sla : p.sla;
    if (!length.is_set()) return;
    auto at = later(now, length);
    bool goes_on = false;
    for (auto const& rule : p.on_timeout) {
        if (rule.action == default_answer && !code.has_default) continue;
        goes_on = rule.action == escalate;
        if (!goes_on) {
            if (!out.then) out.then = meaning_of(rule.action);
            break;
        }
        out.terms.escalations.push_back({at, rule.to, rule.channel});
        at = later(at, rule.lasts.is_set() ? rule.lasts : length);
    }
    if (!goes_on) out.due_at = at;
}

/// With a limit of the code's own only the end of the rules counts.
std::optional<on_deadline> last_of(wait_policy const& p, code_terms const& code)
{
    for (auto const& rule : p.on_timeout)
        if (rule.action != escalate && (rule.action != default_answer || code.has_default)) return meaning_of(rule.action);
    return std::nullopt;
}

}  // namespace

void check_wait_policies(wait_policies const& all)
{
    using enum wait_reason::kind;
    for (auto const type : {approval, input, tool, external})
        if (auto const& p = *policy_of(all, type)) check(type, *p);
}

time_point limit_from(time_point now, wait_limit limit) noexcept { return limit.is_set() ? later(now, limit) : never; }

planned_wait plan_wait(stored_wait_policies const* known, wait_reason::kind type, code_terms const& code, time_point now)
{
    planned_wait out;
    out.due_at = limit_from(now, code.timeout);
    out.then = code.then;
    auto sla = code.sla;
    auto const* const found = known ? policy_of(known->policies, type) : nullptr;
    if (found && *found) {
        auto const& p = **found;
        out.terms.policy = known->version;
        out.terms.resumable = p.resumable;
        out.terms.leaves = !p.release_compute || !p.resumable ? parting::never : p.snapshot ? parting::freely : parting::without_resources;
        out.heartbeat = p.heartbeat;
        if (!sla.is_set()) sla = p.sla;
        if (!code.timeout.is_set()) follow(p, code, now, out);
        else if (!out.then) out.then = last_of(p, code);
    }
    if (auto const at = limit_from(now, sla); at != never) out.terms.sla_at = at;
    return out;
}

void tell(wait_reason& reason, wait_terms const& terms)
{
    reason.policy = terms.policy;
    reason.sla_at = terms.sla_at.value_or(never);
    reason.resumable = terms.resumable;
    reason.escalations = terms.escalations;
}

}  // namespace flow::detail
