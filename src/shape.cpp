// Shapes of aggregates and enums (docs/reference/shapes.md).
#include <algorithm>

#include "flow/detail/codec_io.hpp"
#include "flow/detail/enum_names.hpp"

namespace flow::detail {
namespace {

bool in_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
           static_cast<unsigned char>(c) >= 0x80;
}

/// The name that one value's text ends in; "" for a value without one: `(ns::colour)-2`.
std::string_view name_in(std::string_view text)
{
    auto from = text.size();
    while (from != 0 && in_name(text[from - 1])) --from;
    text.remove_prefix(from);
    if (text.empty() || (text.front() >= '0' && text.front() <= '9')) return {};
    return text;
}

/// The compilers' text of a pack, `Values = {a, b, (e)2}` or `Values = <a, b, (e)2>`, value by value.
std::vector<std::string_view> names_in(std::string_view pretty)
{
    constexpr std::string_view before = "Values = ";
    pretty.remove_prefix(pretty.rfind(before) + before.size() + 1);
    std::vector<std::string_view> names;
    int depth = 0;
    std::size_t from = 0;
    for (std::size_t i = 0; i < pretty.size(); ++i) {
        char const c = pretty[i];
        bool const last = depth == 0 && (c == '}' || c == '>');
        if ((c == ',' && depth == 0) || last) {
            names.push_back(name_in(pretty.substr(from, i - from)));
            from = i + 1;
        }
        if (last) break;
        if (c == '(' || c == '<' || c == '{' || c == '[') ++depth;
        if (c == ')' || c == '>' || c == '}' || c == ']') --depth;
    }
    return names;
}

}  // namespace

void shape_writer::object(void const* type, std::span<field_ops const> fields)
{
    if (auto const around = std::find(open_.rbegin(), open_.rend(), type); around != open_.rend()) {
        out += '^' + std::to_string(around - open_.rbegin() + 1);
        return;
    }
    open_.push_back(type);
    out += '{';
    for (bool first = true; auto const& field : fields) {
        if (!std::exchange(first, false)) out += ',';
        out += field.name();
        out += ':';
        field.shape(*this);
    }
    out += '}';
    open_.pop_back();
}

enum_names::enum_names(std::string_view pretty, std::int64_t first) : first_(first), by_value_(names_in(pretty))
{
    for (auto value = first; auto const name : by_value_) {
        if (!name.empty()) named_.emplace_back(value, name);
        ++value;
    }
}

std::string_view enum_names::name(std::int64_t value) const noexcept
{
    if (value < first_ || value - first_ >= static_cast<std::int64_t>(by_value_.size())) return {};
    return by_value_[static_cast<std::size_t>(value - first_)];
}

std::optional<std::int64_t> enum_names::value(std::string_view name) const noexcept
{
    for (auto const& [value, its_name] : named_)
        if (its_name == name) return value;
    return std::nullopt;
}

std::string enum_names::shape() const
{
    std::string out = "<";
    std::int64_t next = 0;
    for (auto const& [value, name] : named_) {
        if (out.size() > 1) out += '|';
        out += name;
        if (value != next) out += '=' + std::to_string(value);
        next = value + 1;
    }
    return out + '>';
}

bool enum_names::holds(std::int64_t value) const noexcept
{
    std::int64_t low = 0, high = 1;
    for (auto const& [its_value, name] : named_) {
        while (its_value > high) high = 2 * high + 1;
        while (its_value < low) low = low == 0 ? -1 : 2 * low;
    }
    // A negative enumerator makes the bit-field a signed one, symmetric but for one value.
    if (low != 0) low = std::min(low, -high - 1), high = std::max(high, -low - 1);
    return value >= low && value <= high;
}

}  // namespace flow::detail
