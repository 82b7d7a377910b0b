// Many runs at once on one engine, and how large the commits were that their journals were written in.
#pragma once

#include <atomic>
#include <cstddef>

#include "flow/store.hpp"

namespace flow::bench {

/// So many runs of so many idempotent steps, all queued before; at most `at_once` of them are in the engine's hands at a time.
struct load {
    int at_once = 0;
    int runs = 0;
    int steps = 0;
};

/// Hands a store its probe; counts commits while `counting`.
class commit_counter {
public:
    flow::probe probe();
    void start() { counting_ = true; }
    /// Commits of the journal writer, and others: claims, above all.
    std::size_t applied() const { return applied_; }
    std::size_t others() const { return others_; }

private:
    std::atomic<bool> counting_{false};
    std::atomic<std::size_t> applied_{0}, others_{0};
};

/// Writes the backlog. To be called once a store, before `execute`.
void queue(store_ptr const& store, load const& l);
/// Steps a second, from the engine's first claim to the durable end of the last run.
double execute(store_ptr const& store, load const& l, commit_counter& counter);

}  // namespace flow::bench
