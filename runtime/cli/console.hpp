// Where a call of the command line writes, and what it knows of the place.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>

#include "flow/time.hpp"

namespace flow::cli {

enum class style { plain, strong, dim, good, bad, busy };

struct console {
    std::ostream& out;
    std::ostream& err;
    std::size_t width = 120;  ///< in columns
    bool colour = false;
    flow::clock const* clock = &system_clock();

    /// `text` with terminal codes around it where there is colour. `text` is escaped already.
    std::string paint(style how, std::string_view text) const;
};

/// Standard output and error: colour on a terminal only, and not where NO_COLOR is set.
console standard_console();

}  // namespace flow::cli
