// Sequences, sets and maps.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <deque>
#include <list>
#include <map>
#include <set>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "flow/detail/codec_choices.hpp"
#include "flow/detail/codec_io.hpp"
#include "flow/detail/storable.hpp"

#pragma GCC visibility push(default)

namespace flow::detail {

template <class T>
void shape_between(shape_writer& s, char open, char close)
{
    s.out += open;
    codec<T>::shape(s);
    s.out += close;
}

template <class T>
inline constexpr bool copied_whole =
    std::endian::native == std::endian::little && (std::is_arithmetic_v<T> && !std::same_as<T, bool>);

template <class Sequence, class T>
struct sequence_codec {
    using parts = type_list<T>;
    static void write(writer& w, Sequence const& v)
    {
        w.begin_array(v.size(), false);
        if constexpr (copied_whole<T> && requires { v.data(); }) {
            if (w.binary()) {
                w.raw(v.data(), v.size() * sizeof(T));
                return w.end_array();
            }
        }
        for (auto const& item : v) {
            w.item();
            codec<T>::write(w, item);
        }
        w.end_array();
    }
    static bool read(reader& r, Sequence& v)
    {
        v.clear();
        items it(r, '[');
        if (!it.begin()) return false;
        if constexpr (copied_whole<T> && requires { v.data(); }) {
            if (r.binary()) {
                if (it.remaining() > r.left() / sizeof(T)) return r.fail("counts more items than there are");
                v.resize(static_cast<std::size_t>(it.remaining()));
                it.take_all();
                return r.raw(v.data(), v.size() * sizeof(T));
            }
        }
        while (it.next()) {
            if constexpr (std::same_as<T, bool>) {
                bool item = false;
                if (!codec<T>::read(r, item)) return r.within(it.index());
                v.push_back(item);
            } else {
                v.emplace_back();
                if (!codec<T>::read(r, v.back())) return r.within(it.index());
            }
        }
        return it.ok();
    }
    static void shape(shape_writer& s) { shape_between<T>(s, '[', ']'); }
};

template <class T, class A>
struct codec<std::vector<T, A>> : sequence_codec<std::vector<T, A>, T> {};
template <class T, class A>
struct codec<std::deque<T, A>> : sequence_codec<std::deque<T, A>, T> {};
template <class T, class A>
struct codec<std::list<T, A>> : sequence_codec<std::list<T, A>, T> {};

template <class T, std::size_t N>
struct codec<std::array<T, N>> {
    using parts = type_list<T>;
    static void write(writer& w, std::array<T, N> const& v)
    {
        w.begin_array(N, true);
        for (auto const& item : v) {
            w.item();
            codec<T>::write(w, item);
        }
        w.end_array();
    }
    static bool read(reader& r, std::array<T, N>& v)
    {
        items it(r, '[');
        if (!it.begin_fixed(N)) return false;
        for (auto& item : v) {
            if (!it.next()) break;
            if (!codec<T>::read(r, item)) return r.within(it.index());
        }
        return it.end_fixed();
    }
    static void shape(shape_writer& s)
    {
        s.out += '[';
        codec<T>::shape(s);
        s.out += '*' + std::to_string(N) + ']';
    }
};

/// Items of a container without an order of its own, in the order of their texts.
template <class Container, class Write>
void write_sorted(writer& w, Container const& v, Write write_item)
{
    std::vector<std::string> texts;
    texts.reserve(v.size());
    for (auto const& item : v) {
        writer one(texts.emplace_back(), w);
        write_item(one, item);
    }
    w.sorted_items(texts);
}

template <class Set, class T, bool Ordered>
struct set_codec {
    using parts = type_list<T>;
    static void write(writer& w, Set const& v)
    {
        w.begin_array(v.size(), false);
        if constexpr (Ordered) {
            for (auto const& item : v) {
                w.item();
                codec<T>::write(w, item);
            }
        } else {
            write_sorted(w, v, [](writer& one, T const& item) { codec<T>::write(one, item); });
        }
        w.end_array();
    }
    static bool read(reader& r, Set& v)
    {
        v.clear();
        items it(r, '[');
        if (!it.begin()) return false;
        while (it.next()) {
            T item{};
            if (!codec<T>::read(r, item)) return r.within(it.index());
            v.insert(std::move(item));
        }
        return it.ok();
    }
    static void shape(shape_writer& s) { shape_between<T>(s, '[', ']'); }
};

template <class T, class C, class A>
struct codec<std::set<T, C, A>> : set_codec<std::set<T, C, A>, T, true> {};
template <class T, class H, class E, class A>
struct codec<std::unordered_set<T, H, E, A>> : set_codec<std::unordered_set<T, H, E, A>, T, false> {};

template <class Map, class V, bool Ordered>
struct string_map_codec {
    using parts = type_list<V>;
    static void write_item(writer& w, std::pair<std::string const, V> const& item)
    {
        w.key(item.first);
        codec<V>::write(w, item.second);
    }
    static void write(writer& w, Map const& v)
    {
        w.begin_map(v.size());
        if constexpr (Ordered) {
            for (auto const& item : v) {
                w.item();
                write_item(w, item);
            }
        } else {
            write_sorted(w, v, write_item);
        }
        w.end_map();
    }
    static bool read(reader& r, Map& v)
    {
        v.clear();
        items it(r, '{');
        if (!it.begin()) return false;
        while (it.next()) {
            std::string key;
            if (!r.key(key)) return false;
            V value{};
            if (!codec<V>::read(r, value)) return r.within_key(key);
            v.insert_or_assign(std::move(key), std::move(value));
        }
        return it.ok();
    }
    static void shape(shape_writer& s)
    {
        s.out += "map<str,";
        codec<V>::shape(s);
        s.out += '>';
    }
};

template <class Map, class K, class V, bool Ordered>
struct pair_map_codec {
    using parts = type_list<K, V>;
    static void write_item(writer& w, std::pair<K const, V> const& item)
    {
        w.begin_array(2, true);
        w.item();
        codec<K>::write(w, item.first);
        w.item();
        codec<V>::write(w, item.second);
        w.end_array();
    }
    static void write(writer& w, Map const& v)
    {
        w.begin_array(v.size(), false);
        if constexpr (Ordered) {
            for (auto const& item : v) {
                w.item();
                write_item(w, item);
            }
        } else {
            write_sorted(w, v, write_item);
        }
        w.end_array();
    }
    static bool read(reader& r, Map& v)
    {
        v.clear();
        items it(r, '[');
        if (!it.begin()) return false;
        while (it.next()) {
            std::pair<K, V> item;
            if (!codec<std::pair<K, V>>::read(r, item)) return r.within(it.index());
            v.insert_or_assign(std::move(item.first), std::move(item.second));
        }
        return it.ok();
    }
    static void shape(shape_writer& s)
    {
        s.out += '[';
        codec<std::pair<K, V>>::shape(s);
        s.out += ']';
    }
};

template <class V, class C, class A>
struct codec<std::map<std::string, V, C, A>> : string_map_codec<std::map<std::string, V, C, A>, V, true> {};
template <class V, class H, class E, class A>
struct codec<std::unordered_map<std::string, V, H, E, A>>
    : string_map_codec<std::unordered_map<std::string, V, H, E, A>, V, false> {};
template <class K, class V, class C, class A>
struct codec<std::map<K, V, C, A>> : pair_map_codec<std::map<K, V, C, A>, K, V, true> {};
template <class K, class V, class H, class E, class A>
struct codec<std::unordered_map<K, V, H, E, A>> : pair_map_codec<std::unordered_map<K, V, H, E, A>, K, V, false> {};

}  // namespace flow::detail

#pragma GCC visibility pop
