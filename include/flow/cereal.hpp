// Include this where values of classes with cereal's `serialize`, or `save` and `load`, are stored.
//
// A class that is no plain aggregate, or has fields that cannot be stored, is stored as what cereal makes of it:
// portable binary, base64 in JSON, shape `opaque`. Nothing outside can read it, and when its layout changes, old
// payloads cannot be read: prefer plain structs. It is a header of its own because cereal's costs half a second for
// each file.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <cereal/cereal.hpp>

#include "flow/codec.hpp"

#pragma GCC visibility push(default)

namespace flow::detail {

// Archives of our own, byte for byte cereal's portable binary: cereal's need streams, and believe any size they read.

class opaque_writer : public cereal::OutputArchive<opaque_writer, cereal::AllowEmptyClassElision> {
public:
    explicit opaque_writer(std::string& out) : OutputArchive(this), out_(out) { out_ += '\1'; }  // little endian
    void put(void const* data, std::size_t size, std::size_t width)
    {
        auto const from = out_.size();
        out_.append(static_cast<char const*>(data), size);
        if constexpr (std::endian::native == std::endian::big) swap_each(out_.data() + from, size, width);
    }
    static void swap_each(char* at, std::size_t size, std::size_t width)
    {
        for (std::size_t i = 0; i + width <= size; i += width)
            for (std::size_t k = 0; k < width / 2; ++k) std::swap(at[i + k], at[i + width - 1 - k]);
    }

private:
    std::string& out_;
};

class opaque_reader : public cereal::InputArchive<opaque_reader, cereal::AllowEmptyClassElision> {
public:
    explicit opaque_reader(std::string_view in) : InputArchive(this), in_(in)
    {
        if (in_.empty() || in_.front() != '\1') throw cereal::Exception("not a portable binary archive");
        in_.remove_prefix(1);
    }
    void get(void* data, std::size_t size, std::size_t width)
    {
        if (size > in_.size()) throw cereal::Exception("ends too early");
        std::char_traits<char>::copy(static_cast<char*>(data), in_.data(), size);
        in_.remove_prefix(size);
        if constexpr (std::endian::native == std::endian::big)
            opaque_writer::swap_each(static_cast<char*>(data), size, width);
    }
    /// A count that the rest of the text could not fill is refused before anybody allocates for it. Elements without
    /// any bytes are the exception that the constant leaves room for.
    void check_count(std::uint64_t n) const
    {
        if (n > in_.size() && n > 4096) throw cereal::Exception("counts more elements than there are");
    }
    void down()
    {
        // cereal enters several functions for each level a type has.
        if (++depth_ > 8 * max_depth) throw cereal::Exception("nested too deeply");
    }
    void up() { --depth_; }
    bool at_end() const { return in_.empty(); }

private:
    std::string_view in_;
    unsigned depth_ = 0;
};

template <class T>
    requires std::is_arithmetic_v<T>
void CEREAL_SAVE_FUNCTION_NAME(opaque_writer& ar, T const& v)
{
    ar.put(std::addressof(v), sizeof v, sizeof v);
}
template <class T>
    requires std::is_arithmetic_v<T>
void CEREAL_LOAD_FUNCTION_NAME(opaque_reader& ar, T& v)
{
    if constexpr (std::same_as<T, bool>) {
        std::uint8_t byte = 0;
        ar.get(&byte, 1, 1);
        if (byte > 1) throw cereal::Exception("no boolean");
        v = byte != 0;
    } else {
        ar.get(std::addressof(v), sizeof v, sizeof v);
    }
}
template <class Archive, class T>
    requires(std::same_as<Archive, opaque_writer> || std::same_as<Archive, opaque_reader>)
void CEREAL_SERIALIZE_FUNCTION_NAME(Archive& ar, cereal::NameValuePair<T>& v)
{
    ar(v.value);
}
template <class T>
void CEREAL_SAVE_FUNCTION_NAME(opaque_writer& ar, cereal::SizeTag<T> const& v)
{
    ar(v.size);
}
template <class T>
void CEREAL_LOAD_FUNCTION_NAME(opaque_reader& ar, cereal::SizeTag<T>& v)
{
    ar(v.size);
    ar.check_count(v.size);
}
template <class T>
void CEREAL_SAVE_FUNCTION_NAME(opaque_writer& ar, cereal::BinaryData<T> const& v)
{
    ar.put(v.data, static_cast<std::size_t>(v.size), sizeof(std::remove_pointer_t<T>));
}
template <class T>
void CEREAL_LOAD_FUNCTION_NAME(opaque_reader& ar, cereal::BinaryData<T>& v)
{
    ar.get(v.data, static_cast<std::size_t>(v.size), sizeof(std::remove_pointer_t<T>));
}
template <class T>
void prologue(opaque_reader& ar, T const&)
{
    ar.down();
}
template <class T>
void epilogue(opaque_reader& ar, T const&)
{
    ar.up();
}

template <class T>
concept cereal_class = std::is_class_v<T> && !has_codec_traits<T> && !std::is_empty_v<T> &&
                       std::default_initializable<T> &&
                       cereal::traits::is_output_serializable<T, opaque_writer>::value &&
                       cereal::traits::is_input_serializable<T, opaque_reader>::value;

template <class T>
    requires cereal_class<T>
struct foreign_codec<T> {
    using parts = type_list<>;
    static void write(writer& w, T const& v)
    {
        std::string bytes;
        try {
            opaque_writer ar(bytes);
            ar(v);
        } catch (cereal::Exception const& e) {
            throw error(errc::bad_payload, std::string("cereal cannot store the value: ") + e.what());
        }
        w.bytes(bytes);
    }
    static bool read(reader& r, T& v)
    {
        std::string bytes;
        if (!r.bytes(bytes)) return false;
        try {
            opaque_reader ar(bytes);
            ar(v);
            return ar.at_end() || r.fail("more bytes than its type reads");
        } catch (std::exception const& e) {
            return r.fail(std::string("cannot be read back: ") + e.what());
        }
    }
    static void shape(shape_writer& s) { s.out += "opaque"; }
};

}  // namespace flow::detail

CEREAL_SETUP_ARCHIVE_TRAITS(flow::detail::opaque_reader, flow::detail::opaque_writer)

#pragma GCC visibility pop
