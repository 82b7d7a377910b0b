// What is recorded of a run, as its body finds it on replay.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flow/detail/scope.hpp"
#include "flow/journal.hpp"
#include "flow/versions.hpp"
#include "src/branch_history.hpp"

namespace flow::detail {

/// A row that does not match its checksum, or a seq that is missing.
struct corruption {
    seq_no seq{};
    std::string column;
};

/// The recorded entries of a run, read once from front to back. Entries about the run (empty path) are passed over, and so is
/// what a later `void` covers.
///
/// Without branches the entries of one operation stand together, its sub-steps among them, and the body asks for its
/// operations in the same order. Only what was repaired or decided later (P27) comes late, behind the operations after it.
/// With branches operations are looked up by path (branch_history).
class history {
public:
    history() = default;
    explicit history(std::vector<journal_entry> entries, replay_order order = replay_order::strict);

    /// The first damage, checksums and sequence of all rows verified. Payloads are verified when they are used.
    std::optional<corruption> verify(run_id run) const;

    struct finding {
        std::span<journal_entry const* const> entries;  ///< without branches: of the next operation, whatever its path
        bool its_turn = true;  ///< false: other outcomes come first
        bool ended = false;    ///< with branches: its outcome is recorded
    };
    /// Where its outcome is recorded; none: nowhere. With branches.
    seq_no outcome_of(position const& at) const { return branches_ ? branches_->outcome_of(key_of(at)) : seq_no::none; }
    /// By what operations are told apart: the path, or where steps may be inserted the place (P1).
    std::string_view key_of(position const& at) const noexcept { return is_tolerant() ? at.place : at.path; }
    std::string_view key_of(journal_entry const& e) const noexcept { return is_tolerant() ? e.place : e.path; }
    bool is_tolerant() const noexcept { return order_ == replay_order::tolerant; }

    /// What is recorded of the operation there (and of its sub-steps).
    finding look(position const& at);
    /// It was used: what comes after it is next.
    void pass(position const& at);
    /// What is recorded of the operations behind the next one.
    std::vector<journal_entry const*> behind();
    /// Whose outcome is to be delivered next; null: the history is over.
    journal_entry const* next_outcome();
    /// The first entry that nobody has asked for; null: there is none.
    journal_entry const* unused();
    /// Is there anything recorded that has not been asked for, at places that begin so?
    bool has_more(std::string_view place_prefix);

    /// The entry that began this segment (`checkpoint`, `continued`); null in the first.
    journal_entry const* segment_start() const noexcept;
    std::vector<journal_entry> const& all() const noexcept { return entries_; }
    seq_no last() const noexcept { return entries_.empty() ? seq_no::none : entries_.back().seq; }

    /// Everything recorded from `from`, the first of `behind()`, no longer counts: the body goes on live.
    void cut(seq_no from);

private:
    bool counts(std::size_t i) const noexcept;
    void find_late_entries();
    std::span<journal_entry const* const> peek();

    std::vector<journal_entry> entries_;
    replay_order order_ = replay_order::strict;
    std::optional<branch_history> branches_;
    std::vector<std::pair<std::int64_t, std::int64_t>> voided_;  ///< [from, to) by seq
    std::vector<std::size_t> late_;  ///< entries that stand behind those of later operations
    std::vector<journal_entry const*> current_;
    std::size_t next_ = 0, after_ = 0;
    bool peeked_ = false;
};

/// Closes a segment and begins the next: what is older is never read again (P20, P21).
constexpr bool is_segment_start(entry_kind k) noexcept { return k == entry_kind::checkpoint || k == entry_kind::continued; }

/// What the entries of one step say, in order (see step_machine).
bool is_outcome(entry_kind k) noexcept;
/// A run that has one more of these has come further (P31).
bool is_progress(journal_entry const& e);

}  // namespace flow::detail
