// Resources of a run: restored when it goes live, snapshot before it leaves memory.
#include <algorithm>

#include "flow/resource.hpp"
#include "src/payloads.hpp"
#include "src/resources.hpp"
#include "src/run.hpp"

namespace flow::detail {

void run::drop_resource(resource_slot& s) noexcept { std::erase(resources_, &s); }

bool run::is_replaying() { return history_.next_outcome() != nullptr; }

journal_entry const* run::newest_snapshot(position const& at) const
{
    journal_entry const* newest = nullptr;
    for (auto const& e : history_.all())
        if (is_snapshot(e) && history_.key_of(e) == history_.key_of(at)) newest = &e;
    return newest;
}

bool run::wake_resources()
{
    for (std::size_t i = 0; i < resources_.size(); ++i)
        if (auto const why = resources_[i]->wake()) {
            fail_here(*why);
            return false;
        }
    return true;
}

void run::keep_up_resources()
{
    bool const is_step_over = std::any_of(open_.entries.begin(), open_.entries.end(), [](auto const& e) { return is_outcome(e.kind); });
    if (is_step_over && is_idle()) snapshot_resources(false);
}

void run::forget_written_snapshots() noexcept
{
    for (auto* s : resources_) s->is_written({});
}

bool run::may_part_with_resources() const noexcept
{
    return std::all_of(resources_.begin(), resources_.end(), [](auto const* s) { return s->is_asleep() || s->is_resumable(); });
}

/// By their policies.
bool run::waits_let_it_leave() const noexcept
{
    bool const holds = std::any_of(resources_.begin(), resources_.end(), [](auto const* s) { return !s->is_asleep(); });
    return std::all_of(standing_.begin(), standing_.end(),
                       [&](auto const& s) { return s.leaves == parting::freely || (s.leaves == parting::without_resources && !holds); });
}

/// A pause takes it from its engine as well.
bool run::may_stand_still() const noexcept
{
    return may_part_with_resources() && std::all_of(standing_.begin(), standing_.end(), [](auto const& s) { return s.reason.resumable; });
}

void run::snapshot_resources(bool leaving)
{
    for (auto* s : resources_) {
        if (!s->is_open() || !s->is_resumable()) continue;  // asleep: what is stored of it still holds
        resource_payload p;
        try {
            p.snapshot = s->snapshot();
            if (p.snapshot == s->written()) continue;
            s->is_written(*p.snapshot);
        } catch (...) {
            if (!leaving) continue;  // perhaps it can be taken later
            p.refused = to_payload(describe(std::current_exception()).detail());
        }
        auto e = make(entry_kind::resource, s->at());
        e.name = s->name();
        e.shape_in = snapshot_mark;
        e.payload = write_payload(p);
        e.encoding = encoding::json;
        append(std::move(e));
    }
}

}  // namespace flow::detail
