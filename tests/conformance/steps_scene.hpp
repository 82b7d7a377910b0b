// What two transactions are done to at once: runs, a wait, and what must be true of them afterwards, whoever was first.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "child_groups.hpp"
#include "support/postgres_schedules.hpp"
#include "support/runs.hpp"

namespace flow::test {

/// One of the two, and what it was told.
struct side {
    struct answer_told {
        std::string text;
        std::optional<waitpoint_status> won;  ///< the wait's fate is its doing, it was told
    };
    stepped_pair::act act;
    std::function<answer_told()> told;
};

struct both {
    side first, second;
};

class scene {
public:
    scene(flow::store& s, stepped_pair& two, owner_id owner) : s_(s), two_(two), owner_(owner) {}

    // What is there beforehand.

    held_run a_run();
    /// Held, and blocked by this wait of its own.
    held_run waiting(waitpoint_row row);
    held_run parked(waitpoint_row row);
    held_run a_child(held_run& parent);
    /// The child has been started, the parent waits for it.
    void wait_for(held_run& parent, waitpoint_id what);
    void park(held_run& run);
    void write(held_run& run, group const& g) { applied(s_, run, g); }
    flow::store& store() const noexcept { return s_; }
    /// The wait it is all about.
    waitpoint_id wait() const noexcept { return wait_; }
    void about(waitpoint_id w) noexcept { wait_ = w; }

    waitpoint_row token(time_point due = never) const;
    waitpoint_row event_wait() const;
    waitpoint_row question(time_point due = never) const;
    event an_event(std::string_view payload = "17");

    // What is done.

    side completes(std::string_view output = "true") const;
    side delivers(event const& e) const;
    side responds(std::string_view by) const;
    side cancels(held_run const& run) const;
    /// At 9 s: what was due before is decided.
    side scans() const;
    side applies(group const& g) const;
    group registering(held_run const& run, std::optional<waitpoint_row> made = {}) const;
    group parking(held_run const& run) const;
    group deciding(held_run const& run, waitpoint_status fate) const;
    group giving_back(held_run const& run, waitpoint_row const& row) const;

    /// Looks whether all is well; in a few words what came of it. A test fails with `name` and the schedule.
    std::string check(std::string const& name, both const& sides);

private:
    group blocking(held_run const& run, status_event on, bool release) const;
    /// Whoever waits for what is decided is told, and takes it.
    void go_on(std::vector<std::string>& faults);

    flow::store& s_;
    stepped_pair& two_;
    owner_id const owner_;
    std::vector<run_id> runs_;
    std::vector<event> events_;
    waitpoint_id wait_{};
    std::string const correlation_ = to_string(fresh_uuid());
};

}  // namespace flow::test
