// The inbox: what events.cpp and those who start runs or register waits have in common.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "flow/events.hpp"
#include "runtime/store/postgres/database.hpp"

namespace flow::postgres_detail {

using topic = std::pair<std::string, std::string>;  ///< and correlation

/// A wait for an event has no row to lock before it is there: who registers one, and who sends an event, locks its topic first (P36).
/// Behind run rows, before waitpoints. Goes with the next statement.
void lock_topics(connection& c, std::set<topic> const& topics);

/// The event that has completed this waitpoint, and that nobody has taken, goes to the next: to the inbox, or to a wait, which is locked. Its
/// topic is locked.
void return_to_inbox(connection& c, std::int64_t waitpoint, time_point at);

/// Locks the run it is for, the topic, and the wait that it ends.
delivered deliver_event(transaction& t, event const& e);

}  // namespace flow::postgres_detail
