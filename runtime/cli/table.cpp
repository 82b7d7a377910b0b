#include <utility>
#include "runtime/cli/table.hpp"

#include <algorithm>
#include <numeric>
#include <ostream>
#include <utility>

#include "runtime/cli/text.hpp"

namespace flow::cli {

namespace {

constexpr std::size_t gap = 2;
// Cut further than this a column says nothing.
constexpr std::size_t narrowest = 8;

}  // namespace

void table::add(std::vector<cell> row)
{
    // Longer than any terminal is wide.
    for (auto& c : row) c.text = shown(c.text, 1000);
    rows_.push_back(std::move(row));
}

void table::print(console const& io, bool with_headings, std::size_t indent) const
{
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        auto width = with_headings ? columns(columns_[i].heading) : 0;
        for (auto const& row : rows_) width = std::max(width, columns(row[i].text));
        widths.push_back(width);
    }
    auto const room = io.width - indent - gap * (columns_.size() - 1);
    for (auto used = std::accumulate(widths.begin(), widths.end(), std::size_t{0}); used > room; --used) {
        std::size_t widest = columns_.size();
        for (std::size_t i = 0; i < columns_.size(); ++i)
            if (columns_[i].may_be_cut && widths[i] > narrowest && (widest == columns_.size() || widths[i] > widths[widest]))
                widest = i;
        if (widest == columns_.size()) break;
        --widths[widest];
    }
    auto const line = [&](auto const& text_of, auto const& style_of) {
        std::string out(indent, ' ');
        std::size_t owed = 0;  // spaces that end no line
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            auto const text = columns_[i].may_be_cut ? cut(text_of(i), widths[i]) : std::string(text_of(i));
            auto const width = columns(text);
            if (width > 0) out.append(std::exchange(owed, 0), ' ') += io.paint(style_of(i), text);
            owed += widths[i] - std::min(width, widths[i]) + gap;
        }
        io.out << out << '\n';
    };
    if (with_headings)
        line([&](std::size_t i) -> std::string const& { return columns_[i].heading; }, [](std::size_t) { return style::dim; });
    for (auto const& row : rows_)
        line([&](std::size_t i) -> std::string const& { return row[i].text; }, [&](std::size_t i) { return row[i].how; });
}

}  // namespace flow::cli
