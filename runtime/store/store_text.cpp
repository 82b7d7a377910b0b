#include "runtime/store/store_text.hpp"

#include <algorithm>

#include "flow/error.hpp"

namespace flow::store_detail {

namespace {

constexpr auto letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr auto scheme_characters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.";

/// As RFC 3986 has it; empty: there is none.
std::string_view scheme_of(std::string_view text)
{
    auto const colon = text.find(':');
    auto const end = text.find_first_not_of(scheme_characters);
    bool const begins = !text.empty() && std::string_view(letters).find(text.front()) != std::string_view::npos;
    return begins && colon != text.npos && end == colon ? text.substr(0, colon) : std::string_view{};
}

[[noreturn]] void refuse(std::string const& what) { throw error(errc::bad_argument, what); }

}  // namespace

store_text read_store_text(std::string_view text)
{
    if (text.empty()) refuse("the store has no name: say memory, sqlite:FILE or postgresql://USER@HOST/DATABASE");
    if (text == "memory") return {"memory", {}};
    if (text == "sqlite") refuse("sqlite says a kind of store but not which one: sqlite:FILE");
    if (text == "postgres" || text == "postgresql")
        refuse(std::string(text) + " says a kind of store but not which one: postgresql://USER@HOST/DATABASE");
    auto const scheme = scheme_of(text);
    if (scheme.empty()) return {"sqlite", std::string(text)};
    auto const rest = text.substr(scheme.size() + 1);
    if (scheme == "memory") refuse("nothing follows the word memory: such a store has no name and no file");
    if (scheme == "sqlite" && rest.empty()) refuse("sqlite: names no file: sqlite:FILE");
    // Other programs write sqlite:///FILE, and what two slashes mean differs between them.
    if (scheme == "sqlite" && rest.starts_with("//")) refuse("sqlite: takes a path as it is, without two slashes before it: sqlite:FILE");
    return {std::string(scheme), std::string(rest)};
}

std::string sqlite_text(std::string file)
{
    // Two slashes at the beginning mean what one does, but would be refused.
    while (file.starts_with("//")) file.erase(0, 1);
    return "sqlite:" + file;
}

std::string without_password(std::string text)
{
    auto const begin = text.find("://");
    if (begin == text.npos) return text;
    auto const end = text.find_first_of("/?", begin + 3);
    auto const at = text.rfind('@', end);
    auto const colon = text.find(':', begin + 3);
    if (at != text.npos && at > begin && colon < at) text.replace(colon + 1, at - colon - 1, "PASSWORD");
    for (std::string const name : {"?password=", "&password="})
        if (auto const from = text.find(name); from != text.npos) {
            auto const value = from + name.size();
            text.replace(value, std::min(text.find('&', value), text.size()) - value, "PASSWORD");
        }
    return text;
}

}  // namespace flow::store_detail
