// What a run tells the outside while it runs: values under names, with their history.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "flow/codec.hpp"
#include "flow/detail/closure.hpp"
#include "flow/detail/operation.hpp"
#include "flow/detail/scope.hpp"
#include "flow/detail/storable.hpp"

#pragma GCC visibility push(default)

namespace flow {
namespace detail {

class [[nodiscard("a value is published only when it is awaited")]] publish_operation final : public journaled_operation {
public:
    publish_operation(name key, std::string value, std::string_view shape);

    bool start(scope& s, continuation& c);
    bool proceed(scope& s, continuation& c, position at) override;
    outcome<void> accept(encoding, std::string_view) override { return {}; }
    std::string_view shape() const override { return shape_; }
    void take() const { check(); }

private:
    void write(run& r, position const& at, bool late);

    name key_;
    std::string value_;
    std::string_view shape_;
};

}  // namespace detail

/// `co_await flow::publish("progress", p)`: from now on everybody sees it (`client::published`, `flow published RUN`), also while the run
/// goes on and after its end. The newest value of a key is found at once; all of them, in order, are its history. Once per place: on replay
/// nothing is published again. Takes no commit of its own: it is durable, and so visible, with what is written next, at the latest when the
/// run waits or a step is called that must not be repeated.
///
/// Throws at the call flow::error(bad_name); at the await flow::error(payload_too_large), flow::cancelled.
template <class T>
auto publish(detail::name key, T&& value)
{
    if constexpr (!std::is_lvalue_reference_v<T> && !detail::safe_in_co_await<T>) {
        static_assert(std::is_lvalue_reference_v<T> || detail::safe_in_co_await<T>,
                      "flow: g++ 12 copies this unnamed value bit by bit inside co_await and destroys it twice (a compiler bug). Give it a "
                      "name first: auto now = ...; co_await flow::publish(\"progress\", now)");
        return detail::refused{};
    } else {
        using value_type = std::decay_t<T>;
        using stored = std::conditional_t<std::is_same_v<value_type, char const*>, std::string, value_type>;
        static_assert(detail::check_storable<stored>());
        std::string text;
        detail::encode(encoding::json, static_cast<stored const&>(value), text);
        return detail::publish_operation(std::move(key), std::move(text), detail::shape_of<stored>());
    }
}

}  // namespace flow

#pragma GCC visibility pop
