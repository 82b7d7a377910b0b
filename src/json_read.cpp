// The reader's lexer: JSON, strictly by RFC 8259, over a text that ends anywhere.
#include <charconv>
#include <cstring>
#include <limits>

#include "flow/detail/codec_io.hpp"

namespace flow::detail {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }

void append_utf8(std::string& out, unsigned c)
{
    auto const byte = [&](unsigned b) { out += static_cast<char>(b); };
    if (c < 0x80) return byte(c);
    if (c < 0x800) return byte(0xC0 | c >> 6), byte(0x80 | (c & 63));
    if (c < 0x10000) return byte(0xE0 | c >> 12), byte(0x80 | (c >> 6 & 63)), byte(0x80 | (c & 63));
    byte(0xF0 | c >> 18), byte(0x80 | (c >> 12 & 63)), byte(0x80 | (c >> 6 & 63)), byte(0x80 | (c & 63));
}

}  // namespace

void reader::space()
{
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
}

bool reader::literal(std::string_view word)
{
    space();
    if (left() < word.size() || std::memcmp(at_, word.data(), word.size()) != 0) return false;
    at_ += word.size();
    return true;
}

bool reader::at_text()
{
    if (binary_) return false;
    space();
    return at_ != end_ && *at_ == '"';
}

bool reader::at_null()
{
    space();
    return left() >= 4 && std::memcmp(at_, "null", 4) == 0;
}

// The number's own text, [at_, end), by JSON's grammar: from_chars would accept more.
bool reader::number(char const*& end, bool& whole)
{
    space();
    auto const digits = [this](char const* p) {
        while (p != end_ && digit(*p)) ++p;
        return p;
    };
    auto p = at_;
    whole = true;
    if (p != end_ && *p == '-') ++p;
    if (p == end_ || !digit(*p)) return fail("expected a number");
    p = *p == '0' ? p + 1 : digits(p);
    if (p != end_ && *p == '.') {
        whole = false;
        auto const from = ++p;
        p = digits(p);
        if (p == from) return fail("expected a number");
    }
    if (p != end_ && (*p == 'e' || *p == 'E')) {
        whole = false;
        ++p;
        if (p != end_ && (*p == '+' || *p == '-')) ++p;
        auto const from = p;
        p = digits(p);
        if (p == from) return fail("expected a number");
    }
    if (p != end_ && digit(*p)) return fail("expected a number without leading zeros");
    end = p;
    return true;
}

bool reader::integer(std::int64_t& v, unsigned width)
{
    if (binary_) {
        std::uint64_t bits = 0;
        if (!natural(bits, width)) return false;
        auto const shift = 64 - 8 * width;
        v = static_cast<std::int64_t>(bits << shift) >> shift;
        return true;
    }
    char const* end = nullptr;
    bool whole = false;
    if (!number(end, whole)) return false;
    if (!whole) return fail("expected a whole number");
    if (std::from_chars(at_, end, v).ec != std::errc{}) return fail("the number does not fit");
    auto const most = std::numeric_limits<std::int64_t>::max() >> (64 - 8 * width);
    if (v > most || v < -most - 1) return fail("the number does not fit");
    at_ = end;
    return true;
}

bool reader::natural(std::uint64_t& v, unsigned width)
{
    if (binary_) {
        if (left() < width) return fail("ends too early");
        v = 0;
        for (unsigned i = 0; i < width; ++i) v |= std::uint64_t{static_cast<unsigned char>(at_[i])} << 8 * i;
        at_ += width;
        return true;
    }
    char const* end = nullptr;
    bool whole = false;
    if (!number(end, whole)) return false;
    if (!whole) return fail("expected a whole number");
    // "-0" is a zero that from_chars refuses for unsigned types.
    if (std::string_view(at_, end) == "-0")
        v = 0;
    else if (std::from_chars(at_, end, v).ec != std::errc{})
        return fail("the number does not fit");
    if (v > std::numeric_limits<std::uint64_t>::max() >> (64 - 8 * width)) return fail("the number does not fit");
    at_ = end;
    return true;
}

template <class Real>
bool reader::read_real(Real& v)
{
    if (at_text()) {
        std::string_view word;
        if (!quoted_view(word)) return false;
        using limits = std::numeric_limits<Real>;
        if (word == "nan")
            v = limits::quiet_NaN();
        else if (word == "inf")
            v = limits::infinity();
        else if (word == "-inf")
            v = -limits::infinity();
        else
            return fail("expected a number");
        return true;
    }
    char const* end = nullptr;
    bool whole = false;
    if (!number(end, whole)) return false;
    if (std::from_chars(at_, end, v).ec != std::errc{}) return fail("the number does not fit");
    at_ = end;
    return true;
}

bool reader::real(double& v)
{
    if (!binary_) return read_real(v);
    std::uint64_t bits = 0;
    if (!natural(bits, 8)) return false;
    std::memcpy(&v, &bits, sizeof v);
    return true;
}

bool reader::real(float& v)
{
    if (!binary_) return read_real(v);
    std::uint64_t bits = 0;
    if (!natural(bits, 4)) return false;
    auto const half = static_cast<std::uint32_t>(bits);
    std::memcpy(&v, &half, sizeof v);
    return true;
}

bool reader::hex4(unsigned& v)
{
    if (left() < 4) return fail("the text ends within an escape");
    auto const end = std::from_chars(at_, at_ + 4, v, 16).ptr;
    if (end != at_ + 4) return fail("expected four hexadecimal digits");
    at_ = end;
    return true;
}

bool reader::escape(std::string& into)
{
    if (at_ == end_) return fail("the text ends within an escape");
    switch (char const c = *at_++; c) {
        case '"':
        case '\\':
        case '/': into += c; return true;
        case 'n': into += '\n'; return true;
        case 'r': into += '\r'; return true;
        case 't': into += '\t'; return true;
        case 'b': into += '\b'; return true;
        case 'f': into += '\f'; return true;
        case 'u': break;
        default: --at_; return fail("unknown escape");
    }
    unsigned c = 0;
    if (!hex4(c)) return false;
    if (c >= 0xDC00 && c < 0xE000) return fail("half a surrogate pair");
    if (c >= 0xD800 && c < 0xDC00) {
        unsigned low = 0;
        if (left() < 2 || at_[0] != '\\' || at_[1] != 'u') return fail("half a surrogate pair");
        at_ += 2;
        if (!hex4(low) || low < 0xDC00 || low > 0xDFFF) return fail("half a surrogate pair");
        c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
    }
    append_utf8(into, c);
    return true;
}

// A string without escapes is seen where it lies, one with escapes in scratch_.
bool reader::quoted_view(std::string_view& v)
{
    if (!at_text()) return fail("expected a string");
    auto const from = ++at_;
    bool ascii = true, escaped = false;
    for (; at_ != end_ && *at_ != '"'; ++at_) {
        auto const c = static_cast<unsigned char>(*at_);
        if (c < 0x20) return fail("a control character in a string");
        ascii = ascii && c < 0x80;
        if (c != '\\') continue;
        if (!escaped) scratch_.assign(from, at_);
        escaped = true;
        break;
    }
    while (escaped && at_ != end_ && *at_ != '"') {
        auto const c = static_cast<unsigned char>(*at_);
        if (c < 0x20) return fail("a control character in a string");
        ++at_;
        if (c != '\\')
            scratch_ += static_cast<char>(c);
        else if (!escape(scratch_))
            return false;
    }
    if (at_ == end_) return fail("the text ends within a string");
    v = escaped ? std::string_view(scratch_) : std::string_view(from, at_);
    ++at_;
    if ((!ascii || escaped) && !valid_utf8(v)) return fail("a string that is not UTF-8");
    return true;
}

bool reader::quoted(std::string& into)
{
    std::string_view v;
    if (!quoted_view(v)) return false;
    into.assign(v);
    return true;
}

bool reader::object_key(std::string_view& k)
{
    space();
    if (at_ == end_ || *at_ != '"') return fail("expected a field's name");
    if (!quoted_view(k)) return false;
    space();
    if (at_ == end_ || *at_ != ':') return fail("expected ':'");
    ++at_;
    return true;
}

bool reader::open(char bracket)
{
    space();
    if (at_ == end_ || *at_ != bracket) return fail(bracket == '[' ? "expected an array" : "expected an object");
    ++at_;
    return down();
}

reader::step reader::next(char bracket, bool first)
{
    space();
    char const close = bracket == '[' ? ']' : '}';
    if (at_ == end_) return fail("the text ends too early"), step::failed;
    if (*at_ == close) {
        ++at_;
        up();
        return step::end;
    }
    if (first) return step::item;
    if (*at_ != ',') return fail(close == ']' ? "expected ',' or ']'" : "expected ',' or '}'"), step::failed;
    ++at_;
    return step::item;
}

bool reader::skip()
{
    space();
    if (at_ == end_) return fail("the text ends too early");
    std::string_view text;
    switch (char const c = *at_; c) {
        case '"': return quoted_view(text);
        case '[':
        case '{': {
            if (!open(c)) return false;
            for (bool first = true;; first = false) {
                auto const s = next(c, first);
                if (s != step::item) return s == step::end;
                if (c == '{' && !object_key(text)) return false;
                if (!skip()) return false;
            }
        }
        case 't': return literal("true") || fail("expected a value");
        case 'f': return literal("false") || fail("expected a value");
        case 'n': return literal("null") || fail("expected a value");
        default: break;
    }
    if (*at_ != '-' && !digit(*at_)) return fail("expected a value");
    bool whole = false;
    char const* end = nullptr;
    if (!number(end, whole)) return false;
    at_ = end;
    return true;
}

}  // namespace flow::detail
