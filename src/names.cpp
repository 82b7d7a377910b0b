#include "src/names.hpp"

#include <algorithm>

#include "flow/detail/codec_io.hpp"
#include "flow/error.hpp"

namespace flow::detail {
namespace {

constexpr std::size_t longest_name = 256;
constexpr std::string_view hex = "0123456789ABCDEF";

bool control(unsigned char c) { return c < 0x20 || c == 0x7F; }

void append_hex(std::string& out, std::string_view before, unsigned char c)
{
    out += before;
    out += hex[c >> 4];
    out += hex[c & 15];
}

/// The length of the character that `s` begins with: 0 where it is no UTF-8, or one of the control characters from 0x80 on.
std::size_t shown_as_it_is(std::string_view s)
{
    auto const lead = static_cast<unsigned char>(s[0]);
    if (lead < 0x80) return control(lead) ? 0 : 1;
    std::size_t const n = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (s.size() < n || !valid_utf8(s.substr(0, n))) return 0;
    if (lead == 0xC2 && static_cast<unsigned char>(s[1]) < 0xA0) return 0;  // C1, a terminal's CSI among them
    // Line and paragraph separators, and what turns the direction of writing: U+2028 to U+202E, U+2066 to U+2069.
    if (lead == 0xE2 && s[1] == '\x80' && s[2] >= '\xA8' && s[2] <= '\xAE') return 0;
    if (lead == 0xE2 && s[1] == '\x81' && s[2] >= '\xA6' && s[2] <= '\xA9') return 0;
    return n;
}

}  // namespace

void check_name(std::string_view name)
{
    if (name.empty()) throw error(errc::bad_name, "a name must not be empty");
    auto const refuse = [&](std::string const& what) {
        throw error(errc::bad_name, "the name '" + printable(name, 64) + "' " + what);
    };
    if (name.size() > longest_name)
        refuse("has " + std::to_string(name.size()) + " bytes: at most " + std::to_string(longest_name) + " are allowed");
    if (!valid_utf8(name)) refuse("is not UTF-8");
    for (std::size_t i = 0; i < name.size(); ++i) {
        auto const c = static_cast<unsigned char>(name[i]);
        bool const c1 = c == 0xC2 && static_cast<unsigned char>(name[i + 1]) < 0xA0;
        if (control(c) || c1) refuse("has a control character at byte " + std::to_string(i));
    }
}

void append_place_name(std::string& out, std::string_view name)
{
    for (char const c : name) {
        auto const byte = static_cast<unsigned char>(c);
        bool const plain = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
        if (plain || byte >= 0x80)
            out += c;
        else
            append_hex(out, "%", byte);
    }
}

std::string printable(std::string_view text, std::size_t max)
{
    constexpr std::string_view cut = "…";
    std::string out;
    std::size_t whole = 0;  // where to cut so that the mark still fits
    while (!text.empty()) {
        auto const n = shown_as_it_is(text);
        if (n != 0 && text[0] == '\\') {
            out += "\\\\";
        } else if (n != 0) {
            out.append(text, 0, n);
        } else if (text[0] == '\n') {
            out += "\\n";
        } else {
            append_hex(out, "\\x", static_cast<unsigned char>(text[0]));
        }
        text.remove_prefix(std::max<std::size_t>(n, 1));
        if (out.size() > max) {
            out.resize(whole);
            return max < cut.size() ? out : out += cut;
        }
        if (out.size() + cut.size() <= max) whole = out.size();
    }
    return out;
}

std::string shell_word(std::string_view text)
{
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+=,";
    if (!text.empty() && text.find_first_not_of(plain) == text.npos) return std::string(text);
    std::string out = "'";
    for (char const c : text)
        if (c == '\'') out += "'\\''";
        else out += c;
    return out += "'";
}

}  // namespace flow::detail
