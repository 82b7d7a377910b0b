// postgresql://…?schema=NAME&lease=SECONDS&key_file=FILE: what is flow's is taken out, the rest is libpq's.
#include <charconv>
#include <optional>

#include "flow/error.hpp"
#include "flow/open_store.hpp"
#include "flow/postgres.hpp"

namespace flow {

namespace {

[[noreturn]] void refuse(std::string const& what) { throw error(errc::bad_argument, what); }

std::optional<unsigned char> hex_byte(std::string_view digits)
{
    unsigned value = 0;
    auto const read = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (digits.size() != 2 || read.ptr != digits.data() + 2) return std::nullopt;
    return static_cast<unsigned char>(value);
}

std::string decoded(std::string_view name, std::string_view text)
{
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out += text[i];
            continue;
        }
        auto const byte = hex_byte(text.substr(i + 1, 2));
        if (!byte) refuse("behind % in " + std::string(name) + " there must be two hexadecimal digits");
        out += static_cast<char>(*byte);
        i += 2;
    }
    return out;
}

/// True: it is one of flow's.
bool take(postgres_options& into, std::string_view name, std::string_view text)
{
    if (name != "schema" && name != "lease" && name != "key_file") return false;
    auto const value = decoded(name, text);
    if (value.empty()) refuse(std::string(name) + " in the store's text is empty");
    if (name == "schema") into.schema = value;
    if (name == "key_file") into.key_file = value;
    if (name == "lease") {
        int seconds = 0;
        auto const read = std::from_chars(value.data(), value.data() + value.size(), seconds);
        if (read.ec != std::errc{} || read.ptr != value.data() + value.size() || seconds < 1 || seconds > 86'400)
            refuse("lease in the store's text is a number of seconds, 1 to 86400");
        into.lease = std::chrono::seconds{seconds};
        into.renew_every = into.lease / 3;
    }
    return true;
}

store_ptr open_text(std::string const& text, open_store_options const& options)
{
    if (text.find("://") == text.npos) refuse("a PostgreSQL store is named by a URI: postgresql://USER@HOST/DATABASE");
    postgres_options o;
    o.must_exist = options.must_exist;
    auto const question = text.find('?');
    auto connection = text.substr(0, question);
    std::string_view left = question == text.npos ? std::string_view{} : std::string_view(text).substr(question + 1);
    char separator = '?';
    while (!left.empty()) {
        auto const part = left.substr(0, left.find('&'));
        left.remove_prefix(std::min(part.size() + 1, left.size()));
        auto const equals = std::min(part.find('='), part.size());
        if (take(o, part.substr(0, equals), part.substr(std::min(equals + 1, part.size())))) continue;
        connection += separator + std::string(part);
        separator = '&';
    }
    return postgres(std::move(connection), std::move(o));
}

}  // namespace

void use_postgres()
{
    add_store_kind("postgresql", open_text);
    add_store_kind("postgres", open_text);
}

}  // namespace flow
