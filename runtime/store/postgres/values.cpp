#include "runtime/store/postgres/values.hpp"

namespace flow::postgres_detail {

namespace {

constexpr char digits[] = "0123456789abcdef";
constexpr char escape = '\x1a';

/// Bytes of the UTF-8 character that begins here; 0 if none does.
std::size_t character(std::string_view s) noexcept
{
    auto const at = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
    auto const follows = [&](std::size_t i) { return i < s.size() && (at(i) & 0xc0) == 0x80; };
    auto const c = at(0);
    if (c < 0x80) return 1;
    if (c < 0xc2 || c > 0xf4 || !follows(1)) return 0;
    if (c < 0xe0) return 2;
    if (!follows(2)) return 0;
    if (c < 0xf0) return (c == 0xe0 && at(1) < 0xa0) || (c == 0xed && at(1) > 0x9f) ? 0 : 3;
    if (!follows(3)) return 0;
    return (c == 0xf0 && at(1) < 0x90) || (c == 0xf4 && at(1) > 0x8f) ? 0 : 4;
}

int value_of(char c) noexcept
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
}

void add_hex(std::string& out, char c)
{
    auto const byte = static_cast<unsigned char>(c);
    out += digits[byte >> 4];
    out += digits[byte & 15];
}

}  // namespace

std::string escaped(std::string_view text)
{
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        auto const n = text[0] == '\0' || text[0] == escape ? 0 : character(text);
        if (n == 0) {
            out += escape;
            add_hex(out, text[0]);
            text.remove_prefix(1);
        } else {
            out.append(text, 0, n);
            text.remove_prefix(n);
        }
    }
    return out;
}

std::string unescaped(std::string_view stored)
{
    std::string out;
    out.reserve(stored.size());
    for (std::size_t i = 0; i < stored.size(); ++i) {
        int const high = stored[i] == escape && i + 2 < stored.size() ? value_of(stored[i + 1]) : -1;
        int const low = high >= 0 ? value_of(stored[i + 2]) : -1;
        if (low < 0) {
            out += stored[i];
            continue;
        }
        out += static_cast<char>(high * 16 + low);
        i += 2;
    }
    return out;
}

std::string hex_bytea(std::string_view bytes)
{
    std::string out = "\\x";
    out.reserve(2 + 2 * bytes.size());
    for (char const c : bytes) add_hex(out, c);
    return out;
}

std::string from_hex_bytea(std::string_view hex)
{
    std::string out;
    if (hex.substr(0, 2) != "\\x") return out;
    out.reserve(hex.size() / 2);
    for (std::size_t i = 2; i + 1 < hex.size(); i += 2) {
        int const high = value_of(hex[i]), low = value_of(hex[i + 1]);
        if (high < 0 || low < 0) return {};
        out += static_cast<char>(high * 16 + low);
    }
    return out;
}

cell to_cell(digest const& d)
{
    if (d.is_none()) return std::nullopt;
    return "\\x" + to_string(d);
}

std::vector<char const*> params::pointers() const
{
    std::vector<char const*> out;
    out.reserve(cells_.size());
    for (auto const& c : cells_) out.push_back(c ? c->c_str() : nullptr);
    return out;
}

void batch::add(cell const& value)
{
    auto& column = columns_[next_++ % columns_.size()];
    column += column.empty() ? '{' : ',';
    if (!value) {
        column += "NULL";
        return;
    }
    column += '"';
    for (char const c : *value) {
        if (c == '"' || c == '\\') column += '\\';
        column += c;
    }
    column += '"';
}

params batch::arrays() const
{
    params out;
    for (std::size_t i = 0; i < columns_.size(); ++i) out.array(array(i));
    return out;
}

}  // namespace flow::postgres_detail
