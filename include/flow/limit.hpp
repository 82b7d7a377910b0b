// limit: how many functions of a kind run at once, over all runs.
#pragma once

#include <type_traits>

#include "flow/error.hpp"

#pragma GCC visibility push(default)

namespace flow {

/// An option of a step: `{.limit = flow::limit{"model", 4}}`. At most so many functions of steps that name it run at once, over all
/// runs of all engines of this process; other processes count for themselves.
///
/// The rest wait in line, in the order in which they came, and hold no thread meanwhile; nothing of the attempt has begun: its time
/// limit does not count yet, and a non_replayable step has no intent in the journal. A cancel, a lost group and a stop take a step out
/// of the line at once. Each attempt of the step's own function takes a place of its own, until the function has returned, and a retry
/// comes in at the end of the line; `reconcile`, `compensate` and a step that is replayed take none. The line is not journaled: after
/// a crash it forms anew.
///
/// Steps may give different numbers for one name, as two versions of a workflow do side by side: then the smallest number of those that
/// run or would run counts.
///
/// A plain value. The name is a literal, or lives until the step has its outcome.
class limit {
public:
    constexpr limit() = default;
    /// Throws flow::error(bad_argument) for an empty name, or less than one.
    constexpr limit(char const* name, int most) : name_(name), most_(most)
    {
        if (!name || !*name) throw flow::error(errc::bad_argument, "a limit needs a name");
        if (most < 1) throw flow::error(errc::bad_argument, "a limit lets at least one function run");
    }

    constexpr explicit operator bool() const noexcept { return most_ > 0; }
    constexpr char const* name() const noexcept { return name_; }
    constexpr int most() const noexcept { return most_; }

private:
    char const* name_ = nullptr;
    int most_ = 0;
};
static_assert(std::is_trivially_copyable_v<limit>);

}  // namespace flow

#pragma GCC visibility pop
