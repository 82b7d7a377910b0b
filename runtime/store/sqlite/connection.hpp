// One SQLite connection with its prepared statements. Not thread-safe: database.hpp says who may use which one when.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>

#include "flow/error.hpp"
#include "flow/ids.hpp"
#include "flow/time.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace flow::sqlite_detail {

/// What SQLite answered. Thrown inside the store only; database.cpp turns it into a flow::error.
struct failure : std::runtime_error {
    failure(int c, std::string const& message) : std::runtime_error(message), code(c) {}
    int code;  ///< extended result code
};

/// The caller broke the store's contract, or asks for what cannot be: becomes the flow::error it names.
struct refusal : std::runtime_error {
    refusal(errc c, std::string const& message) : std::runtime_error(message), code(c) {}
    errc code;
};

/// One use of a prepared statement: reset when it goes, so that no statement keeps a snapshot open between calls.
class rows {
public:
    explicit rows(sqlite3_stmt* s) noexcept : stmt_(s) {}
    rows(rows const&) = delete;
    rows& operator=(rows const&) = delete;
    ~rows();

    // Bind, first to last. Texts and bytes must live until the last step.
    rows& operator<<(std::int64_t value);
    rows& operator<<(std::string_view text);
    rows& operator<<(std::nullptr_t);
    rows& operator<<(uuid const& id);
    rows& operator<<(digest const& d);  ///< NULL if it is none
    rows& operator<<(time_point t) { return *this << static_cast<std::int64_t>(t.time_since_epoch().count()); }
    rows& bytes(std::string_view value);

    /// To the next row; false at the end.
    bool step();
    /// To the end, for statements that return nothing.
    void run();

    // Columns of the row.
    std::int64_t number(int column) const noexcept;
    std::string text(int column) const;
    std::string bytes(int column) const { return text(column); }
    std::string_view view(int column) const noexcept;  ///< until the next step
    bool is_null(int column) const noexcept;
    uuid id(int column) const noexcept;
    digest hash(int column) const noexcept;
    time_point time(int column) const noexcept { return time_point{duration{number(column)}}; }

private:
    void check(int code) const;
    sqlite3_stmt* stmt_;
    int bound_ = 0;
};

class connection {
public:
    /// Throws failure.
    connection(std::string const& file, int flags, std::string const& vfs);
    connection(connection const&) = delete;
    connection& operator=(connection const&) = delete;
    ~connection();

    /// The statement for this text, prepared once. `sql` must live as long as the connection: it is found by its address.
    rows prepare(char const* sql);
    /// Runs statements that return nothing that matters; not kept.
    void run(std::string const& sql);
    /// The one number a statement returns; 0 if it returns none.
    std::int64_t number(char const* sql);

    void busy_timeout(std::chrono::milliseconds limit);
    bool in_transaction() const noexcept;
    /// Rows changed by the last statement.
    std::int64_t changes() const noexcept;
    std::int64_t last_rowid() const noexcept;
    bool read_only() const noexcept;
    /// Copies the log into the file; `truncate`: all of it, and empties the log. Returns SQLite's result code.
    int checkpoint(bool truncate) noexcept;
    /// Pages in the write-ahead log after the last commit of this connection.
    int log_pages() const noexcept { return log_pages_; }
    /// The file's first bytes as they lie there, without reading it as a database; returns how many there are of `count`. By SQLite's
    /// own descriptor: closing another one of this file would drop every lock that this process has on it.
    std::size_t raw_bytes(unsigned char* into, std::size_t count);
    /// Writes the whole database, as one moment of it, into an empty one.
    void copy_to(connection& copy);
    /// Leaves the log as it is when the connection closes: for a file that may not be ours.
    void leave_untouched() noexcept;
    /// Statements begun and neither finished nor reset. A test's question: the answer must be 0 between calls.
    int open_statements() const noexcept;

private:
    sqlite3* db_ = nullptr;
    std::unordered_map<char const*, sqlite3_stmt*> statements_;
    int log_pages_ = 0;
};

}  // namespace flow::sqlite_detail
