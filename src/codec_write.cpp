// The writer of both encodings.
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "flow/detail/codec_io.hpp"

namespace flow::detail {
namespace {

// Map keys that are no UTF-8, or could be taken for such: JSON has no other place for them.
constexpr std::string_view key_of_bytes = "$bytes:";

template <class T>
void append_number(std::string& out, T v)
{
    std::array<char, 32> text;
    auto const end = std::to_chars(text.data(), text.data() + text.size(), v).ptr;
    out.append(text.data(), end);
}

void append_little_endian(std::string& out, std::uint64_t v, unsigned width)
{
    std::array<char, 8> bytes;
    for (unsigned i = 0; i < width; ++i) bytes[i] = static_cast<char>(v >> 8 * i & 0xFF);
    out.append(bytes.data(), width);
}

template <class Real>
void append_real(std::string& out, Real v)
{
    // Whole numbers as such: a tenth of the time, and `100000` reads better than `1e+05`. A negative zero is none.
    constexpr Real exact = Real(std::int64_t{1} << std::numeric_limits<Real>::digits);
    if (v > -exact && v < exact && v == std::trunc(v) && (v != 0 || !std::signbit(v)))
        return append_number(out, static_cast<std::int64_t>(v));
    if (std::isfinite(v)) return append_number(out, v);
    out += std::isnan(v) ? R"("nan")" : v > 0 ? R"("inf")" : R"("-inf")";
}

}  // namespace

void writer::comma()
{
    if (!first_) out_ += ',';
    first_ = false;
}

void writer::down()
{
    if (++depth_ > max_depth)
        throw error(errc::bad_payload, "a value nested deeper than " + std::to_string(max_depth) + " cannot be stored");
}

void writer::null()
{
    if (binary_)
        out_ += '\0';
    else
        out_ += "null";
}

void writer::boolean(bool v)
{
    if (binary_)
        out_ += v ? '\1' : '\0';
    else
        out_ += v ? "true" : "false";
}

void writer::integer(std::int64_t v, unsigned width)
{
    if (binary_) return append_little_endian(out_, static_cast<std::uint64_t>(v), width);
    append_number(out_, v);
}

void writer::natural(std::uint64_t v, unsigned width)
{
    if (binary_) return append_little_endian(out_, v, width);
    append_number(out_, v);
}

void writer::real(double v)
{
    if (binary_) return append_little_endian(out_, std::bit_cast<std::uint64_t>(v), 8);
    append_real(out_, v);
}

void writer::real(float v)
{
    if (binary_) return append_little_endian(out_, std::bit_cast<std::uint32_t>(v), 4);
    append_real(out_, v);
}

void writer::text(std::string_view v)
{
    if (binary_ || !valid_utf8(v)) return bytes(v);
    append_json_string(out_, v);
}

void writer::bytes(std::string_view v)
{
    if (binary_) {
        append_little_endian(out_, v.size(), 8);
        out_ += v;
        return;
    }
    out_ += R"({"$bytes":")";
    append_base64(out_, v);
    out_ += R"("})";
}

void writer::key(std::string_view v)
{
    if (binary_) return text(v);
    if (valid_utf8(v) && !v.starts_with(key_of_bytes)) {
        append_json_string(out_, v);
    } else {
        out_ += '"';
        out_ += key_of_bytes;
        append_base64(out_, v);
        out_ += '"';
    }
    out_ += ':';
}

// In binary every value has at least one byte, so a count can be checked against what is left to read.
void writer::begin_array(std::size_t size, bool fixed)
{
    down();
    if (!binary_) {
        out_ += '[';
        first_ = true;
    } else if (!fixed) {
        append_little_endian(out_, size, 8);
    } else if (size == 0) {
        out_ += '\0';
    }
}

void writer::end_array()
{
    up();
    first_ = false;
    if (!binary_) out_ += ']';
}

void writer::begin_map(std::size_t size)
{
    begin_array(size, false);
    if (!binary_) out_.back() = '{';
}

void writer::end_map()
{
    end_array();
    if (!binary_) out_.back() = '}';
}

void writer::begin_optional(bool present, bool wrapped)
{
    if (binary_)
        out_ += present ? '\1' : '\0';
    else if (!present)
        out_ += "null";
    else if (wrapped)
        begin_array(1, true), first_ = false;
}

void writer::end_optional(bool wrapped)
{
    if (!binary_ && wrapped) end_array();
}

void writer::begin_variant(std::size_t index)
{
    down();
    if (binary_) return append_little_endian(out_, index, 4);
    out_ += "{\"";
    append_number(out_, index);
    out_ += "\":";
}

void writer::end_variant()
{
    up();
    if (!binary_) out_ += '}';
}

void writer::object(std::span<field_ops const> fields, void const* const* at)
{
    down();
    if (binary_) {
        for (auto const& field : fields) field.write(*this, *at++);
        if (fields.empty()) out_ += '\0';
        return up();
    }
    if (fields.empty()) out_ += '{';
    bool first = true;
    for (auto const& field : fields) {
        if (first) {
            auto const begin = out_.size();
            out_ += field.key;
            out_[begin] = '{';
            first = false;
        } else {
            out_ += field.key;
        }
        field.write(*this, *at++);
    }
    out_ += '}';
    up();
}

void writer::sorted_items(std::vector<std::string>& items)
{
    std::sort(items.begin(), items.end());
    for (auto const& text : items) {
        item();
        out_ += text;
    }
}

}  // namespace flow::detail
