#include "src/group_check.hpp"

#include <algorithm>

namespace flow::detail {

std::string fault_in(group const& g, status_pair from)
{
    auto seq = g.after;
    for (auto const& e : g.entries) {
        seq = next(seq);
        if (e.seq != seq || e.epoch != g.epoch) return "a group's entries do not follow each other";
    }
    for (auto const& e : g.effects) {
        if (auto const* t = std::get_if<take_request>(&e); t && t->entry >= g.entries.size())
            return "a request is taken by an entry of its group";
        if (auto const* t = std::get_if<take_waitpoint>(&e); t && t->entry >= g.entries.size())
            return "a waitpoint is taken by an entry of its group";
    }
    if ((snapshot_in(g) != seq_no::none) != g.change.has_value()) return "a run's status changes with a snapshot entry only";
    if (!g.change) return {};
    auto const to = g.change->status;
    if (follow(from, g.entries) != to)
        return "the status tables do not allow this change of a run that is " + std::string(to_string(from.execution)) +
               " and " + std::string(to_string(from.run));
    if (g.change->release && (is_executing(to.execution) || to.execution == execution_status::queued_executing))
        return "a run that executes cannot be released";
    return {};
}

bool takes(group const& g, request_id id) noexcept
{
    return std::any_of(g.effects.begin(), g.effects.end(), [&](row_effect const& e) {
        auto const* t = std::get_if<take_request>(&e);
        return t && t->request == id;
    });
}

bool wants_event(group const& g, waitpoint_row const& wait) noexcept
{
    return wait.type == waitpoint_type::event && wait.status == waitpoint_status::pending &&
           std::none_of(g.effects.begin(), g.effects.end(), [&](row_effect const& e) {
               auto const* d = std::get_if<decide_waitpoint>(&e);
               return d && d->waitpoint == wait.id;
           });
}

bool makes(group const& g, waitpoint_id id, std::size_t before) noexcept
{
    return std::any_of(g.effects.begin(), g.effects.begin() + static_cast<std::ptrdiff_t>(before), [&](row_effect const& e) {
        auto const* made = std::get_if<insert_waitpoint>(&e);
        return made && made->row.id == id;
    });
}

seq_no snapshot_in(group const& g) noexcept
{
    auto out = seq_no::none;
    for (auto const& e : g.entries)
        if (e.kind == entry_kind::snapshot) out = e.seq;
    return out;
}

time_point due_after(group const& g, time_point before) noexcept
{
    return g.change->status.execution == execution_status::queued ? g.entries.back().at : before;
}

}  // namespace flow::detail
