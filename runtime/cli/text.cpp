#include "runtime/cli/text.hpp"

#include <algorithm>
#include <array>

#include "src/names.hpp"
#include "src/wait_texts.hpp"

namespace flow::cli {

std::string shown(std::string_view text, std::size_t max)
{
    std::string out;
    for (;;) {
        auto const at = text.find('\\');
        out += detail::printable(text.substr(0, at), max - out.size());
        // Near the limit the piece may have been cut: nothing is put behind its mark.
        if (at == text.npos || out.size() + 8 > max) return out;
        out += '\\';
        text.remove_prefix(at + 1);
    }
}

namespace {

struct character {
    std::size_t bytes, columns;
};

struct code_range {
    char32_t first, last;
};
// Drawn over or joined to the character before them.
constexpr std::array<code_range, 5> no_columns{
    {{0x300, 0x36F}, {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0x1F3FB, 0x1F3FF}}};
// Drawn two columns wide: East Asian scripts, full-width forms, pictures.
constexpr std::array<code_range, 7> two_columns{{{0x1100, 0x115F},
                                                 {0x2E80, 0xA4CF},
                                                 {0xAC00, 0xD7A3},
                                                 {0xF900, 0xFAFF},
                                                 {0xFE30, 0xFE6F},
                                                 {0xFF00, 0xFF60},
                                                 {0x1F300, 0x3FFFD}}};

template <std::size_t N>
bool in(std::array<code_range, N> const& ranges, char32_t c)
{
    return std::any_of(ranges.begin(), ranges.end(), [c](code_range r) { return c >= r.first && c <= r.last; });
}

/// `text` is well-formed UTF-8: `shown` made it so.
character first_of(std::string_view text)
{
    auto const lead = static_cast<unsigned char>(text[0]);
    std::size_t const bytes = std::min<std::size_t>(text.size(), lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4);
    char32_t code = bytes == 1 ? lead : lead & (0xFFu >> (bytes + 1));
    for (std::size_t i = 1; i < bytes; ++i) code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3Fu);
    return {bytes, in(no_columns, code) ? 0u : in(two_columns, code) ? 2u : 1u};
}

}  // namespace

std::size_t columns(std::string_view text)
{
    std::size_t n = 0;
    while (!text.empty()) {
        auto const c = first_of(text);
        n += c.columns;
        text.remove_prefix(c.bytes);
    }
    return n;
}

std::string cut(std::string_view text, std::size_t width)
{
    std::size_t used = 0, whole = 0;
    for (std::size_t at = 0; at < text.size();) {
        auto const c = first_of(text.substr(at));
        used += c.columns;
        if (used > width) return std::string(text.substr(0, whole)) + (width > 0 ? "…" : "");
        at += c.bytes;
        if (used < width) whole = at;  // the mark fits behind it
    }
    return std::string(text);
}

std::string length_text(duration d)
{
    auto const micros = std::max<std::int64_t>(d.count(), 0);
    auto const number = [](std::int64_t n) { return std::to_string(n); };
    if (micros == 0) return "0 s";
    if (micros < 1'000) return number(micros) + " µs";
    if (micros < 1'000'000) return number(micros / 1'000) + " ms";
    auto const s = micros / 1'000'000;
    if (s < 10) return number(s) + "." + number(micros / 100'000 % 10) + " s";
    if (s < 60) return number(s) + " s";
    auto const two = [&](std::int64_t large, char const* a, std::int64_t small, char const* b) {
        return number(large) + a + (small == 0 ? std::string() : " " + number(small) + b);
    };
    if (s < 3'600) return two(s / 60, " min", s % 60, " s");
    if (s < 86'400) return two(s / 3'600, " h", s / 60 % 60, " min");
    return two(s / 86'400, " d", s / 3'600 % 24, " h");
}

std::string time_text(time_point t)
{
    auto text = to_string(t);
    auto const at = text.find('T');
    if (at == text.npos) return text;
    text[at] = ' ';
    return text.substr(0, at + 9);
}

std::string counted(std::size_t n, std::string_view thing)
{
    return std::to_string(n) + " " + std::string(thing) + (n == 1 ? "" : "s");
}

std::string wait_text(wait_reason const& w)
{
    bool const event = w.type == wait_reason::kind::external && !w.detail.empty();  // a token's reason has no sentence of its own
    return detail::filled(detail::words_of(w.type, event).brief, w, nullptr, time_text);
}

}  // namespace flow::cli
