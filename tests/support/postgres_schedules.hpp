// Every order in which the statements of two sessions can come, each tried once, by depth-first search.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "support/postgres_steps.hpp"

namespace flow::test {

/// One schedule's rows, freshly made, and what is to be done to them at once.
struct round_of {
    stepped_pair::act first, second;
    /// Afterwards: looks whether all is well, and says in a few words what came of it.
    std::function<std::string()> check;
};

struct explored {
    std::size_t schedules = 0;
    std::size_t again = 0;      ///< of these, such as are equivalent to another: the search saw it too late
    std::size_t rollbacks = 0;  ///< transactions undone: deadlocks and refusals
    std::map<std::string, std::size_t> outcomes;
};

/// Without `preemptions`, of orders that differ only in neighbours that do not depend on each other one is tried: partial-order reduction
/// with sleep sets (Flanagan, Godefroid 2005), which leaves out no outcome. With it, every order in which a session that could go on is left
/// at most so often, as CHESS does (Musuvathi, Qadeer 2007); being left because it waits does not count.
/// The rows of each schedule are `fresh`: the same again but for their ids, so that the same choices lead to the same statements.
explored explore(stepped_pair& two, std::optional<unsigned> preemptions, std::function<round_of()> const& fresh);

/// The schedule under way, or the last one: a line for each statement, for the message of a check that fails.
std::string const& schedule_text();

}  // namespace flow::test
