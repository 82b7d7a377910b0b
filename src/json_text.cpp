// Strings as JSON has them: UTF-8, escapes, base64.
#include <array>
#include <cstdint>
#include <cstring>

#include "flow/detail/codec_io.hpp"

namespace flow::detail {
namespace {

constexpr std::string_view base64_letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr auto base64_values = [] {
    std::array<std::int8_t, 256> values{};
    values.fill(-1);
    for (std::size_t i = 0; i < base64_letters.size(); ++i)
        values[static_cast<unsigned char>(base64_letters[i])] = static_cast<std::int8_t>(i);
    return values;
}();

std::size_t ascii_prefix(std::string_view s) noexcept
{
    std::size_t i = 0;
    for (; i + 8 <= s.size(); i += 8) {
        std::uint64_t eight;
        std::memcpy(&eight, s.data() + i, 8);
        if (eight & 0x8080808080808080u) break;
    }
    while (i < s.size() && static_cast<unsigned char>(s[i]) < 0x80) ++i;
    return i;
}

/// The length of the well-formed sequence that s begins with, 0 if there is none.
std::size_t sequence_length(std::string_view s) noexcept
{
    auto const at = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
    unsigned const lead = at(0);
    std::size_t const n = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || s.size() < n) return 0;
    for (std::size_t i = 1; i < n; ++i)
        if ((at(i) & 0xC0) != 0x80) return 0;
    if (lead == 0xE0 && at(1) < 0xA0) return 0;  // overlong
    if (lead == 0xED && at(1) > 0x9F) return 0;  // surrogate
    if (lead == 0xF0 && at(1) < 0x90) return 0;  // overlong
    if (lead == 0xF4 && at(1) > 0x8F) return 0;  // beyond U+10FFFF
    return n;
}

}  // namespace

bool valid_utf8(std::string_view s) noexcept
{
    for (;;) {
        s.remove_prefix(ascii_prefix(s));
        if (s.empty()) return true;
        auto const n = sequence_length(s);
        if (n == 0) return false;
        s.remove_prefix(n);
    }
}

void append_base64(std::string& out, std::string_view bytes)
{
    out.reserve(out.size() + (bytes.size() + 2) / 3 * 4);
    auto const at = [&](std::size_t i) -> std::uint32_t {
        return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0;
    };
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        auto const three = at(i) << 16 | at(i + 1) << 8 | at(i + 2);
        out += base64_letters[three >> 18];
        out += base64_letters[three >> 12 & 63];
        out += i + 1 < bytes.size() ? base64_letters[three >> 6 & 63] : '=';
        out += i + 2 < bytes.size() ? base64_letters[three & 63] : '=';
    }
}

bool decode_base64(std::string_view text, std::string& into)
{
    into.clear();
    if (text.size() % 4 != 0) return false;
    std::size_t const pad = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
    into.reserve(text.size() / 4 * 3);
    for (std::size_t i = 0; i < text.size(); i += 4) {
        std::size_t const letters = i + 4 == text.size() ? 4 - pad : 4;
        std::uint32_t three = 0;
        for (std::size_t k = 0; k < 4; ++k) {
            int const value = k < letters ? base64_values[static_cast<unsigned char>(text[i + k])] : 0;
            if (value < 0) return false;
            three = three << 6 | static_cast<std::uint32_t>(value);
        }
        // What the padding cuts off must be zero: one value has one text.
        if ((letters < 4 && (three & 0xFF) != 0) || (letters < 3 && (three & 0xFF00) != 0)) return false;
        into += static_cast<char>(three >> 16);
        if (letters > 2) into += static_cast<char>(three >> 8 & 0xFF);
        if (letters > 3) into += static_cast<char>(three & 0xFF);
    }
    return true;
}

void append_json_string(std::string& out, std::string_view s)
{
    constexpr std::string_view hex = "0123456789abcdef";
    out += '"';
    std::size_t from = 0;
    for (std::size_t i = 0; i < s.size(); ++i) {
        auto const c = static_cast<unsigned char>(s[i]);
        if (c >= 0x20 && c != '"' && c != '\\') continue;
        out.append(s, from, i - from);
        from = i + 1;
        out += '\\';
        switch (c) {
            case '"': out += '"'; break;
            case '\\': out += '\\'; break;
            case '\n': out += 'n'; break;
            case '\r': out += 'r'; break;
            case '\t': out += 't'; break;
            case '\b': out += 'b'; break;
            case '\f': out += 'f'; break;
            default:
                out += "u00";
                out += hex[c >> 4];
                out += hex[c & 15];
        }
    }
    out.append(s, from, s.size() - from);
    out += '"';
}

}  // namespace flow::detail
