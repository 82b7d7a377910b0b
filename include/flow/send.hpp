// Messages from run to run: send.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "flow/attempt.hpp"
#include "flow/codec.hpp"
#include "flow/detail/closure.hpp"
#include "flow/events.hpp"
#include "flow/ids.hpp"
#include "flow/step.hpp"

#pragma GCC visibility push(default)

namespace flow {
namespace detail {

/// The function of a step that tells a run of an event: under the step's key, so that sent again it counts once.
class sending {
public:
    sending(run_id to, name const& topic, std::string json) : to_(to), topic_(topic.view()), json_(std::move(json)) {}
    delivery_answer operator()(attempt& a) const;

private:
    run_id to_;
    std::string topic_, json_;
};

}  // namespace detail

/// `co_await flow::send(run, "found", position)`: tells another run, or this one, of an event that it waits for, or will, by
/// flow::wait_for_event<T>("found"). An idempotent step named by the topic: it counts once, whatever crashes. Its result: matched, kept,
/// or, after a crash, duplicate. Throws at the await flow::step_error: the run is unknown or has ended; its inbox was full at every attempt.
template <class T>
auto send(run_id to, detail::name topic, T&& value, step_options options = {})
{
    if constexpr (!std::is_lvalue_reference_v<T> && !detail::safe_in_co_await<T>) {
        static_assert(std::is_lvalue_reference_v<T> || detail::safe_in_co_await<T>,
                      "flow: g++ 12 copies this unnamed value bit by bit inside co_await and destroys it twice (a compiler bug). Give it a "
                      "name first: auto found = ...; co_await flow::send(run, \"found\", found)");
        return detail::refused{};
    } else {
        using value_type = std::decay_t<T>;
        using stored = std::conditional_t<std::is_same_v<value_type, char const*>, std::string, value_type>;
        static_assert(detail::check_storable<stored>());
        std::string text;
        detail::encode(encoding::json, static_cast<stored const&>(value), text);
        detail::sending tell(to, topic, std::move(text));
        return step(std::move(topic), idempotent, std::move(tell), options);
    }
}

}  // namespace flow

#pragma GCC visibility pop
