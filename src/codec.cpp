#include "flow/codec.hpp"

namespace flow::detail {

void refuse_encoding(encoding how)
{
    throw error(errc::bad_payload, "a value of this type cannot be stored with the encoding '" + std::string(to_string(how)) +
                                       "': that is for strings and bytes");
}

void check_written(std::string const& out, std::size_t from)
{
    if (out.size() - from > max_payload)
        throw error(errc::bad_payload, "a value of " + std::to_string(out.size() - from) + " bytes cannot be stored: the limit is " +
                                           std::to_string(max_payload));
}

outcome<void> undecodable(reader const& r) { return error(errc::undecodable, r.message()); }

outcome<std::string> compact_json(std::string_view text)
{
    if (text.size() > max_payload)
        return error(errc::bad_payload, "longer than " + std::to_string(max_payload) + " bytes");
    reader r(text, false);
    if (!r.skip() || !r.finish()) return error(errc::bad_payload, "at offset " + std::to_string(r.offset()) + ": " + r.why());
    std::string out;
    out.reserve(text.size());
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        char const c = text[i];
        if (quoted && c == '\\') {
            out += c;
            out += text[++i];
            continue;
        }
        if (c == '"') quoted = !quoted;
        if (quoted || (c != ' ' && c != '\n' && c != '\r' && c != '\t')) out += c;
    }
    return out;
}

}  // namespace flow::detail
