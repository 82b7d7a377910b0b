// What can be stored in the journal, and the one sentence about what cannot.
#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include "flow/detail/fields.hpp"

#pragma GCC visibility push(default)

namespace flow {

/// How a type that is none of the ordinary ones is stored: as a JSON string. A specialisation has
///
///     static constexpr std::string_view shape = "colour_code";         // a word: letters, digits, `_`
///     static std::string to_text(T const&);                            // UTF-8
///     static bool from_text(std::string_view, T&);                     // false: not the text of a T
///
/// It must be visible wherever T is stored.
template <class T>
struct codec_traits;

}  // namespace flow

namespace flow::detail {

/// Stands for `void`: JSON `null`, shape `void`.
struct unit {
    friend constexpr bool operator==(unit, unit) { return true; }
};

template <class... T>
struct type_list {};

/// How T is written, read and described. Known are the types with a specialisation: it names the types it is made of as
/// `parts`, and has `write(writer&, T const&)`, `read(reader&, T&)`, `shape(shape_writer&)`; `nullable` if it may be
/// written as null.
template <class T>
struct codec;

template <class T>
concept known = requires { typename codec<T>::parts; };

template <class T>
concept nullable = requires { requires codec<T>::nullable; };

template <class T>
concept has_codec_traits = requires { codec_traits<T>::shape; };

template <class T>
concept plain_aggregate = !has_codec_traits<T> && walkable<T>();

template <class T, class Indices = void>
struct field_types {
    using type = typename field_types<T, std::make_index_sequence<fields_of<T>>>::type;
};
template <class T, std::size_t... I>
struct field_types<T, std::index_sequence<I...>> {
    using type = type_list<field_type<I, T>...>;
};

struct no_offence {};
/// T cannot be stored; Owner is the aggregate whose field it is.
template <class T, class Owner>
struct offence {
    using type = T;
    using owner = Owner;
};

template <class Parts, class Owner, class... Seen>
struct offence_in;

/// The first part of T that cannot be stored. `Seen`: the aggregates around it, for a type may contain itself.
template <class T, class Owner, class... Seen>
constexpr auto find_offence()
{
    if constexpr ((std::same_as<T, Seen> || ...)) {
        return no_offence{};
    } else if constexpr (!known<T>) {
        return offence<T, Owner>{};
    } else if constexpr (plain_aggregate<T>) {
        return offence_in<typename codec<T>::parts, T, T, Seen...>::find();
    } else {
        return offence_in<typename codec<T>::parts, Owner, Seen...>::find();
    }
}

template <class Owner, class... Seen>
struct offence_in<type_list<>, Owner, Seen...> {
    static constexpr auto find() { return no_offence{}; }
};
template <class First, class... Rest, class Owner, class... Seen>
struct offence_in<type_list<First, Rest...>, Owner, Seen...> {
    static constexpr auto find()
    {
        if constexpr (std::same_as<decltype(find_offence<First, Owner, Seen...>()), no_offence>)
            return offence_in<type_list<Rest...>, Owner, Seen...>::find();
        else
            return find_offence<First, Owner, Seen...>();
    }
};

template <class T>
using offence_of = decltype(find_offence<T, T>());

/// T can be stored in the journal.
template <class T>
concept storable = std::same_as<offence_of<T>, no_offence>;

/// The name compilers print: the offending type, and whose field it is.
template <class T, class Owner = T>
inline constexpr bool can_be_journaled = known<T>;

/// Stops the compiler with one sentence if T cannot be stored. Asking again for the same T adds no second one.
template <class T>
constexpr bool check_storable()
{
    if constexpr (!storable<T>) {
        using found = offence_of<T>;
        static_assert(can_be_journaled<typename found::type, typename found::owner>,
                      "flow: this type cannot be stored in the journal: it is no aggregate, scalar, string, optional, vector "
                      "or map. Return a plain struct, or give it cereal's serialize and include <flow/cereal.hpp>");
    }
    return storable<T>;
}

}  // namespace flow::detail

#pragma GCC visibility pop
