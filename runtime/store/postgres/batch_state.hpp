// What a batch of groups meets and changes, in memory: read once behind the locks, judged and changed group by group, written at the
// end in a few statements. So a hundred groups cost as many messages to the server as one.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "flow/store.hpp"
#include "runtime/store/postgres/changes.hpp"
#include "runtime/store/postgres/database.hpp"
#include "runtime/store/postgres/events.hpp"
#include "src/children.hpp"

namespace flow::postgres_detail {

/// What has to be known of a run to judge its groups.
struct run_state {
    run_row row;  ///< number, id, status, epoch, owner, version; the rest is written where it changes
    seq_no last = seq_no::none;
    bool behind = false;  ///< a group of it was not applied: nor is what comes behind it
    bool changed = false;
    bool ended = false;
};

struct wait_state {
    std::int64_t num = 0;  ///< 0: made by this batch
    std::int64_t run = 0;
    waitpoint_row row;
    bool changed = false;
    bool completed = false;  ///< by this batch, with what its row says
};

/// An event of the inbox, and the wait that it ends.
struct given_event {
    std::int64_t event = 0;
    waitpoint_row done;
};

class batch_state {
public:
    /// Takes every lock the groups need, in one pass: runs, then topics, then waitpoints, each by number (P7). Then reads.
    batch_state(transaction& t, std::span<group const> groups);

    run_state* run(std::int64_t num);
    wait_state* waitpoint(waitpoint_id id);

    /// Are exactly these entries there already, before this batch or by it? (P8)
    bool landed(group const& g);

    // Changes, seen by the groups behind.
    void append(group const& g);
    /// False: its id is taken in this batch.
    bool make(std::int64_t run, waitpoint_row const& row);
    /// What is kept for this wait: the oldest that fits, but those; nothing: 0 and the wait as it is.
    given_event find_event(waitpoint_row const& wait, std::set<std::int64_t> const& but) const;
    /// The wait has been made, as ended by it.
    void give(given_event const& e);
    void return_event(waitpoint_id w, time_point at) { returned_.emplace_back(w, at); }
    bool returns_events() const noexcept { return !returned_.empty(); }
    void take_event(waitpoint_id w, seq_no entry) { taken_events_.emplace_back(w, entry); }
    void decide(wait_state& w, waitpoint_status fate, time_point at, std::int64_t except);
    bool has_edge(std::int64_t run, waitpoint_id w) const { return edges_.contains({run, w}); }
    void add_edge(std::int64_t run, flow::add_edge const& e);
    void add_wake(std::int64_t run, waitpoint_id w) { new_wakes_.insert({run, w}); }
    /// Its edge and its wake row.
    void forget(std::int64_t run, waitpoint_id w);
    /// Waitpoints the run has edges to that are decided.
    std::vector<waitpoint_id> decided_for(std::int64_t run);
    std::set<request_id> const& mail(std::int64_t run) { return mail_[run]; }
    /// False: it is not in the mailbox.
    bool take_mail(std::int64_t run, request_id id, seq_no entry);
    void put_back(std::int64_t run, flow::put_back const& what) { put_back_.emplace_back(run, what); }
    /// The run that has the child's id or key and is not that child, before this batch or by it.
    run_row const* in_the_way(start_child const& what) const;
    /// Starts it, unless it is there.
    void start(std::int64_t parent, start_child const& what);
    /// The run has ended: whoever waits for that learns it.
    void complete_end(run_id run, detail::run_result result, time_point at);
    /// Its children, all or some, are asked to cancel when the batch is written.
    void close(std::int64_t run, bool ends, std::vector<run_id> only, time_point at);
    /// What an end leaves of the run's waits and its mailbox (run_change).
    void clear_up(std::int64_t run, time_point at);

    /// Entries first.
    void write();
    /// Runs that nobody holds any more: queued, or with a wait that falls due. Others' runs that are woken.
    bool frees_runs() const;
    bool wakes_or_queues() const;
    /// Known once it is written.
    bool asked_children() const noexcept { return asked_children_; }
    std::size_t wakes() const noexcept { return new_wakes_.size() + starts_.size(); }
    /// Those whose runs were written.
    std::set<owner_id> const& writers() const noexcept { return writers_; }

private:
    using link = std::pair<std::int64_t, waitpoint_id>;  ///< run and waitpoint

    struct concerned;
    void lock(concerned const& all);
    void read(concerned const& all);
    void read_waits(std::span<waitpoint_id const> ids);
    void read_inbox(concerned const& all);
    void write_inbox();
    void write_waits();
    void write_links();
    void write_mail();
    void clear_up_ended();
    void write_starts();
    void write_children();
    void close_children();

    connection& c_;
    std::map<std::int64_t, run_state> runs_;
    std::map<waitpoint_id, wait_state> waits_;
    std::vector<waitpoint_id> made_;  ///< in order: who has waited longest has the smallest number
    std::map<link, bool> edges_;  ///< those there are now; true: to what was decided before this batch
    std::map<waitpoint_id, std::set<std::int64_t>> waiters_;
    std::map<std::int64_t, std::set<request_id>> mail_;

    std::map<std::pair<std::int64_t, seq_no>, journal_entry const*> appended_;
    std::vector<std::pair<std::int64_t, journal_entry const*>> entries_;  ///< in order
    std::set<link> gone_edges_, gone_wakes_, new_wakes_;
    std::map<link, std::pair<std::string, std::string>> new_edges_;
    std::vector<std::pair<request_id, seq_no>> taken_;
    std::map<topic, std::map<std::int64_t, event>> inbox_;  ///< what is kept for the waits that are made
    std::vector<std::pair<std::int64_t, waitpoint_id>> given_;
    std::vector<std::pair<waitpoint_id, seq_no>> taken_events_;
    std::vector<std::pair<waitpoint_id, time_point>> returned_;
    std::vector<std::pair<std::int64_t, flow::put_back>> put_back_;
    std::set<owner_id> writers_;

    struct started_child {
        std::int64_t parent = 0;
        start_child const* what = nullptr;
        run_row row;
        detail::plan plan;
    };
    std::map<run_id, run_row> there_;            ///< runs under the ids of children that are to be started
    std::map<std::pair<std::string, std::string>, run_row> keyed_;
    std::vector<started_child> starts_;
    std::set<std::int64_t> parents_;             ///< of those that may be closed here: they have children
    std::vector<closed_run> closing_;
    time_point closed_at_{};
    bool asked_children_ = false;
};

}  // namespace flow::postgres_detail
