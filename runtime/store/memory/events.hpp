// The inbox: what events.cpp and those who register or end waits have in common. Under the store's mutex.
#pragma once

#include <cstdint>
#include <set>

#include "flow/events.hpp"
#include "runtime/store/memory/tables.hpp"

namespace flow::memory_detail {

delivered deliver_event(tables& t, event const& e);

/// The number of what is kept for this wait: the oldest that fits, but those. 0: nothing.
std::int64_t find_event(tables const& t, waitpoint_row const& wait, std::set<std::int64_t> const& but);
void give_event(tables& t, std::int64_t event, std::int64_t waitpoint);
/// The event that has completed this waitpoint, if one has, is in its run's journal.
void take_event(tables& t, std::int64_t waitpoint, seq_no entry);
/// The event that has completed this waitpoint, and that nobody has taken, goes to the next. True: to one that waits for it.
bool return_to_inbox(tables& t, std::int64_t waitpoint, time_point at);
void forget_events(tables& t, time_point now, std::size_t limit);

}  // namespace flow::memory_detail
