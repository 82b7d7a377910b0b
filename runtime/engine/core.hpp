// What an engine is made of. The public class is a handle on it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "flow/engine.hpp"
#include "runtime/engine/client_core.hpp"
#include "runtime/engine/driver.hpp"
#include "runtime/engine/held.hpp"
#include "runtime/engine/journal_writers.hpp"
#include "runtime/engine/timers.hpp"
#include "runtime/engine/workers.hpp"
#include "src/plans.hpp"
#include "src/run.hpp"

namespace flow::detail {

class async_executor;

// What another process wrote is seen within one of these, where the store does not tell by itself. Bound to keep: 50 ms.
inline constexpr std::chrono::milliseconds look_every{10};
// So many runs are claimed, woken or looked at in one call of the store.
inline constexpr std::size_t claim_chunk = 100;

class engine_core {
public:
    engine_core(std::shared_ptr<client_core> shared, engine_options options);
    ~engine_core();

    void add(std::string_view name, workflow_options o, workflow_functions const& f);
    /// The name and version a function was registered under. Throws flow::error(unknown_workflow).
    workflow_version registered(workflow_functions const& f) const;
    /// The same without exceptions.
    outcome<workflow_version> name_of(workflow_functions const& f) const;
    /// Version 0: the newest. Throws flow::error(unknown_workflow).
    std::pair<workflow_version, workflow_functions const*> find(std::string_view name, std::uint32_t version) const;
    any_run_handle start(workflow_version const& w, std::string arguments, std::string_view shape, start_options const& o);

    /// Completes a waitpoint; what that wakes goes on here, if it can. Any thread.
    outcome<completion_answer> complete(flow::completion const& what);

    poll_result poll(std::chrono::microseconds budget);
    bool is_polled() const noexcept { return drive_ == driven::by_poll; }
    executor const& on() const noexcept { return options_.executor; }
    bool stop(std::chrono::milliseconds limit);
    /// On a caller's executor: returns at once. `done` is called once, on any thread, with what `stop` would have returned.
    void stop_then(std::chrono::milliseconds limit, std::function<void(bool)> done);
    /// The end, whatever still runs: without limit, but on a caller's executor it waits for no Asio step.
    void end();
    std::vector<std::string> still_running() const;
    health_report health();

    // ---- for drivers, any thread -------------------------------------------------------------------------------------
    std::shared_ptr<flow::store> const store;
    std::shared_ptr<workers> const threads;
    timers clocks;
    journal_writers journal;
    signs_of_life life;

    flow::clock const& clock() const noexcept { return shared_->time(); }
    void random(std::uint8_t* bytes, std::size_t n) const { shared_->random(bytes, n); }
    void log(log_level level, std::string const& text) const { shared_->log(level, text); }
    async_executor& coroutines();
    void commit_soon();  ///< groups were given and nobody on this thread waits for them
    std::shared_ptr<client_core> const& shared() const noexcept { return shared_; }
    bool may_act() const noexcept { return store->may_act(owner_); }
    void run_is_over(driver& d);
    void run_waits(run_id id, bool waits);  ///< it could leave memory; it could no longer
    /// Holds a run that cannot go on from what is in memory, because the store refuses its groups for good (P9) or there is no memory: from what
    /// is stored of it.
    void quarantine(run_id id, std::string const& why);
    void something_ended();  ///< a function returned, a run ended: whoever waits for the engine's end looks again
    void look_soon();        ///< there may be a wake, mail or a run to claim

    bool is_suspect(run_id id) const;
    void suspect_passed(run_id id);

private:
    struct known_workflow {
        workflow_functions const* functions = nullptr;
        run_settings settings;
    };

    enum class driven : std::uint8_t { by_threads, by_poll, by_executor };
    static driven who_drives(engine_options const& o);
    bool commits_apart() const noexcept;  ///< a thread of ours does what waits for the store, and nobody else

    void serve();              ///< the service thread
    void look_around(bool everything);
    void tidy();               ///< what needs no store: frames that are over, runs that have waited long enough
    /// Of the thread that commits: it may have to wait for an answer. False: it has looked just now, and `everything` is not asked for.
    bool ask_for_look(bool everything);
    void look_when_asked();
    void look_into_store(bool everything);
    void tick();               ///< on the caller's executor, at least once in look_every
    void tick_soon();
    void deliver_notices();
    void claim_runs();
    /// Nothing: the store could not be asked; that is told.
    std::optional<std::vector<claimed>> claim(std::span<workflow_version const> of, std::size_t most);
    std::size_t room_for_runs();
    std::size_t room_worth_a_look() const;
    void announce();
    void refresh_policies();
    void judge_versions();
    void judge(workflow_version const& missing, std::uint32_t newest);
    void judge_run(run_id id, std::uint32_t newest);
    void judge_run(loaded_run const& run, std::uint32_t newest);
    bool has(workflow_version const& w) const;
    std::map<std::string, std::uint32_t> newest_versions() const;
    /// A group of this engine's for a run that it owns and nothing drives.
    bool write_for_run(loaded_run const& run, plan p, std::vector<row_effect> effects = {});
    void enter_strays();
    void enter(std::span<claimed const> all);
    void enter(claimed const& c, outcome<std::optional<loaded_run>> loaded);
    outcome<void> drive(claimed const& c, outcome<std::optional<loaded_run>> loaded);  ///< begins to drive it; any thread
    std::shared_ptr<std::vector<workflow_version> const> my_workflows() const;
    void begin(std::shared_ptr<driver> const& d, workflow_functions const& functions, stored_arguments arguments);
    void retry_held();
    void resume_retried();
    void evict_waiting();
    duration until_next_eviction() const;
    /// The whole list, page by page.
    void next_suspect();
    std::vector<std::shared_ptr<driver>> all_drivers() const;
    void trouble(std::string const& doing, error const& e);
    duration until_store_due() const;

    // The end, step by step: of `stop`, which waits between them, of `tick`, and of `end`.
    template <class Done>
    bool wait_until(std::chrono::steady_clock::time_point limit, Done done);
    bool drive_here();
    void begin_stop();
    bool all_returned() const;
    void give_back();
    /// What was to be given back is, and all is written.
    bool all_kept() const { return answered_ == stopped_drivers_.size() && !journal.has_work(); }
    void finish_stop();
    void stop_on();
    void tell_stopped(bool ended);

    std::shared_ptr<client_core> shared_;
    engine_options options_;
    driven const drive_;
    owner_id owner_ = owner_id::nobody;

    mutable std::mutex guard_;  ///< of what follows
    std::map<workflow_version, known_workflow> workflows_;
    std::map<workflow_functions const*, workflow_version> by_function_;
    /// Those of workflows_, made with it: an engine that is idle asks for them again and again.
    std::shared_ptr<std::vector<workflow_version> const> my_workflows_ = std::make_shared<std::vector<workflow_version> const>();
    std::map<run_id, std::shared_ptr<driver>> drivers_;
    std::vector<std::shared_ptr<driver>> leaving_;  ///< over; destroyed by the service, not on their own strand
    std::set<workflow_version> held_to_retry_;
    bool to_announce_ = false;  ///< what is registered is not told to the others yet
    std::vector<request> to_resume_;  ///< held runs that the code at hand replays
    std::map<run_id, duration> waiting_since_;  ///< steady; of runs that could leave memory
    std::set<std::pair<duration, run_id>> waiting_longest_;

    // One after another, so that only the run that ends its process is found out (P31).
    std::deque<std::pair<run_id, std::function<void()>>> suspects_;
    std::optional<run_id> suspect_;
    std::atomic<bool> any_suspect_{false};

    std::recursive_mutex polling_;  ///< one thread drives at a time; a step's function may wait for a run, and so drive
    std::mutex serving_;            ///< one thread looks around at a time
    std::shared_mutex bringing_;    ///< shared: by who brings in runs that a completion woke; alone: by who must see all that were claimed
    std::uint64_t seen_change_ = ~std::uint64_t{0};
    std::chrono::steady_clock::time_point last_claim_{}, asked_at_{};
    std::atomic<time_point> store_due_ = never;
    std::optional<errc> told_trouble_;
    bool told_warning_ = false, told_policies_ = false;
    std::chrono::steady_clock::time_point policies_read_at_{};
    duration next_judgement_{};  ///< steady
    std::map<workflow_version, duration> missing_since_;  ///< steady; versions of runs that stand or stood in the queue, and no living engine has them
    std::atomic<bool> strays_{false};   ///< perhaps there are runs that this engine owns and does not drive
    std::atomic<bool> backlog_{false};  ///< the last claim left runs in the queue
    bool look_again_ = false;  ///< a call of the last look around failed

    std::mutex sleep_guard_;
    std::condition_variable sleep_;
    bool look_ = true, ended_ = false;
    bool room_ = false;  ///< so many runs have ended that others can be claimed
    std::chrono::steady_clock::time_point naps_until_{};  ///< the service; the past while it works
    std::atomic<bool> look_at_all_{false};   ///< for the next look by the thread that commits
    std::atomic<std::chrono::steady_clock::time_point> looked_at_{};  ///< by it
    std::atomic<std::uint64_t> looked_behind_{0};  ///< the commits that look could see
    std::atomic<bool> commit_posted_{false}, tick_posted_{false};
    std::mutex ticking_;                     ///< one thread of the executor ticks at a time
    std::atomic<bool> stopping_{false}, stopped_{false};

    // Set by begin_stop, once.
    std::vector<std::shared_ptr<driver>> stopped_drivers_;
    std::atomic<bool> stop_begun_{false};  ///< what is above is there
    std::atomic<std::size_t> heard_stop_{0}, answered_{0};
    bool given_back_ = false;
    std::timed_mutex stopping_alone_;
    /// Who waits for the end on a caller's executor.
    struct stop_waiter {
        std::chrono::steady_clock::time_point limit;
        std::function<void(bool)> done;
    };
    std::mutex waiters_guard_;
    std::vector<stop_waiter> stop_waiters_;
    std::once_flag coroutines_once_;
    std::unique_ptr<async_executor> coroutines_;
    std::thread service_;
};

}  // namespace flow::detail
