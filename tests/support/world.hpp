// An engine driven by hand on some store, with a clock that moves only when told: what a test of a workflow needs.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "flow/flow.hpp"
#include "support/manual_clock.hpp"

namespace flow::test {

/// What really happened outside, counted by the functions of steps.
class ledger {
public:
    void note(std::string what)
    {
        std::lock_guard const lock(guard_);
        all_.push_back(std::move(what));
    }
    int count(std::string_view what) const
    {
        std::lock_guard const lock(guard_);
        int n = 0;
        for (auto const& line : all_) n += line == what;
        return n;
    }
    std::vector<std::string> all() const
    {
        std::lock_guard const lock(guard_);
        return all_;
    }
    void clear() { all_.clear(); }

private:
    mutable std::mutex guard_;
    std::vector<std::string> all_;
};

/// The ledger of the test that runs now; functions of workflows note what they do here.
ledger& outside();

class world {
public:
    using registration = std::function<void(flow::engine&)>;

    /// Of the options, clock, threads, name and log are its own; `random` where none is given.
    world(store_ptr store, registration add, engine_options options = {});
    ~world();

    flow::engine& engine() { return *engine_; }
    manual_clock& clock() { return clock_; }
    store_ptr const& store() const { return store_; }

    /// All that can happen without time passing.
    void settle();
    /// Time passes, from one due instant to the next.
    void pass(duration d);

    /// The engine goes down in an orderly way, and another comes up on the same store (or on this one), perhaps with other code.
    void restart(store_ptr on = nullptr, registration add = nullptr);
    void stop() { engine_.reset(); }

    run_view view(run_id id) { return engine().inspect(id); }
    run_status status(run_id id) { return engine().find(id).status().run; }
    /// The id of the only open token of that name.
    waitpoint_id open_token(std::string_view name = {});
    std::vector<journal_entry> journal(run_id id) { return engine().journal(id, seq_no::none, 100'000); }
    int entries(run_id id, entry_kind k);

    std::vector<std::string> log;

private:
    void make();

    manual_clock clock_;
    store_ptr store_;
    registration add_;
    engine_options options_;
    static inline std::uint64_t seed_ = 1;  ///< another for every engine: no two draw the same ids
    std::optional<flow::engine> engine_;
};

}  // namespace flow::test
