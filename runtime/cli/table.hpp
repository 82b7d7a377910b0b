// Rows under one heading, as wide as the place allows.
#pragma once

#include <string>
#include <vector>

#include "runtime/cli/console.hpp"

namespace flow::cli {

struct cell {
    std::string text;  ///< escaped here
    style how = style::plain;
};

struct column {
    std::string heading;
    bool may_be_cut = false;
};

class table {
public:
    explicit table(std::vector<column> columns) : columns_(std::move(columns)) {}

    void add(std::vector<cell> row);
    bool empty() const noexcept { return rows_.empty(); }
    /// Each line with `indent` spaces before it. Where it is too wide, the widest columns that may be cut give way.
    void print(console const& io, bool with_headings = true, std::size_t indent = 0) const;

private:
    std::vector<column> columns_;
    std::vector<std::vector<cell>> rows_;
};

}  // namespace flow::cli
