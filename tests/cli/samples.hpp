// Workflows that stop wherever the command line has something to say about them.
#pragma once

#include "flow/flow.hpp"
#include "support/manual_clock.hpp"
#include "support/world.hpp"

namespace flow::test {

struct approval {
    bool approved = false;
    std::string by;
};

/// A step, then a token of an `approval`.
workflow<std::string> approves(std::string what);
/// A token of an int.
workflow<int> asks_for_number();
/// Two tokens, one after the other made, the first waited for.
workflow<int> asks_twice();
/// A non_replayable step that throws: a person has to decide.
workflow<std::string> pays();
/// Fails for good with `message`.
workflow<int> fails_with(std::string message);
/// Sleeps a day; with a step afterwards that runs although it is cancelled.
workflow<int> sleeps_and_cleans_up();
/// Ends at once.
workflow<int> ends();
/// A token of a list.
workflow<std::vector<int>> asks_for_list();
/// So many steps.
workflow<int> counts_to(int n);
/// More than a double holds.
workflow<std::int64_t> large_number();
/// The same workflow before and after its code changed: the second does not fit the first's journal.
workflow<int> before_change();
workflow<int> after_change();

void add_samples(flow::engine& e);

}  // namespace flow::test
