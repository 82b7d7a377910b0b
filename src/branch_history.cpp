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
    case waited: case event: case wait_failed: case woken: case value: case token: case published: case child: case child_ended: case resource:
    case group: case cancel_delivered: return true;
    default: return is_outcome(k);
    }
}

}  // namespace

branch_history::branch_history(std::vector<journal_entry const*> const& entries, bool by_place) : by_place_(by_place)
{
    by_key_.reserve(entries.size());
    for (auto const* e : entries) {
        auto& r = record_of(*e);
        r.entries.push_back(e);
        if (r.outcome || key_of(*e) != r.key || !ends_operation(e->kind)) continue;
        r.outcome = e;
        order_.push_back(static_cast<std::size_t>(&r - records_.data()));
    }
}

branch_history::record& branch_history::record_of(journal_entry const& e)
{
    auto const key = key_of(e);
    if (auto const there = by_key_.find(key); there != by_key_.end()) return records_[there->second];
    // A sub-step stands below its step, which has entries of its own before it; everything else below something stands below a
    // sub-workflow or a group, which have none but a group's end.
    if (auto const end = key.rfind(by_place_ ? '/' : '.'); end != key.npos)
        if (auto const above = by_key_.find(key.substr(0, end)); above != by_key_.end())
            if (records_[above->second].entries.front()->kind != entry_kind::group) return records_[above->second];
    by_key_.emplace(key, records_.size());
    return records_.emplace_back(record{key, {}, nullptr, false});
}

branch_history::record const* branch_history::find(std::string_view key) const
{
    auto const there = by_key_.find(key);
    return there == by_key_.end() ? nullptr : &records_[there->second];
}

std::span<journal_entry const* const> branch_history::at(std::string_view key) const
{
    auto const* r = find(key);
    return r ? std::span<journal_entry const* const>(r->entries) : std::span<journal_entry const* const>{};
}

seq_no branch_history::outcome_of(std::string_view key) const
{
    auto const* r = find(key);
    return r && r->outcome ? r->outcome->seq : seq_no::none;
}

void branch_history::pass(std::string_view key)
{
    auto const there = by_key_.find(key);
    if (there == by_key_.end()) return;
    records_[there->second].passed = true;
    while (!exhausted() && records_[order_[next_]].passed) ++next_;
}

journal_entry const* branch_history::unused() const noexcept
{
    for (auto const& r : records_)
        if (!r.passed && !r.entries.empty()) return r.entries.front();
    return nullptr;
}

bool branch_history::has_more(std::string_view place_prefix) const noexcept
{
    return std::any_of(records_.begin(), records_.end(), [&](record const& r) {
        return !r.passed && !r.entries.empty() && r.entries.front()->place.starts_with(place_prefix);
    });
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
        if (r.entries.empty()) by_key_.erase(r.key);
    }
    order_.resize(next_);
}

}  // namespace flow::detail
