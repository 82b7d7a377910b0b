// Enumerators by name, read off the compiler's own text for a pack of values: one instantiation for each enum.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace flow::detail {

/// The names of one enum's values from `first` on. Values outside -128 to 255 have none, they are written as numbers.
class enum_names {
public:
    enum_names(std::string_view pretty, std::int64_t first);

    /// "" for a value without a name.
    std::string_view name(std::int64_t value) const noexcept;
    std::optional<std::int64_t> value(std::string_view name) const noexcept;
    /// `<red|green|blue=7>`.
    std::string shape() const;
    /// Without a fixed underlying type an enum has only the values of the smallest bit-field that holds its enumerators,
    /// as far as they are known here.
    bool holds(std::int64_t value) const noexcept;

private:
    std::int64_t first_;
    std::vector<std::string_view> by_value_;
    std::vector<std::pair<std::int64_t, std::string_view>> named_;
};

template <class E>
concept fixed_enum = requires { E{0}; };

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunknown-warning-option"
#pragma clang diagnostic ignored "-Wenum-constexpr-conversion"
#endif

// Cast bit by bit: a plain cast of a value beyond the bits of an enum without a fixed underlying type is ill-formed.
template <class E, int V>
inline constexpr E enum_value = std::bit_cast<E>(static_cast<std::underlying_type_t<E>>(V));

// To name such a value as a template argument is an error on newer compilers, and so can be asked.
template <class E, int V, class = void>
inline constexpr bool enum_holds = false;
template <class E, int V>
inline constexpr bool enum_holds<E, V, std::void_t<std::integral_constant<E, enum_value<E, V>>>> = true;

/// The values that may have names.
template <class E, class Rep = std::underlying_type_t<E>>
struct enum_range {
    static constexpr int low = [] {
        if constexpr (!std::is_signed_v<Rep>) {
            return 0;
        } else if constexpr (fixed_enum<E>) {
            return -128;
        } else {
            int v = 0;
            for (auto [bound, holds] : {std::pair{-1, enum_holds<E, -1>}, {-2, enum_holds<E, -2>}, {-4, enum_holds<E, -4>},
                                        {-8, enum_holds<E, -8>}, {-16, enum_holds<E, -16>}, {-32, enum_holds<E, -32>},
                                        {-64, enum_holds<E, -64>}, {-128, enum_holds<E, -128>}})
                if (holds) v = bound;
            return v;
        }
    }();
    static constexpr int high = [] {
        if constexpr (std::is_same_v<Rep, bool>) {
            return 1;
        } else if constexpr (fixed_enum<E>) {
            return std::is_signed_v<Rep> && sizeof(Rep) == 1 ? 127 : 255;
        } else {
            int v = 1;
            for (auto [bound, holds] : {std::pair{3, enum_holds<E, 3>}, {7, enum_holds<E, 7>}, {15, enum_holds<E, 15>},
                                        {31, enum_holds<E, 31>}, {63, enum_holds<E, 63>}, {127, enum_holds<E, 127>},
                                        {255, enum_holds<E, 255>}})
                if (holds) v = bound;
            return v;
        }
    }();
};

// clang instantiates the enumerators of an enum within a class template only when one of them is looked up.
template <class E>
concept looked_up = requires { E::flow_looks_for_an_enumerator; };

template <class E, E... Values>
constexpr std::string_view pretty_values() noexcept
{
    static_assert(!looked_up<E>);
    return __PRETTY_FUNCTION__;
}

template <class E, int First, int... I>
constexpr std::string_view pretty_range(std::integer_sequence<int, I...>) noexcept
{
    return pretty_values<E, enum_value<E, First + I>...>();
}

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

template <class E>
enum_names const& names_of()
{
    using range = enum_range<E>;
    static enum_names const& names = *new enum_names(
        pretty_range<E, range::low>(std::make_integer_sequence<int, range::high - range::low + 1>{}), range::low);
    return names;
}

}  // namespace flow::detail

#pragma GCC visibility pop
