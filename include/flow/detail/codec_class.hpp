// Aggregates, field by field.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include "flow/detail/codec_io.hpp"
#include "flow/detail/fields.hpp"
#include "flow/detail/storable.hpp"

#pragma GCC visibility push(default)

namespace flow::detail {

template <class F>
void write_field(writer& w, void const* at)
{
    codec<F>::write(w, *static_cast<F const*>(at));
}

template <class F>
bool read_field(reader& r, void* at)
{
    return codec<F>::read(r, *static_cast<F*>(at));
}

template <class F>
void reset_field(void* at)
{
    codec<F>::reset(*static_cast<F*>(at));
}

template <class T, std::size_t I>
constexpr field_ops ops_of_field()
{
    using field = field_type<I, T>;
    field_ops ops{{field_key<T, I>.data(), field_key<T, I>.size()}, &write_field<field>, &read_field<field>, nullptr,
                  &codec<field>::shape};
    if constexpr (requires(field& f) { codec<field>::reset(f); }) ops.reset = &reset_field<field>;
    return ops;
}

template <class T>
inline constexpr auto field_table = []<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<field_ops, sizeof...(I)>{ops_of_field<T, I>()...};
}(std::make_index_sequence<fields_of<T>>{});

template <class Pointer, class T, std::size_t... I>
std::array<Pointer, sizeof...(I)> addresses(T& v, std::index_sequence<I...>)
{
    auto const tied = tie_fields(v);
    return {std::addressof(field_at<I>(tied))...};
}

/// The name of T, as an address.
template <class T>
inline constexpr char type_mark = 0;

template <class T>
struct aggregate_codec {
    using parts = typename field_types<T>::type;
    static void write(writer& w, T const& v)
    {
        w.object(field_table<T>, addresses<void const*>(v, std::make_index_sequence<fields_of<T>>{}).data());
    }
    static bool read(reader& r, T& v)
    {
        return r.object(field_table<T>, addresses<void*>(v, std::make_index_sequence<fields_of<T>>{}).data());
    }
    static void shape(shape_writer& s) { s.object(&type_mark<T>, field_table<T>); }
};

template <class T>
    requires std::is_empty_v<T>
struct aggregate_codec<T> {
    using parts = type_list<>;
    static void write(writer& w, T const&) { w.object({}, nullptr); }
    static bool read(reader& r, T&) { return r.object({}, nullptr); }
    static void shape(shape_writer& s) { s.out += "{}"; }
};

/// How a class that is not taken apart field by field is stored; <flow/cereal.hpp> fills it.
template <class T>
struct foreign_codec;

template <class T>
concept foreign = requires { typename foreign_codec<T>::parts; };

template <class T>
constexpr bool fields_storable()
{
    return std::same_as<decltype(offence_in<typename field_types<T>::type, T, T>::find()), no_offence>;
}

// Field by field where that is possible, for it can be read by people.
template <class T>
constexpr bool by_fields()
{
    if constexpr (!plain_aggregate<T>)
        return false;
    else if constexpr (foreign<T>)
        return fields_storable<T>();
    else
        return true;
}

template <class T>
    requires(by_fields<T>())
struct codec<T> : aggregate_codec<T> {};

template <class T>
    requires(!by_fields<T>() && foreign<T>)
struct codec<T> : foreign_codec<T> {};

}  // namespace flow::detail

#pragma GCC visibility pop
