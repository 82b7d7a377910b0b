// What is recorded of a run, as its body finds it on replay.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flow/journal.hpp"

namespace flow::detail {

/// A row that does not match its checksum, or a seq that is missing.
struct corruption {
    seq_no seq{};
    std::string column;
};

/// The recorded entries of a run, read once from front to back. Entries about the run (empty path) are passed over, and so is
/// what a later `void` covers.
///
/// Without open branches the entries of one operation stand together, its sub-steps among them, and the body asks for its
/// operations in the same order. Only what was repaired or decided later (P27) comes late, behind the operations after it.
/// Branches come with the next issue and will look up by path.
class history {
public:
    history() = default;
    explicit history(std::vector<journal_entry> entries);

    /// The first damage, checksums and sequence of all rows verified. Payloads are verified when they are used.
    std::optional<corruption> verify(run_id run) const;

    /// All entries of the next recorded operation (of its path and below it); empty at the end.
    std::span<journal_entry const* const> peek();
    /// It was used: the one after it is next.
    void pass() noexcept;
    /// What is recorded of the operations behind the next one.
    std::vector<journal_entry const*> behind();

    std::vector<journal_entry> const& all() const noexcept { return entries_; }
    seq_no last() const noexcept { return entries_.empty() ? seq_no::none : entries_.back().seq; }

    /// Everything recorded from `from` on no longer counts: the body goes on live.
    void cut(seq_no from);


private:
    bool counts(std::size_t i) const noexcept;
    void find_late_entries();

    std::vector<journal_entry> entries_;
    std::vector<std::pair<std::int64_t, std::int64_t>> voided_;  ///< [from, to) by seq
    std::vector<std::size_t> late_;  ///< entries that stand behind those of later operations
    std::vector<journal_entry const*> current_;
    std::size_t next_ = 0, after_ = 0;
    bool peeked_ = false;
};

/// What the entries of one step say, in order (see step_machine).
bool is_outcome(entry_kind k) noexcept;

}  // namespace flow::detail
