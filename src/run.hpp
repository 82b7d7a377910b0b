// One run while it is loaded: the body, what is recorded of it, what is in flight. Decides; the host acts.
//
// Everything here happens on the run's strand: one thread at a time (P15). Event -> decision -> commands -> event.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "flow/detail/body.hpp"
#include "flow/detail/operation.hpp"
#include "flow/detail/scope.hpp"
#include "flow/error.hpp"
#include "flow/status.hpp"
#include "flow/step.hpp"
#include "flow/rows.hpp"
#include "src/history.hpp"
#include "src/host.hpp"
#include "src/wait_policy.hpp"

namespace flow::detail {

class pending;
class resource_slot;
struct superseded;

/// What an engine or a workflow sets for all its runs.
struct run_settings {
    effect default_effect = effect::non_replayable;
    duration suspend_threshold = std::chrono::seconds{5};  ///< longer sleeps are waitpoints (P17)
    duration announce_after = std::chrono::seconds{1};     ///< a step running longer gets a `started` entry (P23)
    time_span step_timeout{};                              ///< of steps that give none; zero: none
    int max_recoveries = 3;                                ///< without progress, before a person is asked (P31)
    std::size_t max_payload = 64u << 20;                   ///< bytes of one encoded value
    std::size_t blob_threshold = 100'000;                  ///< bytes; larger payloads lie in blobs (P14)
    std::size_t window_entries = 4096;                     ///< not durable at most, before the body waits (P22)
    std::size_t window_bytes = 8u << 20;
    replay_order order = replay_order::strict;
};

/// Makes the run's body from its arguments, at its start and after every checkpoint. An error says what is wrong with them.
using body_maker = std::function<outcome<std::unique_ptr<body>>()>;

class run final : private continuation {
public:
    run(loaded_run loaded, run_settings settings, host& h);
    ~run();
    run(run const&) = delete;

    // ---- events, from the host -------------------------------------------------------------------------------------

    /// Enters the body from the top. What is wrong with the run already (corrupt, undecodable arguments) holds it.
    void enter(body_maker make);
    /// The group whose last entry is `last` is durable.
    void applied(seq_no last);
    /// The newest group was not written: a waitpoint was decided already, a child's id or key is another run's, or (neither) a release found
    /// work.
    void superseded(struct superseded why);
    void returned(ticket t, call_result result);
    void due(ticket t);
    void woken(waitpoint_row const& w);
    void mail(request const& r);
    /// Stops what runs: functions are asked to stop, nothing new begins, the body is not resumed any more.
    void stop();
    /// Orderly end of ownership after stop(), when no function refers into the frame: writes the release.
    void release();
    /// It waits and nothing of it runs: frame and ownership can be given back, to come back by replay.
    bool can_leave() const noexcept;
    /// Does so, unless there is mail or a wait is over meanwhile: then it stays.
    void evict();

    // ---- facts ---------------------------------------------------------------------------------------------------------

    enum class phase : std::uint8_t {
        live,     ///< goes on
        leaving,  ///< its last group, an end, a hold or a release, is on its way
        over,     ///< that group is answered: the frame may go
    };
    phase now_in() const noexcept { return phase_; }
    /// No function refers into the frame; only detached ones may still run.
    bool is_idle() const noexcept;
    bool has_calls() const noexcept { return !calls_.empty(); }
    run_row const& row() const noexcept { return row_; }
    status_pair status() const noexcept { return row_.status; }
    /// After a replay only: it met no mismatch; or what it met.
    bool would_go_on() const noexcept { return would_go_on_; }
    std::string const& would_be_held_by() const noexcept { return would_be_held_by_; }
    /// Durable outcomes of this stay: progress, for P31.
    bool made_progress() const noexcept { return progressed_; }
    /// Nothing of it runs or is about to, until some time has passed: it pauses before the next attempt, or sleeps.
    bool rests() const noexcept;

    /// Replays only: nothing is written, and the body stops where its history ends.
    void replay_only() noexcept { dry_ = true; }

    // ---- for operations ------------------------------------------------------------------------------------------------

    host& hosted_by() noexcept { return host_; }
    run_settings const& settings() const noexcept { return settings_; }
    time_point now() const { return host_.clock().now(); }
    bool is_cancelling() const noexcept { return row_.status.run == run_status::cancelling; }

    struct expectation {
        entry_kind kind;       ///< of the outcome: step, waited, woken, value, token
        std::string_view name;
        effect cls = effect::none;
        std::string_view shape_in, shape_out;
        bool in_place = false;  ///< a step whose function is called in place: its output is there at once
    };
    enum class found : std::uint8_t {
        recorded,   ///< entries of this operation are in `entries`
        nothing,    ///< it is live
        finished,   ///< failure was set on the operation (a cancel): it is ready
        stopped,    ///< the body must not go on
    };
    /// Looks for an operation in the history, or delivers a cancel to it. With `recorded`, call `consumed` once done with it.
    /// `stopped` also where other outcomes come first: then `op.proceed` is called when its turn has come (P15).
    found find(scope& s, continuation& c, position const& at, expectation const& e, journaled_operation& op,
               std::span<journal_entry const* const>& entries);
    void consumed(position const& at) { history_.pass(at); }
    /// What `start` returns where the outcome is there without having been waited for. In a branch it is told after the event that is being
    /// handled, live as on replay, so that both take the same turns (P15): only values drawn, tokens made and steps in place are at once.
    bool ready(scope const& s, continuation& c);
    /// While one lives no other outcome of the history is delivered: one of them is being made again (P27).
    void hold_history(bool on) noexcept { healing_ = on; }
    class history& recorded() noexcept { return history_; }

    /// Something is recorded that nobody has asked for, where the segment ends: the run is held.
    bool is_more_recorded();

    // Segments (P20, P21).
    std::uint32_t segment() const noexcept { return segment_; }
    /// What the newest checkpoint was given; `how` none: there is none. Nothing: it is damaged.
    std::optional<std::string_view> segment_state(encoding& how);
    /// Closes the segment; the body is entered again at the top, after the event that is being handled.
    void close_segment(std::string state, std::string_view shape);
    /// Closes the segment and gives the run back, to be begun anew. For a group that may be superseded: see `submit_and_hold`.
    using answered = std::function<void(struct superseded const*)>;
    void continue_anew(std::string arguments, std::string_view shape, std::uint32_t version, answered then);
    std::optional<bool> recorded_patch(std::string_view id) const;
    bool answer_patch(branch const& b, std::string_view id);
    /// Once the mail that superseded a release has been taken.
    void after_mail(std::function<void()> again) { after_mail_ = std::move(again); }
    pending* find_flying(ticket t) const noexcept
    {
        auto const at = flying_.find(t);
        return at == flying_.end() ? nullptr : at->second;
    }

    /// The text of an entry's payload, from its blob if it lies there; nothing if it does not match its hash. Lives as long as the
    /// entry, or until the next call.
    std::optional<std::string_view> intact_payload(journal_entry const& e);

    // Writing. Entries and effects gather in one group until `submit`.
    journal_entry make(entry_kind k, position const& at) const;
    seq_no append(journal_entry e);
    void add(row_effect e) { open_.effects.push_back(std::move(e)); }
    /// A status change with its snapshot entry, in the open group.
    void change(status_event on, wait_reason const& reason, std::string why);
    void submit();
    /// For a group that may be superseded: until it is answered nothing is appended or delivered (P37). `then` is called with
    /// nothing once it is durable, else with what superseded it.
    void submit_and_hold(answered then);

    /// Everything appended is durable.
    bool all_durable() const noexcept { return durable_ == last_; }
    /// A group that may be superseded is on its way: until it is answered nothing is appended (P37).
    bool awaits_answer() const noexcept { return static_cast<bool>(answering_); }
    /// Something waits for that: an operation at its barrier, or the run's end.
    bool waits_for_durable() const noexcept { return !all_durable() && (!want_durable_.empty() || answering_ || phase_ == phase::leaving); }
    /// So much is not durable yet that the body has to wait (P22).
    bool window_full() const noexcept;
    /// pending::durable is called when everything appended so far is durable.
    void when_durable(pending& p);

    // Status: this operation stands on a waitpoint; it goes on. The run waits when nothing else is in flight.
    void block(pending& p, wait_reason const& reason, parting leaves = parting::freely);
    void unblock(pending& p, std::string why);
    /// While a group starts its branches, what it will have in flight is not known.
    void starting_branches(bool on) noexcept { starting_branches_ += on ? 1 : -1; }

    /// Tells the body that what it awaits is there; not while the run is being stopped.
    void resume(continuation& c);

    // Registry of what is in flight.
    ticket enter_flight(pending& p);
    void leave_flight(pending& p) noexcept;
    ticket second_ticket(pending& p);  ///< another ticket of the same pending operation: a timer beside a call
    void drop_ticket(ticket t) noexcept;
    void wait_for(waitpoint_id w, pending& p);
    void no_longer_waits(waitpoint_id w, pending& p) noexcept;
    /// The effects at the end of a wait; nothing while another branch needs the edge.
    void take(waitpoint_id w);
    void leave_open(waitpoint_id w);
    /// A waitpoint that was decided already when the run was loaded.
    waitpoint_row const* known(waitpoint_id w) const;
    /// A token this run made: when it ends by itself, and where it was made.
    struct made_token {
        time_point due_at = never;
        std::string place;
        seq_no after = seq_no::none;  ///< durable together with what follows this entry
    };
    void remember_token(waitpoint_id w, made_token t)
    {
        t.after = last_;
        tokens_.insert_or_assign(w, std::move(t));
    }
    std::optional<made_token> token_of(waitpoint_id w) const;
    /// A child this run started in this segment, and where: what goes with the branches that are given up.
    void remember_child(run_id child, std::string place) { children_.insert_or_assign(child, std::move(place)); }
    /// The newest token made under an idempotency key; nothing for an empty or unknown key.
    struct keyed_token {
        waitpoint_id id;
        time_point until;  ///< the key counts before
        std::string answer;  ///< shape
    };
    keyed_token const* find_keyed(std::string_view key) const;
    void keep_keyed(std::string_view key, keyed_token t) { keyed_.insert_or_assign(std::string(key), std::move(t)); }
    void call_started(ticket t, bool detached) { calls_[t] = detached; }

    // Resources (flow/resource.hpp): open, or to be restored.
    void hold_resource(resource_slot& s) { resources_.push_back(&s); }
    void drop_resource(resource_slot& s) noexcept;
    /// There are recorded outcomes that the body has not been given yet.
    bool is_replaying();
    /// The one taken when the run last left memory, of the resource opened there; null: none since.
    journal_entry const* newest_snapshot(position const& at) const;

    uuid draw_uuid();

    /// Going on would be wrong: the run is held (P19, P41). The body does not go on and sees nothing of it.
    void hold(std::string kind, std::string message);
    /// The secret of a waitpoint that it makes (P39). Nothing: the store's key cannot be read, and the run is held.
    std::optional<std::string> secret_of(waitpoint_id w);
    /// A cancel asked for by an intervention's decision.
    void cancel_here(std::string by, std::string why);
    /// A cancel of these branches alone: a group has no use for them. `first` appends what stands before it in the same group.
    void cancel_branches(std::vector<branch*> within, std::function<void()> first);
    bool is_cancel_wanted(branch const& b) const noexcept;
    /// After the event that is being handled, and what else was kept back.
    void later(std::function<void()> e) { kept_back_.push_back(std::move(e)); }
    /// When nothing else is left to be done just now: behind whatever the groups decide.
    void lastly(std::function<void()> e) { lastly_.push_back(std::move(e)); }
    /// The end of a run whose body is not entered any more.
    void fail_here(error const& e);
    /// The cancel, at this operation: its entry in the open group, and the branch is marked.
    void deliver_cancel(branch& b, position const& at, std::string_view name, journaled_operation& op);
    /// False: nothing new may begin (a replay only, a stop).
    bool go_live();

private:
    using event = std::function<void()>;

    void done() override { body_done_ = true; }
    struct standing;
    void dispatch(event e);  ///< now, or when the group in doubt is answered
    void after_event();      ///< kept-back events, waiters for durability, the body's end
    bool held_for_damage();
    void make_body();
    void begin_body();
    void begin_segment();
    void start_over();
    journal_entry segment_entry(entry_kind kind, std::string_view called, std::string payload, std::string_view shape);
    void finish();
    void leave(status_event on, entry_kind last, std::string payload, flow::encoding how, std::string_view shape,
               std::string reason, std::string why);
    void take(request const& r);
    struct withdrawal {
        std::vector<branch*> within;  ///< none: the whole run
        std::function<void()> first;  ///< appends what stands before it
        std::vector<waitpoint_row> answered_first;
        std::set<waitpoint_id> given_back;  ///< events that came for a branch that is given up
    };
    void take_cancel(request const& r);
    void arm_deadline();
    void end_as_cancelled(std::string why);
    void withdraw(withdrawal w);
    void close_children_of(std::vector<branch*> const& within);
    void park(scope& s, continuation& c, position const& at, journaled_operation& op);
    bool advance();
    struct parked;
    std::map<std::uint64_t, parked>::iterator first_inserted();
    bool is_busy() const noexcept;
    void settle_status();
    bool wake_resources();
    bool may_part_with_resources() const noexcept;
    bool waits_let_it_leave() const noexcept;
    bool may_stand_still() const noexcept;
    void snapshot_resources(bool leaving);
    void keep_up_resources();
    void forget_written_snapshots() noexcept;
    bool pause_if_idle();
    void wake_durable();
    standing stands() const { return {row_.status, row_.snapshot, row_.reason}; }
    void mismatch(position const& at, expectation const& wanted, journal_entry const& recorded);
    void not_asked_for(journal_entry const& recorded);
    void unused(journal_entry const& recorded);

    run_row row_;
    run_settings settings_;
    host& host_;
    class history history_;
    std::string blob_;  ///< what intact_payload gave last, if it lay in a blob
    std::vector<waitpoint_row> known_waitpoints_;
    std::vector<request> mailbox_;
    std::set<request_id> taken_mail_;

    std::uint32_t segment_ = 0;
    std::optional<journal_entry> segment_start_;
    std::map<std::string, bool, std::less<>> patches_;  ///< answers of this segment

    branch root_branch_;
    std::unique_ptr<scope> root_;
    body_maker maker_;
    std::unique_ptr<body> body_;
    pending_ptr gate_;
    bool body_done_ = false;
    phase phase_ = phase::live;
    bool stopping_ = false, dry_ = false, would_go_on_ = false, progressed_ = false;
    std::string would_be_held_by_;

    group open_;
    std::size_t open_bytes_ = 0;
    seq_no last_ = seq_no::none, durable_ = seq_no::none, first_outcome_ = seq_no::none;
    std::deque<std::pair<seq_no, std::size_t>> in_flight_;  ///< groups not answered: last seq, bytes
    std::size_t bytes_in_flight_ = 0;

    std::uint64_t next_ticket_ = 1;
    std::map<ticket, pending*> flying_;
    std::multimap<waitpoint_id, pending*> waiting_;
    std::size_t pendings_ = 0;  ///< in flight
    std::vector<resource_slot*> resources_;
    struct stand {
        pending* on;
        wait_reason reason;
        parting leaves;
    };
    std::vector<stand> standing_;  ///< of these, those on a waitpoint
    int starting_branches_ = 0;
    struct parked {
        journaled_operation* op;
        scope* s;
        continuation* c;
        position at;
        bool shielded;
    };
    std::map<std::uint64_t, parked> parked_;  ///< asked for before their turn, in the order they were
    std::map<std::string, std::uint64_t, std::less<>> parked_at_;  ///< by path, or place
    std::uint64_t parked_ever_ = 0;
    bool delivering_ = false, healing_ = false;
    std::map<waitpoint_id, made_token> tokens_;
    std::map<std::string, keyed_token, std::less<>> keyed_;
    std::map<run_id, std::string> children_;
    std::vector<pending*> want_durable_;
    answered answering_;  ///< set while a group that may be superseded is on its way
    struct standing {
        status_pair status;
        seq_no snapshot{};
        std::string reason;
    };
    standing before_;  ///< as it was before the open group, or before the one that may be superseded
    ticket deadline_ = ticket::none;  ///< the timer
    bool expiring_ = false;  ///< what cancels it is its deadline
    bool pausing_ = false;  ///< asked to pause: nothing new begins, and when nothing runs it stands still
    std::function<void()> after_mail_;  ///< its release was superseded by mail: once that is taken
    std::deque<event> kept_back_, lastly_;
    std::map<ticket, bool> calls_;  ///< functions out, and whether they are detached
};

/// Why a group was not written.
struct superseded {
    std::optional<waitpoint_row> by;
    std::optional<run_row> taken{};
};

}  // namespace flow::detail
