// One connection with its prepared statements: all there is of libpqxx in this store. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "flow/ids.hpp"
#include "flow/time.hpp"
#include "runtime/store/postgres/errors.hpp"
#include "runtime/store/postgres/values.hpp"

namespace flow::postgres_detail {

/// What a statement returned, all of it; read row by row.
class rows {
public:
    /// To the next row; false at the end.
    bool step() noexcept;
    std::size_t size() const noexcept;
    /// Rows that an insert, update or delete changed.
    std::size_t affected() const noexcept;

    // Columns of the row.
    std::int64_t number(int column) const;
    std::string text(int column) const;
    std::string bytes(int column) const;
    bool is_null(int column) const;
    bool flag(int column) const;
    uuid id(int column) const;
    digest hash(int column) const;
    time_point time(int column) const { return time_point{duration{number(column)}}; }

private:
    friend class connection;
    struct held;
    explicit rows(std::shared_ptr<held> r) noexcept : held_(std::move(r)) {}
    std::string_view raw(int column) const;
    std::shared_ptr<held> held_;
};

class connection {
public:
    /// `how`: libpq's connection string. Throws failure.
    explicit connection(std::string const& how);
    connection(connection const&) = delete;
    connection& operator=(connection const&) = delete;
    ~connection();

    /// One statement with parameters, prepared once: the texts of a program are few.
    rows run(std::string const& sql, params const& p = {});
    /// Statements without parameters, in one message to the server; what the last one returned.
    rows simple(std::string const& sql);

    /// Statements without parameters, of which nobody reads the answer: sent in one message with the next `simple` or `commit`, before
    /// the next `run`. So a transaction begins without a message of its own.
    void with_next(std::string const& statements) { next_ += statements; }
    /// Has the transaction reached the server?
    bool in_transaction() const noexcept { return in_transaction_; }
    /// `last`: statements to run before it, in the same message.
    void commit(std::string const& last);
    /// Throws nothing: a connection that cannot do it is no longer usable.
    void rollback() noexcept;

    bool usable() const noexcept;
    std::string database() const;

private:
    struct impl;
    std::unique_ptr<impl> const impl_;
    std::string next_;
    bool in_transaction_ = false;
};

/// A connection that hears what others tell on a channel, and tells them. Not thread-safe; every call throws failure.
class listener {
public:
    listener(std::string const& how, std::string const& channel);
    listener(listener const&) = delete;
    listener& operator=(listener const&) = delete;
    ~listener();

    /// Readable when something may have been told.
    int socket() const;
    /// Has another session told anything since the last call? Does not wait.
    bool heard();
    void tell();

private:
    struct impl;
    std::unique_ptr<impl> const impl_;
};

}  // namespace flow::postgres_detail
