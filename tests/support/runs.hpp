// What a test of a store writes: runs, groups, waitpoints, requests, each sound unless the test spoils it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "flow/store.hpp"

namespace flow::test {

/// An instant of the tests' own: seconds after the first of them.
time_point at(std::int64_t seconds);

/// Ids that never repeat in one program.
uuid fresh_uuid();

new_run some_run(std::string_view workflow = "greeting", std::string_view key = "");
waitpoint_row some_token(std::string_view name = "approve");
waitpoint_row some_timer(time_point due);
request some_request(run_id run, request_kind kind = request_kind::cancel);
/// Told to whoever waits for "payment" of "order-17".
event some_event(std::string_view payload = "17");
waitpoint_row some_event_wait(std::string_view shape = "i32");
completion some_completion(waitpoint_id id, std::string_view output = "true");

owner_id some_owner(store& s);

/// A run that a test holds, as an engine would: what the next group follows, and under which epoch.
class held_run {
public:
    explicit held_run(run_row row, seq_no last);

    run_id id() const noexcept { return row.id; }

    /// A group with this many step entries.
    group steps(std::size_t count = 1, std::string_view payload = "1") const;
    /// A group whose snapshot entry says that this event happened.
    group change(status_event on, bool release = false) const;
    /// A sound group's entries are sealed: again after a test changed them.
    static void seal(group& g);
    /// What was applied is behind us.
    void advance(group const& g);

    run_row row;
    seq_no last;
};

/// Starts a run of that workflow and claims it.
held_run start_and_claim(store& s, owner_id owner, std::string_view workflow = "greeting");
/// Claims whatever is to be had of these workflows.
std::vector<claimed> claim_all(store& s, owner_id owner, std::vector<workflow_version> workflows = {{"greeting", 1}},
                               std::size_t limit = 100);
held_run hold(store& s, claimed const& c);

answer apply(store& s, group const& g);
/// Applies it and moves the run on; a test fails if it is not applied.
void applied(store& s, held_run& run, group const& g);

/// Parks a run on a new token: registered, blocked, suspended and released. Returns the token.
waitpoint_row park(store& s, held_run& run);
waitpoint_row park_on(store& s, held_run& run, waitpoint_row row);

run_row row_of(store& s, run_id id);

}  // namespace flow::test
