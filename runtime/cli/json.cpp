#include "runtime/cli/json.hpp"

#include "flow/codec.hpp"

namespace flow::cli {

namespace {

std::string bytes(std::string_view value)
{
    std::string out = R"({"$bytes":")";
    detail::append_base64(out, value);
    return out += "\"}";
}

}  // namespace

std::string json_text(std::string_view text)
{
    if (!detail::valid_utf8(text)) return bytes(text);
    std::string out;
    detail::append_json_string(out, text);
    return out;
}

std::string json_list(std::vector<std::string> const& items)
{
    std::string out = "[";
    for (auto const& item : items) {
        if (out.size() > 1) out += ',';
        out += item;
    }
    return out += ']';
}

std::string json_payload(encoding how, std::string_view payload)
{
    if (payload.empty()) return how == encoding::bytes ? bytes(payload) : "null";
    if (how == encoding::json)
        if (auto text = detail::compact_json(payload)) return *std::move(text);
    return bytes(payload);
}

json_object& json_object::raw(std::string_view name, std::string_view json)
{
    if (!members_.empty()) members_ += ',';
    detail::append_json_string(members_, name);
    members_ += ':';
    members_ += json.empty() ? "null" : json;
    return *this;
}

json_object& json_object::text(std::string_view name, std::string_view value) { return raw(name, json_text(value)); }
json_object& json_object::number(std::string_view name, std::int64_t value) { return raw(name, std::to_string(value)); }
json_object& json_object::yes_no(std::string_view name, bool value) { return raw(name, value ? "true" : "false"); }

json_object& json_object::time(std::string_view name, time_point value)
{
    if (value == never || value == time_point{}) return raw(name, "null");
    return text(name, to_string(value));
}

std::string without_terminal_codes(std::string_view json)
{
    constexpr std::string_view hex = "0123456789abcdef";
    std::string out;
    out.reserve(json.size());
    auto const escape = [&](unsigned code) {
        out += "\\u";
        for (int shift = 12; shift >= 0; shift -= 4) out += hex[code >> shift & 15u];
    };
    for (std::size_t i = 0; i < json.size(); ++i) {
        auto const at = [&](std::size_t k) { return k < json.size() ? static_cast<unsigned char>(json[k]) : 0u; };
        unsigned const c = at(i), c1 = at(i + 1), c2 = at(i + 2);
        // Of the same characters names.cpp escapes: DEL, C1, line separators, what turns the direction of writing.
        bool const turns = c == 0xE2 && ((c1 == 0x80 && c2 >= 0xA8 && c2 <= 0xAE) || (c1 == 0x81 && c2 >= 0xA6 && c2 <= 0xA9));
        if (c == 0x7F) escape(c);
        else if (c == 0xC2 && c1 < 0xA0) escape(c1), i += 1;
        else if (turns) escape((c & 15u) << 12 | (c1 & 63u) << 6 | (c2 & 63u)), i += 2;
        else out += json[i];
    }
    return out;
}

}  // namespace flow::cli
