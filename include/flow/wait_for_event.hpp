// Waiting for what happens outside, told by topic and correlation: wait_for_event. Who tells of it: client::send_event, client::send.
#pragma once

#include <utility>

#include "flow/token.hpp"

#pragma GCC visibility push(default)

namespace flow {

/// Waits for an event of this topic, about what the correlation names ("order-17"): told now, or kept since before (client::send_event). Events
/// are taken in the order in which they were told, each by one run. The wait costs no thread. An event whose value has another shape than
/// T does not end the wait; it is kept and listed (`flow events`). At most 1024 bytes of correlation. Throws at the await: flow::wait_timeout, flow::cancelled;
/// flow::error(bad_argument) for an empty or too long correlation. In case of a crash the event stays this run's.
template <class T>
detail::wait_operation<T> wait_for_event(detail::name topic, detail::name correlation, wait_options options = {})
{
    [[maybe_unused]] constexpr bool storable = detail::check_storable<detail::storage_of_answer<T>>();
    return {std::move(topic), std::move(correlation), options};
}

/// The same for events that are told to this run alone (client::send).
template <class T>
detail::wait_operation<T> wait_for_event(detail::name topic, wait_options options = {})
{
    [[maybe_unused]] constexpr bool storable = detail::check_storable<detail::storage_of_answer<T>>();
    return {std::move(topic), options};
}

}  // namespace flow

#pragma GCC visibility pop
