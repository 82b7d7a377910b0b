// What writes and reads the pieces of a payload; the templates of codec_*.hpp only say in which order.
//
// One walk serves both encodings: a `writer` or `reader` knows which one it speaks. Formats:
// docs/reference/payloads.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flow/error.hpp"

#pragma GCC visibility push(default)

namespace flow::detail {

/// Arrays and objects within each other, at most; more is refused when writing as well, so all that is stored can be
/// read.
inline constexpr unsigned max_depth = 64;

/// Bytes of one encoded value, at most. Stores have lower limits of their own.
inline constexpr std::size_t max_payload = std::size_t{1} << 30;

class shape_writer;
class writer;
class reader;

/// One field of an aggregate, its type forgotten.
struct field_ops {
    std::string_view key;  ///< `,"name":`, as it stands between two fields
    void (*write)(writer&, void const*);
    bool (*read)(reader&, void*);
    void (*reset)(void*);  ///< makes it empty; null where the field must be there
    void (*shape)(shape_writer&);

    constexpr std::string_view name() const { return key.substr(2, key.size() - 4); }
};

/// Appends to a text. Every call throws flow::error(bad_payload) if the value cannot be written.
class writer {
public:
    writer(std::string& out, bool binary) : out_(out), binary_(binary) {}
    /// Writes a part of what `around` writes into a text of its own.
    writer(std::string& out, writer const& around) : out_(out), depth_(around.depth_), binary_(around.binary_) {}
    writer(writer const&) = delete;
    writer& operator=(writer const&) = delete;

    bool binary() const noexcept { return binary_; }
    std::string& out() noexcept { return out_; }

    void null();
    void boolean(bool v);
    void integer(std::int64_t v, unsigned width);
    void natural(std::uint64_t v, unsigned width);
    void real(double v);
    void real(float v);
    void text(std::string_view v);
    void bytes(std::string_view v);
    /// The key of a map with string keys.
    void key(std::string_view v);

    /// A sequence of `size` items, each announced by `item`; `fixed`: the type says how many.
    void begin_array(std::size_t size, bool fixed);
    void end_array();
    void begin_map(std::size_t size);
    void end_map();
    void item()
    {
        if (!binary_) comma();
    }

    /// Is there a value? `wrapped`: the value may itself be written as null, so it stands in an array of one.
    void begin_optional(bool present, bool wrapped);
    void end_optional(bool wrapped);

    void begin_variant(std::size_t index);
    void end_variant();

    void object(std::span<field_ops const> fields, void const* const* at);

    /// Items of containers without an order are sorted by their text: equal values have equal payloads.
    void sorted_items(std::vector<std::string>& items);

    void raw(void const* data, std::size_t size) { out_.append(static_cast<char const*>(data), size); }

private:
    void comma();
    void down();
    void up() { --depth_; }

    std::string& out_;
    unsigned depth_ = 0;
    bool binary_;
    bool first_ = true;
};

/// Reads from a text it does not own. Every call answers false after it has noted what was wrong; then nothing more is
/// read.
class reader {
public:
    reader(std::string_view text, bool binary)
        : at_(text.data()), end_(text.data() + text.size()), begin_(text.data()), binary_(binary)
    {
    }
    reader(reader const&) = delete;
    reader& operator=(reader const&) = delete;

    bool binary() const noexcept { return binary_; }

    bool null();
    bool boolean(bool& v);
    bool integer(std::int64_t& v, unsigned width);
    bool natural(std::uint64_t& v, unsigned width);
    bool real(double& v);
    bool real(float& v);
    bool text(std::string& v);
    bool bytes(std::string& v);
    bool key(std::string& v);
    /// A JSON string follows.
    bool at_text();
    /// The JSON value `null` follows; it stays where it is.
    bool at_null();

    bool object(std::span<field_ops const> fields, void* const* at);
    bool begin_optional(bool& present, bool wrapped);
    bool end_optional(bool wrapped);
    bool begin_variant(std::size_t& index, std::size_t alternatives);
    bool end_variant();

    bool open(char bracket);
    enum class step { item, end, failed };
    step next(char bracket, bool first);
    /// A JSON object's key and its colon; the view holds until the next call.
    bool object_key(std::string_view& k);
    /// Any JSON value, looked at for errors only.
    bool skip();
    /// Only white space may follow.
    bool finish();

    /// Entering and leaving what may contain itself, so that no payload can overflow the stack.
    bool down();
    void up() { --depth_; }
    /// How many items follow (binary); never more than there are bytes left, so memory stays in proportion to the text.
    bool count(std::uint64_t& n);
    bool raw(void* into, std::size_t size);
    std::size_t left() const noexcept { return static_cast<std::size_t>(end_ - at_); }

    bool fail(std::string why);
    /// Called on the way out of a failure, from the inside to the outside.
    bool within(std::size_t index);
    bool within_field(std::string_view name);
    bool within_key(std::string_view key);

    /// "at 'lines[1].price': expected a number".
    std::string message() const;
    std::size_t offset() const noexcept { return static_cast<std::size_t>(at_ - begin_); }
    std::string const& why() const noexcept { return why_; }

private:
    void space();
    bool literal(std::string_view word);
    bool number(char const*& end, bool& whole);
    bool quoted(std::string& into);
    bool quoted_view(std::string_view& v);
    bool escape(std::string& into);
    bool hex4(unsigned& v);
    bool dollar_bytes(std::string& v);
    template <class Real>
    bool read_real(Real& v);
    bool at_part(std::string part);
    bool object_json(std::span<field_ops const> fields, void* const* at);

    char const* at_;
    char const* end_;
    char const* begin_;
    unsigned depth_ = 0;
    bool binary_;
    std::string scratch_;
    std::string why_;
    std::string path_;
};

/// Steps through an array, a map or, in binary, a counted sequence.
class items {
public:
    items(reader& r, char bracket) : r_(r), bracket_(bracket) {}
    bool begin();
    /// The type says how many: in binary no count stands before them.
    bool begin_fixed(std::size_t n);
    /// Is there another? Ask `ok()` after the last.
    bool next();
    bool ok() const noexcept { return ok_; }
    /// After `begin_fixed`: as many as there should be, and no more.
    bool end_fixed();
    std::size_t index() const noexcept { return index_ - 1; }

    /// Binary: how many are left, and to take them all at once.
    std::uint64_t remaining() const noexcept { return left_; }
    void take_all() noexcept
    {
        left_ = 0;
        next();
    }

private:
    reader& r_;
    char bracket_;
    bool ok_ = true;
    bool ended_ = false;
    std::size_t index_ = 0;
    std::uint64_t left_ = 0;
};

/// Puts a shape together (docs/reference/shapes.md).
class shape_writer {
public:
    std::string out;

    void object(void const* type, std::span<field_ops const> fields);

private:
    std::vector<void const*> open_;
};

/// Is it well-formed UTF-8: no surrogates, no overlong forms, nothing above U+10FFFF?
bool valid_utf8(std::string_view s) noexcept;
void append_base64(std::string& out, std::string_view bytes);
bool decode_base64(std::string_view text, std::string& into);
/// `s` as a JSON string, quotes included; it must be UTF-8.
void append_json_string(std::string& out, std::string_view s);

}  // namespace flow::detail

#pragma GCC visibility pop
