// What is recorded of a run whose body had branches: entries by operation, outcomes in the order they were delivered (P15).
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
    /// `entries`: those that count, in order; they must stay where they are.
    explicit branch_history(std::vector<journal_entry const*> const& entries);

    /// All entries of the operation at this path, its sub-steps' among them; none: nothing is recorded of it.
    std::span<journal_entry const* const> at(std::string_view path) const;

    /// No outcome is left to be delivered.
    bool exhausted() const noexcept { return next_ == order_.size(); }
    /// Whose outcome comes next. Not when exhausted.
    journal_entry const& next() const noexcept { return *records_[order_[next_]].outcome; }
    bool is_next(std::string_view path) const noexcept { return !exhausted() && records_[order_[next_]].path == path; }
    bool has_outcome(std::string_view path) const;

    /// This operation has been asked for; its outcome, if it has one, was the next and is delivered.
    void pass(std::string_view path);
    /// The first entry of an operation that nobody has asked for; null: there is none.
    journal_entry const* unused() const noexcept;

    /// From the next outcome on: entries of operations that have not been asked for.
    std::vector<journal_entry const*> behind() const;
    /// Those no longer count.
    void cut();

private:
    struct record {
        std::string_view path;
        std::vector<journal_entry const*> entries;
        journal_entry const* outcome = nullptr;
        bool passed = false;
    };
    record const* find(std::string_view path) const;
    record& record_of(journal_entry const& e);

    std::unordered_map<std::string_view, std::size_t> by_path_;
    std::vector<record> records_;
    std::vector<std::size_t> order_;  ///< of those with an outcome, by the seq of the first
    std::size_t next_ = 0;
};

}  // namespace flow::detail
