// The workflows whose journals are recorded in v1/. A body here is as fixed as the file: what is recorded was written by it.
#pragma once

#include <functional>
#include <string>

#include "support/world.hpp"

namespace flow::test::journals {

/// The code that the recorded runs began with.
void add_first(engine& e);
/// The code they went on with, and go on with at every replay: patched, reordered, and some in another version.
void add_now(engine& e);
/// The same, but for `three_classes`, which has another body under the same version.
void add_changed(engine& e);

/// What `paying` says inside its call, once: where a process dies.
inline std::function<void()> inside_the_call;
/// What the step `forecast` returns: another value than before where its output is damaged.
inline int tomorrow = 1;
/// Ends what `slow` waits for.
void end_the_slow_step();

/// What people do with the recorded runs until all have ended: completes, decides, resumes, and lets 40 days pass.
void finish_all(world& w);

}  // namespace flow::test::journals
