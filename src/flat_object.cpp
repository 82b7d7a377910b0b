#include "src/flat_object.hpp"

#include <charconv>

namespace flow::detail {

std::string quoted(std::string_view value)
{
    static constexpr char hex[] = "0123456789abcdef";
    std::string out = "\"";
    for (char const c : value) {
        auto const byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\')
            out += '\\', out += c;
        else if (byte < 0x20)
            out += "\\u00", out += hex[byte >> 4], out += hex[byte & 15];
        else
            out += c;
    }
    return out += '"';
}

void flat_object::name(std::string_view name)
{
    if (!members_.empty()) members_ += ',';
    members_ += quoted(name);
    members_ += ':';
}

flat_object& flat_object::text(std::string_view n, std::string_view value)
{
    name(n);
    members_ += quoted(value);
    return *this;
}

flat_object& flat_object::number(std::string_view n, std::int64_t value)
{
    name(n);
    members_ += std::to_string(value);
    return *this;
}

flat_object& flat_object::raw(std::string_view n, std::string_view json)
{
    name(n);
    members_ += json;
    return *this;
}

namespace {

struct text_reader {
    std::string_view in;
    std::size_t at = 0;

    void spaces()
    {
        while (at < in.size() && (in[at] == ' ' || in[at] == '\n' || in[at] == '\t' || in[at] == '\r')) ++at;
    }
    bool take(char c)
    {
        spaces();
        if (at >= in.size() || in[at] != c) return false;
        ++at;
        return true;
    }
    void append_utf8(std::string& out, unsigned code)
    {
        if (code < 0x80) {
            out += static_cast<char>(code);
        } else if (code < 0x800) {
            out += static_cast<char>(0xc0 | (code >> 6));
            out += static_cast<char>(0x80 | (code & 0x3f));
        } else {
            out += static_cast<char>(0xe0 | (code >> 12));
            out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
            out += static_cast<char>(0x80 | (code & 0x3f));
        }
    }
    bool escape(std::string& out)
    {
        if (at >= in.size()) return false;
        switch (char const c = in[at++]) {
        case 'n': out += '\n'; return true;
        case 't': out += '\t'; return true;
        case 'r': out += '\r'; return true;
        case 'b': out += '\b'; return true;
        case 'f': out += '\f'; return true;
        case 'u': {
            unsigned code = 0;
            if (at + 4 > in.size()) return false;
            auto const end = in.data() + at + 4;
            if (std::from_chars(in.data() + at, end, code, 16).ptr != end) return false;
            at += 4;
            append_utf8(out, code);
            return true;
        }
        default: out += c; return c == '"' || c == '\\' || c == '/';
        }
    }
    std::optional<std::string> string()
    {
        if (!take('"')) return std::nullopt;
        std::string out;
        while (at < in.size() && in[at] != '"') {
            if (in[at] != '\\')
                out += in[at++];
            else if (++at; !escape(out))
                return std::nullopt;
        }
        if (at >= in.size()) return std::nullopt;
        ++at;
        return out;
    }
    /// A number, a word, or an object or list with all it holds.
    std::optional<std::string> other()
    {
        auto const begin = at;
        int depth = 0;
        for (; at < in.size(); ++at) {
            char const c = in[at];
            if (c == '"') {
                if (!string()) return std::nullopt;
                --at;
            } else if (c == '{' || c == '[') {
                ++depth;
            } else if (depth == 0 && (c == ',' || c == '}')) {
                break;
            } else if (c == '}' || c == ']') {
                --depth;
            }
        }
        if (at == begin || depth != 0) return std::nullopt;
        return std::string(in.substr(begin, at - begin));
    }
};

}  // namespace

std::optional<std::map<std::string, std::string, std::less<>>> read_flat_object(std::string_view json)
{
    std::map<std::string, std::string, std::less<>> out;
    text_reader r{json};
    if (!r.take('{')) return std::nullopt;
    if (!r.take('}')) {
        do {
            auto name = r.string();
            if (!name || !r.take(':')) return std::nullopt;
            r.spaces();
            auto value = r.at < json.size() && json[r.at] == '"' ? r.string() : r.other();
            if (!value) return std::nullopt;
            out[std::move(*name)] = std::move(*value);
        } while (r.take(','));
        if (!r.take('}')) return std::nullopt;
    }
    r.spaces();
    if (r.at != json.size()) return std::nullopt;
    return out;
}

}  // namespace flow::detail
