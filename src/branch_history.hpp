// What is recorded of a run whose body had branches, or whose code may have steps inserted: entries by operation, outcomes in the
// order they were delivered (P15).
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "flow/journal.hpp"

namespace flow::detail {

class branch_history {
public:
    /// `entries`: those that count, in order; they must stay where they are. Operations are told apart by path, or by place.
    branch_history(std::vector<journal_entry const*> const& entries, bool by_place);

    /// All entries of the operation under this key (its path, or its place), its sub-steps' among them; none: nothing is recorded of it.
    std::span<journal_entry const* const> at(std::string_view key) const;

    /// No outcome is left to be delivered.
    bool exhausted() const noexcept { return next_ == order_.size(); }
    /// Whose outcome comes next. Not when exhausted.
    journal_entry const& next() const noexcept { return *records_[order_[next_]].outcome; }
    bool is_next(std::string_view key) const noexcept { return !exhausted() && records_[order_[next_]].key == key; }
    bool has_outcome(std::string_view key) const { return outcome_of(key) != seq_no::none; }
    seq_no outcome_of(std::string_view key) const;

    /// This operation has been asked for; its outcome, if it has one, was the next and is delivered.
    void pass(std::string_view key);
    /// The first entry of an operation that nobody has asked for; null: there is none.
    journal_entry const* unused() const noexcept;
    bool has_more(std::string_view place_prefix) const noexcept;

    /// From the next outcome on: entries of operations that have not been asked for.
    std::vector<journal_entry const*> behind() const;
    /// Those no longer count.
    void cut();

private:
    struct record {
        std::string_view key;
        std::vector<journal_entry const*> entries;
        journal_entry const* outcome = nullptr;
        bool passed = false;
    };
    record const* find(std::string_view key) const;
    record& record_of(journal_entry const& e);

    std::string_view key_of(journal_entry const& e) const noexcept { return by_place_ ? e.place : e.path; }

    bool by_place_;
    std::unordered_map<std::string_view, std::size_t> by_key_;
    std::vector<record> records_;
    std::vector<std::size_t> order_;  ///< of those with an outcome, by the seq of the first
    std::size_t next_ = 0;
};

}  // namespace flow::detail
