// The rows of a memory store, with what a database would call its indexes. Not thread-safe: the store has one mutex.
//
// Every change is made by one of these functions, and each leaves word of how to take it back: a transaction that is
// refused in the middle leaves nothing.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "flow/store.hpp"

namespace flow::memory_detail {

/// The caller broke the store's contract: becomes the flow::error it names.
struct refusal : std::runtime_error {
    refusal(errc c, std::string const& message) : std::runtime_error(message), code(c) {}
    errc code;
};

struct run_record {
    run_row row;
    std::deque<journal_entry> journal;    ///< a payload that lies in a blob left out
    std::map<std::int64_t, add_edge> edges;  ///< by waitpoint
    std::set<std::int64_t> wakes;            ///< waitpoints
    std::vector<std::int64_t> waitpoints;    ///< those its body made
    std::vector<std::int64_t> requests;
    std::map<std::int64_t, close_policy> children;  ///< by the child's number: in the order they were started
    std::map<std::string, seq_no, std::less<>> published;  ///< the newest entry of each key

    journal_entry const& at(seq_no seq) const { return journal[static_cast<std::size_t>(static_cast<std::int64_t>(seq)) - 1]; }
    seq_no last() const noexcept { return seq_no{static_cast<std::int64_t>(journal.size())}; }
};

struct waitpoint_record {
    waitpoint_row row;
    std::int64_t run = 0;
    std::set<std::int64_t> waiters;  ///< runs with an edge to it
    std::vector<response> responses{};
};

struct request_record {
    request what;
    std::int64_t run = 0;
    request_fate fate{};
    seq_no entry = seq_no::none;
};

struct event_record {
    event what;
    std::int64_t run = 0;    ///< told to this one alone
    std::int64_t taker = 0;  ///< the waitpoint it has completed
    seq_no entry = seq_no::none;
    bool forgotten = false;
};

struct owner_record {
    owner_info info;
    bool alive = true;
    std::vector<workflow_version> workflows{};  ///< what it announced
};

class tables {
public:
    // Reading. Numbers count from 1, as in the databases; a number that a row holds is always good.
    run_record const& run(std::int64_t num) const { return runs_[static_cast<std::size_t>(num - 1)]; }
    waitpoint_record const& waitpoint(std::int64_t num) const { return waitpoints_[static_cast<std::size_t>(num - 1)]; }
    request_record const& request_at(std::int64_t num) const { return requests_[static_cast<std::size_t>(num - 1)]; }
    std::int64_t run_count() const noexcept { return static_cast<std::int64_t>(runs_.size()); }
    std::int64_t waitpoint_count() const noexcept { return static_cast<std::int64_t>(waitpoints_.size()); }
    /// 0: there is none.
    std::int64_t find(run_id id) const;
    std::int64_t find_key(std::string_view tenant, std::string_view key) const;
    std::int64_t find(waitpoint_id id) const;
    std::int64_t find(request_id id) const;
    std::int64_t find(event_id id) const;
    event_record const& event_at(std::int64_t num) const { return inbox_[static_cast<std::size_t>(num - 1)]; }
    std::int64_t event_count() const noexcept { return static_cast<std::int64_t>(inbox_.size()); }
    using topic = std::pair<std::string, std::string>;  ///< and correlation
    /// Events that nobody has got; pending waits for them. By age.
    std::map<topic, std::set<std::int64_t>> const& kept_events() const noexcept { return kept_events_; }
    std::map<topic, std::set<std::int64_t>> const& event_waits() const noexcept { return event_waits_; }
    std::set<std::pair<time_point, std::int64_t>> const& expiring_events() const noexcept { return expiring_events_; }
    std::string const* blob(digest const& hash) const;
    std::map<owner_id, owner_record> const& owners() const noexcept { return owners_; }

    using queue = std::set<std::tuple<std::int64_t, time_point, std::int64_t>>;  ///< (minus the priority, due, number): in the order of claims
    queue const& queued(workflow_version const& w) const;
    std::map<workflow_version, queue> const& queued() const noexcept { return queued_; }
    std::set<std::pair<time_point, std::int64_t>> const& due_waits() const noexcept { return due_waits_; }
    std::set<std::pair<time_point, std::int64_t>> const& delayed() const noexcept { return delayed_; }
    /// Of runs that have not ended.
    std::set<std::pair<time_point, std::int64_t>> const& deadlines() const noexcept { return deadlines_; }
    std::set<std::int64_t> const& with_wakes() const noexcept { return with_wakes_; }
    std::set<std::int64_t> const& with_mail() const noexcept { return with_mail_; }
    std::set<std::int64_t> const& runs_of(owner_id owner) const;

    // Writing.
    std::int64_t add_run(run_row row);
    void set_row(run_row const& row);
    void append(std::int64_t run, journal_entry e);
    void put_back(std::int64_t run, seq_no seq, std::string const& payload);
    void add_child(std::int64_t run, std::int64_t child, close_policy on_close);
    std::int64_t add_waitpoint(std::int64_t run, waitpoint_row row);
    void set_waitpoint(std::int64_t num, waitpoint_row row);
    void add_response(std::int64_t waitpoint, response r);
    bool add_edge(std::int64_t run, std::int64_t waitpoint, flow::add_edge e);  ///< false: it is there already
    void remove_edge(std::int64_t run, std::int64_t waitpoint);
    void add_wake(std::int64_t run, std::int64_t waitpoint);
    void remove_wake(std::int64_t run, std::int64_t waitpoint);
    std::int64_t add_event(event what, std::int64_t run);
    /// Given to a waitpoint, taken by an entry, forgotten.
    void set_event(event_record const& changed, std::int64_t num);
    void add_request(std::int64_t run, request what, request_fate fate, seq_no entry);
    void set_request(std::int64_t num, request_fate fate, seq_no entry);
    owner_id add_owner(owner_info info);
    void set_owner(owner_id owner, std::optional<owner_record> record);

    bool changed() const noexcept { return !undo_.empty(); }
    void commit() noexcept { undo_.clear(); }
    void rollback();

private:
    run_record& at(std::int64_t num) { return runs_[static_cast<std::size_t>(num - 1)]; }
    void index(run_row const& row, bool there);
    void index(waitpoint_record const& w, std::int64_t num, bool there);
    void index(event_record const& e, std::int64_t num, bool there);
    void put_event(std::int64_t num, event_record e);
    void put_row(run_row const& row);
    void put_waitpoint(std::int64_t num, waitpoint_row row);
    void put_request(std::int64_t num, request_fate fate, seq_no entry);
    void put_edge(std::int64_t run, std::int64_t waitpoint, std::optional<flow::add_edge> e);
    void put_wake(std::int64_t run, std::int64_t waitpoint, bool there);

    std::deque<run_record> runs_;
    std::deque<waitpoint_record> waitpoints_;
    std::deque<request_record> requests_;
    std::map<run_id, std::int64_t> run_ids_;
    /// Texts are looked for without copies of them.
    struct by_texts {
        using is_transparent = void;
        using texts = std::pair<std::string_view, std::string_view>;
        template <class A, class B>
        bool operator()(A const& a, B const& b) const
        {
            return texts(a.first, a.second) < texts(b.first, b.second);
        }
    };
    std::map<std::pair<std::string, std::string>, std::int64_t, by_texts> keys_;
    std::map<waitpoint_id, std::int64_t> waitpoint_ids_;
    std::map<request_id, std::int64_t> request_ids_;
    std::deque<event_record> inbox_;
    std::map<event_id, std::int64_t> event_ids_;
    std::map<topic, std::set<std::int64_t>> kept_events_, event_waits_;
    std::set<std::pair<time_point, std::int64_t>> expiring_events_;
    std::map<std::array<std::uint8_t, 32>, std::string> blobs_;
    std::map<owner_id, owner_record> owners_;
    std::int64_t last_owner_ = 0;

    std::map<workflow_version, queue> queued_;
    std::map<owner_id, std::set<std::int64_t>> held_;
    std::set<std::pair<time_point, std::int64_t>> due_waits_, delayed_, deadlines_;
    std::set<std::int64_t> with_wakes_, with_mail_;

    std::vector<std::function<void()>> undo_;
};

}  // namespace flow::memory_detail
