// The fields of an aggregate: how many, references to them, their names. All that is asked of Boost.PFR stands here.
//
// PFR has names from 1.84 on; before, they are read off the compiler's own name for a pointer to the field.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include <boost/pfr/core.hpp>
#include <boost/version.hpp>
#if BOOST_VERSION >= 108400
#include <boost/pfr/core_name.hpp>
#endif

#pragma GCC visibility push(default)

namespace flow::detail {

// Fields are counted by what a braced list converts to. `anything` stands for one initialiser, `a_base` for one that
// can only be a base class.
struct anything {
    template <class U>
    operator U&() const& noexcept;
    template <class U>
    operator U&&() const&& noexcept;
};

template <class T>
struct a_base {
    template <class U>
        requires(std::is_base_of_v<U, T> && !std::is_same_v<U, T>)
    operator U() const noexcept;
};

template <class T, std::size_t... Before, std::size_t... After>
constexpr bool braces_fit(std::index_sequence<Before...>, std::index_sequence<After...>)
{
    return requires { T{((void)Before, anything{})..., {}, ((void)After, anything{})...}; };
}

// An array member takes as many initialisers as it has elements, so behind `{}` for the whole of it there are too many.
template <class T, std::size_t N, std::size_t... I>
constexpr bool no_arrays(std::index_sequence<I...>)
{
    return (braces_fit<T>(std::make_index_sequence<I>{}, std::make_index_sequence<N - I - 1>{}) && ...);
}

template <class T, std::size_t... I>
constexpr bool takes(std::index_sequence<I...>)
{
    return requires { T{((void)I, anything{})...}; };
}

/// The most initialisers T takes, at least `Low` and less than `High`.
template <class T, std::size_t Low, std::size_t High>
constexpr std::size_t most_initialisers()
{
    if constexpr (High - Low == 1)
        return Low;
    else if constexpr (constexpr auto middle = Low + (High - Low) / 2; takes<T>(std::make_index_sequence<middle>{}))
        return most_initialisers<T, middle, High>();
    else
        return most_initialisers<T, Low, middle>();
}

template <class T, std::size_t Tried = 4>
constexpr std::size_t count_initialisers()
{
    if constexpr (takes<T>(std::make_index_sequence<Tried>{}))
        return count_initialisers<T, 2 * Tried>();
    else
        return most_initialisers<T, 0, Tried>();
}

/// How many fields an aggregate has. Not PFR's count: 1.81 asks for copies where std::vector only says that it can be
/// copied.
template <class T>
inline constexpr std::size_t fields_of = std::is_empty_v<T> ? 0 : count_initialisers<T>();

/// Can T be taken apart field by field? No arrays, base classes, references.
template <class T>
constexpr bool walkable()
{
    if constexpr (!std::is_class_v<T> || !std::is_aggregate_v<T> || std::is_polymorphic_v<T>) {
        return false;
    } else if constexpr (!std::default_initializable<T>) {
        return false;
    } else if constexpr (std::is_empty_v<T>) {
        return true;
    } else if constexpr (requires { T{a_base<T>{}}; }) {
        return false;
    } else {
        constexpr auto n = fields_of<T>;
        return n != 0 && no_arrays<T, n>(std::make_index_sequence<n>{});
    }
}

/// References to all fields, in the order of their declaration.
template <class T>
constexpr auto tie_fields(T& v) noexcept
{
    return boost::pfr::detail::tie_as_tuple(v, boost::pfr::detail::size_t_<fields_of<std::remove_const_t<T>>>{});
}

template <std::size_t I, class Tied>
constexpr auto& field_at(Tied& tied) noexcept
{
    return boost::pfr::detail::sequence_tuple::get<I>(tied);
}

template <std::size_t I, class T>
using field_type = std::remove_reference_t<
    typename boost::pfr::detail::sequence_tuple::tuple_element<I, decltype(tie_fields(std::declval<T&>()))>::type>;

#if BOOST_VERSION >= 108400

template <class T, std::size_t I>
consteval std::string_view field_name()
{
    return boost::pfr::get_name<I, T>();
}

#else

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#pragma clang diagnostic ignored "-Wundefined-internal"
#endif

template <class T>
struct field_owner {
    T value;
};

// Never defined: only addresses within it are named.
template <class T>
extern field_owner<T> const fake_owner;

template <class P>
struct field_pointer {
    P at;
};

template <class T, std::size_t I>
consteval auto pointer_to_field()
{
    auto const tied = tie_fields(fake_owner<T>.value);
    auto const& field = field_at<I>(tied);
    return field_pointer<decltype(&field)>{&field};
}

template <class T, auto Field>
consteval std::string_view name_at_end()
{
    // g++: "…::owner::name)}; std::string_view = …]", clang: "…value.name}]".
    std::string_view text = __PRETTY_FUNCTION__;
#if !defined(__clang__)
    text = text.substr(0, text.rfind(")}"));
#else
    text = text.substr(0, text.rfind("}]"));
#endif
    auto const letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
               static_cast<unsigned char>(c) >= 0x80;
    };
    auto from = text.size();
    while (from != 0 && letter(text[from - 1])) --from;
    return text.substr(from);
}

template <class T, std::size_t I>
consteval std::string_view field_name()
{
    return name_at_end<T, pointer_to_field<T, I>()>();
}

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif

/// `,"name":`, in storage of its own.
template <class T, std::size_t I>
inline constexpr auto field_key = [] {
    constexpr auto name = field_name<T, I>();
    static_assert(!name.empty(), "flow: this compiler does not tell the name of a field");
    std::array<char, name.size() + 4> key{};
    std::size_t n = 0;
    key[n++] = ',';
    key[n++] = '"';
    for (char c : name) key[n++] = c;
    key[n++] = '"';
    key[n++] = ':';
    return key;
}();

}  // namespace flow::detail

#pragma GCC visibility pop
