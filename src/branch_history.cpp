#include "src/branch_history.hpp"

#include <algorithm>

#include "src/history.hpp"

namespace flow::detail {

namespace {

/// Ends an operation: what its branch is told, and in this order.
bool ends_operation(entry_kind k) noexcept
{
    using enum entry_kind;
    switch (k) {
    case waited: case wait_failed: case woken: case value: case token: case group: case cancel_delivered: return true;
    default: return is_outcome(k);
    }
}

}  // namespace

branch_history::branch_history(std::vector<journal_entry const*> const& entries)
{
    by_path_.reserve(entries.size());
    for (auto const* e : entries) {
        auto& r = record_of(*e);
        r.entries.push_back(e);
        if (r.outcome || e->path != r.path || !ends_operation(e->kind)) continue;
        r.outcome = e;
        order_.push_back(static_cast<std::size_t>(&r - records_.data()));
    }
}

branch_history::record& branch_history::record_of(journal_entry const& e)
{
    std::string_view const path = e.path;
    if (auto const there = by_path_.find(path); there != by_path_.end()) return records_[there->second];
    // A sub-step stands below its step, which has entries of its own before it; everything else below something stands below a
    // sub-workflow or a group, which have none but a group's end.
    if (auto const dot = path.rfind('.'); dot != path.npos)
        if (auto const above = by_path_.find(path.substr(0, dot)); above != by_path_.end())
            if (records_[above->second].entries.front()->kind != entry_kind::group) return records_[above->second];
    by_path_.emplace(path, records_.size());
    return records_.emplace_back(record{path, {}, nullptr, false});
}

branch_history::record const* branch_history::find(std::string_view path) const
{
    auto const there = by_path_.find(path);
    return there == by_path_.end() ? nullptr : &records_[there->second];
}

std::span<journal_entry const* const> branch_history::at(std::string_view path) const
{
    auto const* r = find(path);
    return r ? std::span<journal_entry const* const>(r->entries) : std::span<journal_entry const* const>{};
}

bool branch_history::has_outcome(std::string_view path) const
{
    auto const* r = find(path);
    return r && r->outcome;
}

void branch_history::pass(std::string_view path)
{
    auto const there = by_path_.find(path);
    if (there == by_path_.end()) return;
    records_[there->second].passed = true;
    if (is_next(path)) ++next_;
}

journal_entry const* branch_history::unused() const noexcept
{
    for (auto const& r : records_)
        if (!r.passed && !r.entries.empty()) return r.entries.front();
    return nullptr;
}

std::vector<journal_entry const*> branch_history::behind() const
{
    std::vector<journal_entry const*> rest;
    if (exhausted()) return rest;
    for (auto const& r : records_)
        for (auto const* e : r.entries)
            if (!r.passed && e->seq >= next().seq) rest.push_back(e);
    std::sort(rest.begin(), rest.end(), [](auto const* a, auto const* b) { return a->seq < b->seq; });
    return rest;
}

void branch_history::cut()
{
    if (exhausted()) return;
    auto const from = next().seq;
    for (auto& r : records_) {
        if (r.passed) continue;
        std::erase_if(r.entries, [&](auto const* e) { return e->seq >= from; });
        r.outcome = nullptr;
        if (r.entries.empty()) by_path_.erase(r.path);
    }
    order_.resize(next_);
}

}  // namespace flow::detail
