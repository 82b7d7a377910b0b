// Values as PostgreSQL's text format has them: parameters, arrays of a batch, and back.
//
// A text column holds a text exactly, but for what PostgreSQL's `text` cannot hold: a NUL, a byte that is not UTF-8, and the escape
// itself are each written as U+001A and two hexadecimal digits. Equal texts stay equal, different ones different.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flow/ids.hpp"
#include "flow/time.hpp"

namespace flow::postgres_detail {

std::string escaped(std::string_view text);
std::string unescaped(std::string_view stored);
std::string hex_bytea(std::string_view bytes);
/// Of what the server sent; empty for what is not hexadecimal.
std::string from_hex_bytea(std::string_view hex);

/// A value as a text; nothing is NULL.
using cell = std::optional<std::string>;

inline cell to_cell(std::int64_t n) { return std::to_string(n); }
inline cell to_cell(std::string_view text) { return escaped(text); }
inline cell to_cell(std::nullptr_t) { return std::nullopt; }
inline cell to_cell(uuid const& id) { return to_string(id); }
cell to_cell(digest const& d);  ///< NULL if it is none
inline cell to_cell(time_point t) { return std::to_string(t.time_since_epoch().count()); }
inline cell to_cell(std::optional<std::int64_t> const& n) { return n ? to_cell(*n) : std::nullopt; }
inline cell to_cell(std::optional<uuid> const& id) { return id ? to_cell(*id) : std::nullopt; }

struct bytes {
    std::string_view value;
};
inline cell to_cell(bytes b) { return hex_bytea(b.value); }

/// Of one statement, $1 first.
class params {
public:
    template <class T>
    params& operator<<(T const& value)
    {
        cells_.push_back(to_cell(value));
        return *this;
    }
    params& array(std::string literal)
    {
        cells_.push_back(std::move(literal));
        return *this;
    }
    /// What libpq takes; valid as long as this object is.
    std::vector<char const*> pointers() const;

private:
    std::deque<cell> cells_;
};

/// Rows for one `insert … select … from unnest(…)`: each column is an array, and a parameter of its own.
class batch {
public:
    explicit batch(std::size_t columns) : columns_(columns) {}

    /// Column by column, row after row.
    template <class T>
    batch& operator<<(T const& value)
    {
        add(to_cell(value));
        return *this;
    }
    bool empty() const noexcept { return next_ == 0; }
    params arrays() const;
    /// The array of one column.
    std::string array(std::size_t column) const { return columns_[column].empty() ? "{}" : columns_[column] + "}"; }

private:
    void add(cell const& value);
    std::vector<std::string> columns_;
    std::size_t next_ = 0;
};

/// "1,2,3" for `in (…)`: numbers of ours, not texts of others'.
template <class Range>
std::string number_list(Range const& numbers)
{
    std::string out;
    for (auto const n : numbers) out += (out.empty() ? "" : ",") + std::to_string(static_cast<std::int64_t>(n));
    return out;
}

}  // namespace flow::postgres_detail
