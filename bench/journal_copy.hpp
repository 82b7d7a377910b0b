// The raw limit of writing journals: the rows that an engine has written, written again by a bare loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

struct sqlite3;
struct sqlite3_stmt;

namespace flow::bench {

/// Reads the journal of a flow database of ours: its table and indexes as they are declared, its rows in the order of their commits.
class journal_copy {
public:
    /// What was written up to here was there before the engine began.
    explicit journal_copy(std::string const& flow_file);
    ~journal_copy();
    journal_copy(journal_copy const&) = delete;

    /// To be called when the engine has ended: rows written since.
    std::size_t rows() const;
    /// Writes the rows there were before at once, then the others, so many a commit, as durable as ours. Seconds that the
    /// transactions took, reading not counted.
    double seconds(std::string const& raw_file, std::size_t rows_a_commit) const;

private:
    sqlite3* from_ = nullptr;
    std::int64_t before_ = 0;
};

}  // namespace flow::bench
