#include "src/history.hpp"

#include <algorithm>
#include <charconv>

#include "src/payloads.hpp"
#include "src/resources.hpp"

namespace flow::detail {

namespace {

/// "4.0" is at or below "4".
bool belongs_to(std::string_view path, std::string_view operation) noexcept
{
    return path.starts_with(operation) && (path.size() == operation.size() || path[operation.size()] == '.');
}

/// `4.1` before `4.10`: by numbers, not by text.
bool before(std::string_view a, std::string_view b) noexcept
{
    bool const top = a.find('.') == std::string_view::npos && b.find('.') == std::string_view::npos;
    if (top) return a.size() != b.size() ? a.size() < b.size() : a < b;  // no leading zeros: the longer number is larger
    while (!a.empty() && !b.empty()) {
        auto const take = [](std::string_view& s) {
            std::uint64_t n = 0;
            auto const [end, _] = std::from_chars(s.data(), s.data() + s.size(), n);
            s.remove_prefix(std::min<std::size_t>(static_cast<std::size_t>(end - s.data()) + 1, s.size()));
            return n;
        };
        auto const x = take(a), y = take(b);
        if (x != y) return x < y;
    }
    return a.empty() && !b.empty();
}

std::int64_t from_of(journal_entry const& e)
{
    std::int64_t from = 0;
    auto const text = std::string_view(e.payload);
    auto const at = text.find_first_of("0123456789");
    if (at != std::string_view::npos) std::from_chars(text.data() + at, text.data() + text.size(), from);
    return from;
}

}  // namespace

bool is_outcome(entry_kind k) noexcept
{
    using enum entry_kind;
    return k == step || k == step_failed || k == step_skipped || k == abandoned || k == override_;
}

bool is_progress(journal_entry const& e)
{
    using enum entry_kind;
    auto const k = e.kind;
    if (k == started && !e.payload.empty()) {  // a poll that looked and was told "not yet" has not ended its process
        auto const look = read_payload<look_payload>(e.payload);
        return look && look->looks > 0;
    }
    return is_outcome(k) || k == waited || k == event || k == wait_failed || k == woken || k == value || k == token || k == child ||
           k == child_ended || is_segment_start(k);
}

history::history(std::vector<journal_entry> entries, replay_order order) : entries_(std::move(entries)), order_(order)
{
    for (auto const& e : entries_)
        if (e.kind == entry_kind::void_) voided_.emplace_back(from_of(e), static_cast<std::int64_t>(e.seq));
    // In a place, only the index of a branch stands behind a full stop (P1).
    bool const has_branches = std::any_of(entries_.begin(), entries_.end(), [](auto const& e) { return e.place.find('.') != e.place.npos; });
    if (!has_branches && !is_tolerant()) {
        find_late_entries();
        return;
    }
    std::vector<journal_entry const*> all;
    for (std::size_t i = 0; i < entries_.size(); ++i)
        if (counts(i)) all.push_back(&entries_[i]);
    branches_.emplace(all, is_tolerant());
}

history::finding history::look(position const& at)
{
    if (!branches_) return {peek(), true, false};
    auto const key = key_of(at);
    auto const entries = branches_->at(key);
    bool const ended = branches_->has_outcome(key);
    return {entries, ended ? branches_->is_next(key) : branches_->exhausted(), ended};
}

journal_entry const* history::next_outcome()
{
    if (branches_) return branches_->exhausted() ? nullptr : &branches_->next();
    auto const entries = peek();
    return entries.empty() ? nullptr : entries.front();
}

journal_entry const* history::unused()
{
    return branches_ ? branches_->unused() : next_outcome();
}

bool history::has_more(std::string_view place_prefix)
{
    return branches_ ? branches_->has_more(place_prefix) : next_outcome() != nullptr;
}

journal_entry const* history::segment_start() const noexcept
{
    for (auto e = entries_.rbegin(); e != entries_.rend(); ++e)
        if (is_segment_start(e->kind)) return &*e;
    return nullptr;
}

void history::find_late_entries()
{
    std::string_view newest;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        if (!counts(i)) continue;
        std::string_view const path = entries_[i].path;
        if (newest.empty() || path == newest || belongs_to(path, newest)) {
            if (newest.empty()) newest = path;
        } else if (before(path, newest)) {
            late_.push_back(i);
        } else {
            newest = path;
        }
    }
}

std::optional<corruption> history::verify(run_id run) const
{
    auto expected = seq_no::none;
    for (auto const& e : entries_) {
        // Before the entry that began the newest segment all but its arguments is left out.
        expected = is_segment_start(e.kind) ? std::max(e.seq, next(expected)) : next(expected);
        if (e.seq != expected) return corruption{expected, "seq"};
        if (checksum_of(e, run) != e.checksum) return corruption{e.seq, "checksum"};
        // The arguments, and what the engine itself reads, must be whole from the start; a step's payload is judged when it is
        // reached, for then something can be done about it (P27).
        if (e.path.empty() && !e.in_blob && !e.hash.is_none() && sha256(e.payload) != e.hash) return corruption{e.seq, "payload"};
    }
    return std::nullopt;
}

bool history::counts(std::size_t i) const noexcept
{
    auto const& e = entries_[i];
    if (e.path.empty() || e.kind == entry_kind::void_ || e.kind == entry_kind::healed || is_snapshot(e)) return false;
    auto const seq = static_cast<std::int64_t>(e.seq);
    for (auto const& [from, to] : voided_)
        if (from <= seq && seq < to) return false;
    return true;
}

std::span<journal_entry const* const> history::peek()
{
    if (peeked_) return current_;
    peeked_ = true;
    current_.clear();
    auto const in_turn = [&](std::size_t i) {
        return counts(i) && (late_.empty() || !std::binary_search(late_.begin(), late_.end(), i));
    };
    auto i = next_;
    while (i < entries_.size() && !in_turn(i)) ++i;
    if (i < entries_.size()) {
        std::string_view const path = entries_[i].path;
        for (; i < entries_.size(); ++i) {
            if (!in_turn(i)) continue;
            if (!belongs_to(entries_[i].path, path)) break;
            current_.push_back(&entries_[i]);
        }
        for (auto const l : late_)
            if (belongs_to(entries_[l].path, path)) current_.push_back(&entries_[l]);
    }
    after_ = i;
    return current_;
}

std::vector<journal_entry const*> history::behind()
{
    if (branches_) return branches_->behind();
    peek();
    std::vector<journal_entry const*> rest;
    for (auto i = after_; i < entries_.size(); ++i)
        if (counts(i) && !std::binary_search(late_.begin(), late_.end(), i)) rest.push_back(&entries_[i]);
    return rest;
}

void history::pass(position const& at)
{
    if (branches_) return branches_->pass(key_of(at));
    next_ = after_;
    peeked_ = false;
}

void history::cut(seq_no from)
{
    voided_.emplace_back(static_cast<std::int64_t>(from), static_cast<std::int64_t>(next(last())));
    peeked_ = false;
    if (branches_) branches_->cut();
}

}  // namespace flow::detail
