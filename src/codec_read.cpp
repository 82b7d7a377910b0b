// The reader of both encodings, above the lexer: values, fields, and the words for what is wrong.
#include <algorithm>
#include <cstring>

#include "flow/detail/codec_io.hpp"
#include "src/names.hpp"

namespace flow::detail {

bool reader::fail(std::string why)
{
    if (why_.empty()) why_ = std::move(why);
    return false;
}

bool reader::at_part(std::string part)
{
    if (!path_.empty() && path_.front() != '[') part += '.';
    path_.insert(0, part);
    return false;
}

bool reader::within(std::size_t index) { return at_part('[' + std::to_string(index) + ']'); }
bool reader::within_field(std::string_view name) { return at_part(std::string(name)); }
bool reader::within_key(std::string_view key) { return at_part("[\"" + printable(key, 64) + "\"]"); }

std::string reader::message() const { return path_.empty() ? why_ : "at '" + path_ + "': " + why_; }

bool reader::down()
{
    if (++depth_ > max_depth) return fail("nested deeper than " + std::to_string(max_depth));
    return true;
}

bool reader::count(std::uint64_t& n)
{
    if (!natural(n, 8)) return false;
    return n <= left() || fail("counts more items than there are");
}

bool reader::raw(void* into, std::size_t size)
{
    if (left() < size) return fail("ends too early");
    if (size != 0) std::memcpy(into, at_, size);
    at_ += size;
    return true;
}

bool reader::finish()
{
    if (at_ == end_) return true;
    if (!binary_) space();
    return at_ == end_ || fail("more than one value");
}

bool reader::null()
{
    if (!binary_) return literal("null") || fail("expected null");
    std::uint64_t zero = 1;
    if (!natural(zero, 1)) return false;
    return zero == 0 || fail("expected nothing");
}

bool reader::boolean(bool& v)
{
    if (!binary_) {
        v = literal("true");
        return v || literal("false") || fail("expected true or false");
    }
    std::uint64_t byte = 0;
    if (!natural(byte, 1)) return false;
    v = byte == 1;
    return byte <= 1 || fail("expected true or false");
}

bool reader::text(std::string& v)
{
    if (binary_) return bytes(v);
    space();
    if (at_ != end_ && *at_ == '{') return dollar_bytes(v);
    return quoted(v);
}

bool reader::bytes(std::string& v)
{
    if (!binary_) {
        space();
        if (at_ == end_ || *at_ != '{') return fail(R"(expected {"$bytes":"base64"})");
        return dollar_bytes(v);
    }
    std::uint64_t n = 0;
    if (!natural(n, 8)) return false;
    if (n > left()) return fail("ends too early");
    v.assign(at_, static_cast<std::size_t>(n));
    at_ += n;
    return true;
}

bool reader::dollar_bytes(std::string& v)
{
    std::string_view word;
    if (!open('{')) return false;
    if (next('{', true) != step::item || !object_key(word) || word != "$bytes" || !quoted_view(word) ||
        !decode_base64(word, v))
        return fail(R"(expected a string or {"$bytes":"base64"})");
    return next('{', false) == step::end || fail(R"(expected a string or {"$bytes":"base64"})");
}

bool reader::key(std::string& v)
{
    if (binary_) return text(v);
    constexpr std::string_view of_bytes = "$bytes:";
    std::string_view k;
    if (!object_key(k)) return false;
    if (!k.starts_with(of_bytes)) {
        v.assign(k);
        return true;
    }
    return decode_base64(k.substr(of_bytes.size()), v) || fail("expected a key of base64 behind '$bytes:'");
}

bool reader::begin_optional(bool& present, bool wrapped)
{
    if (binary_) return boolean(present);
    present = !at_null();
    if (!present) return literal("null");
    return !wrapped || open('[');
}

bool reader::end_optional(bool wrapped)
{
    if (binary_ || !wrapped) return true;
    return next('[', false) == step::end || fail("expected an array of one");
}

bool reader::begin_variant(std::size_t& index, std::size_t alternatives)
{
    std::uint64_t i = 0;
    if (binary_) {
        if (!down() || !natural(i, 4)) return false;
    } else {
        std::string_view k;
        if (!open('{')) return false;
        if (next('{', true) != step::item) return fail(R"(expected {"i":value})");
        if (!object_key(k)) return false;
        for (char c : k) {
            if (c < '0' || c > '9' || i > alternatives) return fail("expected the number of an alternative");
            i = i * 10 + static_cast<unsigned>(c - '0');
        }
        if (k != std::to_string(i)) return fail("expected the number of an alternative");
    }
    index = static_cast<std::size_t>(i);
    return i < alternatives || fail("no such alternative");
}

bool reader::end_variant()
{
    if (!binary_) return next('{', false) == step::end || fail("expected one alternative only");
    up();
    return true;
}

bool reader::object(std::span<field_ops const> fields, void* const* at)
{
    if (!binary_) return object_json(fields, at);
    if (!down()) return false;
    for (std::size_t i = 0; i < fields.size(); ++i)
        if (!fields[i].read(*this, at[i])) return within_field(fields[i].name());
    if (fields.empty() && !null()) return false;
    up();
    return true;
}

// Fields in the order of their declaration, as they were written, cost one comparison each.
bool reader::object_json(std::span<field_ops const> fields, void* const* at)
{
    if (!open('{')) return false;
    std::size_t expected = 0;  // all fields before it have been read, in order
    bool first = true;
    while (expected < fields.size()) {
        auto key = fields[expected].key;
        if (first) key.remove_prefix(1);
        if (left() < key.size() || std::memcmp(at_, key.data(), key.size()) != 0) break;
        at_ += key.size();
        first = false;
        if (!fields[expected].read(*this, at[expected])) return within_field(fields[expected].name());
        ++expected;
    }
    if (expected == fields.size() && at_ != end_ && *at_ == '}') {
        ++at_;
        up();
        return true;
    }

    std::vector<bool> read_later;
    for (;; first = false) {
        auto const s = next('{', first);
        if (s == step::failed) return false;
        if (s == step::end) break;
        std::string_view name;
        if (!object_key(name)) return false;
        auto const field = std::ranges::find_if(fields, [&](auto const& f) { return f.name() == name; });
        if (field == fields.end()) {
            auto const gone = printable(name, 64);
            if (!skip()) return within_field(gone);
            continue;
        }
        auto const i = static_cast<std::size_t>(field - fields.begin());
        if (read_later.empty()) read_later.resize(fields.size());
        if (i < expected || read_later[i]) return fail("given twice"), within_field(field->name());
        if (!field->read(*this, at[i])) return within_field(field->name());
        read_later[i] = true;
    }
    for (std::size_t i = expected; i < fields.size(); ++i) {
        if (!read_later.empty() && read_later[i]) continue;
        if (!fields[i].reset) return fail("missing"), within_field(fields[i].name());
        fields[i].reset(at[i]);
    }
    return true;
}

bool items::begin()
{
    if (r_.binary()) return ok_ = r_.down() && r_.count(left_);
    return ok_ = r_.open(bracket_);
}

bool items::begin_fixed(std::size_t n)
{
    left_ = n;
    if (!r_.binary()) return ok_ = r_.open(bracket_);
    return ok_ = r_.down() && (n != 0 || r_.null());
}

bool items::next()
{
    if (ended_) return false;
    if (r_.binary()) {
        if (left_ == 0) {
            r_.up();
            ended_ = true;
            return false;
        }
        --left_;
        ++index_;
        return true;
    }
    auto const s = r_.next(bracket_, index_ == 0);
    ok_ = s != reader::step::failed;
    ended_ = s != reader::step::item;
    if (ended_) return false;
    ++index_;
    return true;
}

bool items::end_fixed()
{
    auto const wanted = r_.binary() ? index_ : static_cast<std::size_t>(left_);
    bool const more = ok_ && index_ == wanted && next();
    if (!ok_) return false;
    return (!more && index_ == wanted) || r_.fail("expected an array of " + std::to_string(wanted));
}

}  // namespace flow::detail
