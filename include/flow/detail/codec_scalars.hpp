// Scalars, strings, enums, times, and the types with codec_traits.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "flow/detail/codec_io.hpp"
#include "flow/detail/enum_names.hpp"
#include "flow/detail/storable.hpp"
#include "flow/ids.hpp"

#pragma GCC visibility push(default)

namespace flow {

template <>
struct codec_traits<uuid> {
    static constexpr std::string_view shape = "uuid";
    static std::string to_text(uuid const& id) { return to_string(id); }
    static bool from_text(std::string_view text, uuid& into)
    {
        auto id = parse_uuid(text);
        if (id) into = *id;
        return id.has_value();
    }
};

namespace detail {

template <class Id>
struct id_traits {
    static constexpr std::string_view shape = "uuid";
    static std::string to_text(Id const& id) { return to_string(id.value); }
    static bool from_text(std::string_view text, Id& into) { return codec_traits<uuid>::from_text(text, into.value); }
};

}  // namespace detail

template <>
struct codec_traits<run_id> : detail::id_traits<run_id> {};
template <>
struct codec_traits<waitpoint_id> : detail::id_traits<waitpoint_id> {};
template <>
struct codec_traits<request_id> : detail::id_traits<request_id> {};

}  // namespace flow

namespace flow::detail {

template <>
struct codec<unit> {
    using parts = type_list<>;
    static constexpr bool nullable = true;
    static void write(writer& w, unit const&) { w.null(); }
    static bool read(reader& r, unit&) { return r.null(); }
    static void shape(shape_writer& s) { s.out += "void"; }
};

template <>
struct codec<bool> {
    using parts = type_list<>;
    static void write(writer& w, bool v) { w.boolean(v); }
    static bool read(reader& r, bool& v) { return r.boolean(v); }
    static void shape(shape_writer& s) { s.out += "bool"; }
};

// `char` counts as signed on every machine.
template <class T>
concept whole_number =
    std::integral<T> && !std::same_as<T, bool> && sizeof(T) <= 8 && std::same_as<T, std::remove_cv_t<T>>;
template <class T>
concept signed_number = whole_number<T> && (std::is_signed_v<T> || std::same_as<T, char>);

template <std::size_t Size, bool Signed>
inline constexpr std::string_view integer_shape =
    Size == 1 ? (Signed ? "i8" : "u8") : Size == 2 ? (Signed ? "i16" : "u16") : Size == 4 ? (Signed ? "i32" : "u32")
                                                                             : (Signed ? "i64" : "u64");

template <whole_number T>
struct codec<T> {
    using parts = type_list<>;
    static void write(writer& w, T v)
    {
        if constexpr (std::same_as<T, char>)
            w.integer(static_cast<signed char>(v), 1);
        else if constexpr (signed_number<T>)
            w.integer(v, sizeof(T));
        else
            w.natural(v, sizeof(T));
    }
    static bool read(reader& r, T& v)
    {
        if constexpr (signed_number<T>) {
            std::int64_t n = 0;
            if (!r.integer(n, sizeof(T))) return false;
            v = static_cast<T>(n);
        } else {
            std::uint64_t n = 0;
            if (!r.natural(n, sizeof(T))) return false;
            v = static_cast<T>(n);
        }
        return true;
    }
    static void shape(shape_writer& s) { s.out += integer_shape<sizeof(T), signed_number<T>>; }
};

template <class T>
    requires(std::same_as<T, float> || std::same_as<T, double>)
struct codec<T> {
    using parts = type_list<>;
    static void write(writer& w, T v) { w.real(v); }
    static bool read(reader& r, T& v) { return r.real(v); }
    static void shape(shape_writer& s) { s.out += std::same_as<T, float> ? "f32" : "f64"; }
};

template <>
struct codec<std::byte> {
    using parts = type_list<>;
    static void write(writer& w, std::byte v) { w.natural(static_cast<std::uint64_t>(v), 1); }
    static bool read(reader& r, std::byte& v)
    {
        std::uint64_t n = 0;
        if (!r.natural(n, 1)) return false;
        v = static_cast<std::byte>(n);
        return true;
    }
    static void shape(shape_writer& s) { s.out += "u8"; }
};

template <class T>
concept named_enum = std::is_enum_v<T> && !has_codec_traits<T> && std::same_as<T, std::remove_cv_t<T>>;

// By name in JSON, so that enumerators may be added and moved; as eight bytes in binary: its type is not in the shape.
template <named_enum T>
struct codec<T> {
    using rep = std::underlying_type_t<T>;
    using parts = type_list<>;
    static void write(writer& w, T v)
    {
        auto const number = static_cast<rep>(v);
        if constexpr (!fixed_enum<T>) {
            if (!names_of<T>().holds(static_cast<std::int64_t>(number)))
                throw error(errc::bad_payload,
                            "this enum's value cannot be stored: it is beyond -128 to 255, or beyond its enumerators, and "
                            "the enum has no underlying type. Give it one: enum name : int");
        }
        if (w.binary()) return w.integer(static_cast<std::int64_t>(number), 8);
        if (auto name = names_of<T>().name(static_cast<std::int64_t>(number)); !name.empty()) return w.text(name);
        codec<rep>::write(w, number);
    }
    static bool read(reader& r, T& v)
    {
        if (r.at_text()) {
            std::string name;
            if (!r.text(name)) return false;
            auto const value = names_of<T>().value(name);
            if (!value) return r.fail("expected the name of an enumerator");
            v = static_cast<T>(*value);
            return true;
        }
        std::int64_t wide = 0;
        rep number{};
        if (r.binary() ? !r.integer(wide, 8) : !codec<rep>::read(r, number)) return false;
        if (r.binary()) number = static_cast<rep>(wide);
        if (r.binary() && static_cast<std::int64_t>(number) != wide) return r.fail("expected an enumerator");
        if constexpr (!fixed_enum<T>) {
            if (!names_of<T>().holds(static_cast<std::int64_t>(number))) return r.fail("expected an enumerator");
        }
        v = static_cast<T>(number);
        return true;
    }
    static void shape(shape_writer& s) { s.out += names_of<T>().shape(); }
};

template <>
struct codec<std::string> {
    using parts = type_list<>;
    static void write(writer& w, std::string const& v) { w.text(v); }
    static bool read(reader& r, std::string& v) { return r.text(v); }
    static void shape(shape_writer& s) { s.out += "str"; }
};

/// Bytes that are no text: base64 in JSON.
template <>
struct codec<std::vector<std::byte>> {
    using parts = type_list<>;
    static void write(writer& w, std::vector<std::byte> const& v)
    {
        w.bytes({reinterpret_cast<char const*>(v.data()), v.size()});
    }
    static bool read(reader& r, std::vector<std::byte>& v)
    {
        std::string text;
        if (!r.bytes(text)) return false;
        auto const* from = reinterpret_cast<std::byte const*>(text.data());
        v.assign(from, from + text.size());
        return true;
    }
    static void shape(shape_writer& s) { s.out += "bytes"; }
};

template <has_codec_traits T>
struct codec<T> {
    using parts = type_list<>;
    static void write(writer& w, T const& v) { w.text(codec_traits<T>::to_text(v)); }
    static bool read(reader& r, T& v)
    {
        std::string text;
        if (!r.text(text)) return false;
        if (codec_traits<T>::from_text(text, v)) return true;
        return r.fail("expected a text of the kind '" + std::string(codec_traits<T>::shape) + "'");
    }
    static void shape(shape_writer& s) { s.out += codec_traits<T>::shape; }
};

template <class Rep, class Period>
void duration_shape(shape_writer& s, std::string_view word)
{
    s.out += word;
    codec<Rep>::shape(s);
    s.out += ',' + std::to_string(Period::num) + '/' + std::to_string(Period::den) + ')';
}

template <class Rep, class Period>
struct codec<std::chrono::duration<Rep, Period>> {
    using parts = type_list<Rep>;
    static void write(writer& w, std::chrono::duration<Rep, Period> v) { codec<Rep>::write(w, v.count()); }
    static bool read(reader& r, std::chrono::duration<Rep, Period>& v)
    {
        Rep count{};
        if (!codec<Rep>::read(r, count)) return false;
        v = std::chrono::duration<Rep, Period>(count);
        return true;
    }
    static void shape(shape_writer& s) { duration_shape<Rep, Period>(s, "duration("); }
};

template <class Clock, class Rep, class Period>
struct codec<std::chrono::time_point<Clock, std::chrono::duration<Rep, Period>>> {
    using duration = std::chrono::duration<Rep, Period>;
    using parts = type_list<Rep>;
    static void write(writer& w, std::chrono::time_point<Clock, duration> v)
    {
        codec<Rep>::write(w, v.time_since_epoch().count());
    }
    static bool read(reader& r, std::chrono::time_point<Clock, duration>& v)
    {
        duration since{};
        if (!codec<duration>::read(r, since)) return false;
        v = std::chrono::time_point<Clock, duration>(since);
        return true;
    }
    static void shape(shape_writer& s) { duration_shape<Rep, Period>(s, "time("); }
};

}  // namespace flow::detail

#pragma GCC visibility pop
