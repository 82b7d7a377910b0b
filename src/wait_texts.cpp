#include "src/wait_texts.hpp"

namespace flow::detail {

std::string_view name_of(alert_route r) noexcept
{
    switch (r) {
    case alert_route::nobody: return "nobody";
    case alert_route::process_owner: return "the process's owner";
    case alert_route::tool_owner: return "the tool's owner";
    case alert_route::platform_duty: return "the platform's duty";
    case alert_route::workflow_owner: return "the workflow's owner";
    }
    return "nobody";
}

wait_words const& words_of(wait_reason::kind k, bool event) noexcept
{
    for (auto const& row : wait_table)
        if (row.type == k && row.event == event) return row;
    return wait_table.front();  // not reached: a test walks all kinds
}

bool is_late(wait_reason const& w, time_point now) noexcept
{
    return w.sla_at < now || (!w.escalations.empty() && w.escalations.front().at <= now);
}

std::string filled(std::string_view text, wait_reason const& w, run_row const* row, std::string (*time)(time_point))
{
    auto const value_of = [&](std::string_view name) -> std::string {
        if (name == "name") return w.name;
        if (name == "id") return w.id;
        if (name == "detail") return w.detail;
        if (name == "until") return time(w.until);
        if (name == "run" && row) return flow::to_string(row->id);
        if (name == "workflow" && row) return row->workflow;
        if (name == "version" && row) return std::to_string(row->version);
        return '{' + std::string(name) + '}';
    };
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        auto const open = text.find('{', at);
        out += text.substr(at, open - at);
        if (open == text.npos) break;
        auto const close = text.find('}', open);
        if (close == text.npos) return out += text.substr(open);
        out += value_of(text.substr(open + 1, close - open - 1));
        at = close + 1;
    }
    return out;
}

}  // namespace flow::detail
