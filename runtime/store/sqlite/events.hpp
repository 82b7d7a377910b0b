// The inbox: what events.cpp and those who register or end waits have in common. In a caller's transaction.
#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "flow/events.hpp"
#include "runtime/store/sqlite/connection.hpp"
#include "runtime/store/sqlite/rows.hpp"

namespace flow::sqlite_detail {

/// SHA-256 of the value that was told under this id.
std::optional<digest> told_before(connection& c, event_id id);
delivered deliver_event(connection& c, event const& e);

struct inbox_event {
    std::int64_t num;
    event what;
};
/// What is kept for this wait: the oldest that fits, but those.
std::optional<inbox_event> find_event(connection& c, waitpoint_row const& wait, std::set<std::int64_t> const& but);
void give_event(connection& c, std::int64_t event, std::int64_t waitpoint);
/// The event that has completed this waitpoint, if one has, is in its run's journal.
void take_event(connection& c, std::int64_t waitpoint, seq_no entry);

/// The event that has completed this waitpoint, and that nobody has taken, goes to the next. True: to one that waits for it.
bool return_to_inbox(connection& c, std::int64_t waitpoint, time_point at);

bool has_expired_events(connection& c, time_point now);
void forget_events(connection& c, time_point now, std::int64_t limit);

}  // namespace flow::sqlite_detail
