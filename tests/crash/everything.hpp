// A workflow that uses every operation, and the person and world around it: what the crash tests run, whole, over and over.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "flow/flow.hpp"
#include "support/world.hpp"

namespace flow::test {

/// Its result, whatever happened on the way.
inline constexpr std::string_view everything_result =
    R"("rows=3 mailed=done paid=1 waited=7 early=5 timed out retried=2 sub=21 skipped branches=42")";

void add_everything(flow::engine& e);

/// Runs it to its end: time passes, tokens are completed, interventions decided ("complete" for a step in doubt). Starts it under a
/// key, so that a second call goes on. False: the store is gone, or it did not end within a day.
bool run_everything(world& w);

/// Outcomes of idempotent and non_replayable steps that are durable, with how often their functions ran: what a restart must not
/// change.
std::map<std::string, int> settled_effects(store& s);

}  // namespace flow::test
