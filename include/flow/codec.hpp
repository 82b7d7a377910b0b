// How values become payloads and come back (protocol P13, P50, P53; formats: docs/reference/payloads.md, shapes.md).
//
// Ordinary aggregates need nothing. A class that is none specialises `flow::codec_traits`, or has cereal's `serialize`:
// then include flow/cereal.hpp.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "flow/detail/codec_choices.hpp"
#include "flow/detail/codec_class.hpp"
#include "flow/detail/codec_containers.hpp"
#include "flow/detail/codec_io.hpp"
#include "flow/detail/codec_scalars.hpp"
#include "flow/detail/storable.hpp"
#include "flow/error.hpp"
#include "flow/journal.hpp"

#pragma GCC visibility push(default)

namespace flow {

/// How values of T are stored. Specialise it as `encoding::binary` where speed or size matters more than payloads that
/// can be read with any SQL tool, and that outlive a change of the type.
template <class T>
inline constexpr encoding encoding_for = encoding::json;

}  // namespace flow

namespace flow::detail {

/// Strings and bytes, which `encoding::bytes` stores as they are.
template <class T>
concept raw_bytes = std::is_same_v<T, std::string> || std::is_same_v<T, std::vector<std::byte>>;

[[noreturn]] void refuse_encoding(encoding how);
void check_written(std::string const& out, std::size_t from);
outcome<void> undecodable(reader const& r);

/// Appends `value` to `out`. Equal values give equal payloads, unordered containers included.
/// Throws flow::error(bad_payload): nested too deeply, larger than `max_payload`, or not for this encoding
/// (`bytes` is for strings and bytes only). Then `out` is as it was.
template <class T>
void encode(encoding how, T const& value, std::string& out)
{
    check_storable<T>();
    if constexpr (storable<T>) {
        auto const from = out.size();
        try {
            if (how == encoding::json || how == encoding::binary) {
                writer w(out, how == encoding::binary);
                codec<T>::write(w, value);
            } else if constexpr (raw_bytes<T>) {
                if (how != encoding::bytes) refuse_encoding(how);
                out.append(reinterpret_cast<char const*>(value.data()), value.size());
            } else {
                refuse_encoding(how);
            }
            check_written(out, from);
        } catch (...) {
            out.resize(from);
            throw;
        }
    }
}

/// Reads what `encode` wrote. JSON may lack fields that are optional now, have fields that are gone, in any order, and
/// smaller integers; anything else is the error `undecodable`, and so is any difference at all in binary. Its message
/// names the field: "at 'lines[1].price': expected a number". After an error `into` is valid and otherwise unspecified.
template <class T>
outcome<void> decode(encoding how, std::string_view text, T& into)
{
    check_storable<T>();
    if constexpr (storable<T>) {
        reader r(text, how == encoding::binary);
        if (how == encoding::json || how == encoding::binary) {
            try {
                if (codec<T>::read(r, into) && r.finish()) return {};
            } catch (std::exception const& e) {  // a user's from_text or constructor
                return error(errc::undecodable, e.what() ? e.what() : "");
            }
            return undecodable(r);
        } else if constexpr (raw_bytes<T>) {
            if (how == encoding::bytes) {
                auto const* from = reinterpret_cast<typename T::value_type const*>(text.data());
                into.assign(from, from + text.size());
                return {};
            }
        }
        refuse_encoding(how);
    }
    return {};
}

/// The shape of T (docs/reference/shapes.md): the same text on every compiler. Lives for the whole program.
template <class T>
std::string_view shape_of()
{
    check_storable<T>();
    if constexpr (storable<T>) {
        static std::string const& text = *[] {
            shape_writer s;
            codec<T>::shape(s);
            return new std::string(std::move(s.out));
        }();
        return text;
    }
    return {};
}

/// Does a JSON text from outside have a shape, whose type need not be known here? Fields that the shape does not have
/// are ignored unless `strict`. What passes, `decode` accepts for the type of that shape; a `codec_traits` type may
/// still refuse its text. Error: wrong_shape, naming the field.
outcome<void> check_shape(std::string_view json, std::string_view shape, bool strict);

/// `text` without white space, if it is one JSON value in well-formed UTF-8, not nested deeper than `max_depth` and not
/// longer than `max_payload`; else the error bad_payload, naming the offset. Numbers and strings stay as they are
/// written.
outcome<std::string> compact_json(std::string_view text);

}  // namespace flow::detail

#pragma GCC visibility pop
