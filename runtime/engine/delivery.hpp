// What a sender is told of an event that was not taken.
#pragma once

#include "flow/events.hpp"

namespace flow::detail {

/// Throws flow::error where the event was refused: event_conflict, event_not_awaited, wrong_shape, inbox_full, unknown_run, run_ended.
void check_delivered(delivered const& told, event const& e, std::optional<run_id> to);

}  // namespace flow::detail
