// Tuples, variants, optionals and owning pointers.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "flow/detail/codec_io.hpp"
#include "flow/detail/storable.hpp"
#include "flow/error.hpp"

#pragma GCC visibility push(default)

namespace flow::detail {

template <class Tuple, class... T>
struct tuple_codec {
    using parts = type_list<T...>;
    static void write(writer& w, Tuple const& v)
    {
        w.begin_array(sizeof...(T), true);
        std::apply([&](auto const&... item) { (..., (w.item(), codec<T>::write(w, item))); }, v);
        w.end_array();
    }
    static bool read(reader& r, Tuple& v)
    {
        items it(r, '[');
        if (!it.begin_fixed(sizeof...(T))) return false;
        bool const read = std::apply(
            [&](auto&... item) { return (... && (!it.next() || codec<T>::read(r, item) || r.within(it.index()))); }, v);
        return read && it.end_fixed();
    }
    static void shape(shape_writer& s)
    {
        s.out += '(';
        [[maybe_unused]] bool first = true;
        (..., (s.out += std::exchange(first, false) ? "" : ",", codec<T>::shape(s)));
        s.out += ')';
    }
};

template <class A, class B>
struct codec<std::pair<A, B>> : tuple_codec<std::pair<A, B>, A, B> {};
template <class... T>
struct codec<std::tuple<T...>> : tuple_codec<std::tuple<T...>, T...> {};

template <class... T>
struct codec<std::variant<T...>> {
    using parts = type_list<T...>;
    static void write(writer& w, std::variant<T...> const& v)
    {
        if (v.valueless_by_exception()) throw error(errc::bad_payload, "a variant without a value cannot be stored");
        w.begin_variant(v.index());
        std::visit([&]<class U>(U const& item) { codec<U>::write(w, item); }, v);
        w.end_variant();
    }
    static bool read(reader& r, std::variant<T...>& v)
    {
        std::size_t index = 0;
        if (!r.begin_variant(index, sizeof...(T))) return false;
        if (!read_at(r, v, index, std::index_sequence_for<T...>{})) return r.within_key(std::to_string(index));
        return r.end_variant();
    }
    static void shape(shape_writer& s)
    {
        s.out += "one(";
        bool first = true;
        (..., (s.out += std::exchange(first, false) ? "" : "|", codec<T>::shape(s)));
        s.out += ')';
    }

private:
    template <std::size_t... I>
    static bool read_at(reader& r, std::variant<T...>& v, std::size_t index, std::index_sequence<I...>)
    {
        bool ok = false;
        (void)(... || (I == index && (ok = codec<T>::read(r, v.template emplace<I>()), true)));
        return ok;
    }
};

/// Shared by all that hold a value or nothing.
template <class Holder, class T>
struct optional_codec {
    using parts = type_list<T>;
    static constexpr bool nullable = true;
    static void write(writer& w, Holder const& v)
    {
        bool const present = static_cast<bool>(v);
        w.begin_optional(present, detail::nullable<T>);
        if (!present) return;
        codec<T>::write(w, *v);
        w.end_optional(detail::nullable<T>);
    }
    static bool read(reader& r, Holder& v)
    {
        reset(v);
        bool present = false;
        if (!r.begin_optional(present, detail::nullable<T>)) return false;
        if (!present) return true;
        return codec<T>::read(r, emplace(v)) && r.end_optional(detail::nullable<T>);
    }
    static void reset(Holder& v) { v.reset(); }
    static void shape(shape_writer& s)
    {
        codec<T>::shape(s);
        s.out += '?';
    }

private:
    static T& emplace(Holder& v)
    {
        if constexpr (requires { v.emplace(); }) {
            return v.emplace();
        } else if constexpr (requires { v.use_count(); }) {
            auto made = std::make_shared<T>();
            auto& value = *made;
            v = std::move(made);
            return value;
        } else {
            auto made = std::make_unique<T>();
            auto& value = *made;
            v = std::move(made);
            return value;
        }
    }
};

template <class T>
struct codec<std::optional<T>> : optional_codec<std::optional<T>, T> {};
template <class T>
    requires(!std::is_array_v<T>)
struct codec<std::unique_ptr<T>> : optional_codec<std::unique_ptr<T>, std::remove_const_t<T>> {};
template <class T>
    requires(!std::is_array_v<T>)
struct codec<std::shared_ptr<T>> : optional_codec<std::shared_ptr<T>, std::remove_const_t<T>> {};

}  // namespace flow::detail

#pragma GCC visibility pop
