// One loaded run in an engine: its strand, and the host that carries its decisions out.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/engine/timers.hpp"
#include "runtime/engine/journal_writer.hpp"
#include "src/host.hpp"
#include "src/run.hpp"

namespace flow::detail {

class engine_core;
class workers;

class driver final : public host, public group_owner, public std::enable_shared_from_this<driver> {
public:
    driver(engine_core& engine, loaded_run loaded, run_settings settings);
    ~driver();

    /// Queues an event for the run's strand. Any thread.
    void post(std::function<void(run&)> event);

    /// Before all that is queued: nothing that came earlier resumes the body any more. Any thread.
    void stop_first(std::function<void()> then);
    /// After a stop: a run that was executing, and of which no function is out, is given back to the queue. `then` is called on the strand
    /// when that is on its way, or there is nothing to give back; first the store answers what was asked of it.
    void give_back(std::function<void()> then);

    /// Only before the first post, and on the strand.
    run& body() noexcept { return *run_; }
    run_id id() const noexcept { return id_; }
    /// Let go because the lease had ended. On the strand.
    bool lost_lease() const noexcept { return lost_lease_; }
    /// Functions that have not returned: "RUN PLACE, called 12 s ago, heartbeat 3 s ago". Any thread.
    std::vector<std::string> functions_out();
    /// No function refers into the frame. Any thread; exact once nothing new begins.
    bool is_idle() const noexcept { return idle_; }

    /// One runs, or is queued, that is no Asio step. Any thread; exact once nothing new begins.
    bool has_function_out();
    /// Asks the functions that are out to stop, without the strand. Any thread.
    void ask_to_stop();
    /// For the engine's end: nothing is run on the strand any more. The frame is destroyed here; where a function still refers to it,
    /// an Asio step on the caller's executor, when that has ended and drops its reference to this.
    void take_down();

    // group_owner
    void written(seq_no last, answer const& a) override;
    void given_up(error const& why) override;

    // host
    flow::clock const& clock() const override;
    void fill_random(std::span<std::uint8_t> bytes) override;
    void write(group g) override;
    bool may_act() override;  ///< any thread
    void call_out(call_order order) override;
    std::shared_ptr<void> join_line(ticket t, limit const& l) override;
    void arm_at(ticket t, time_point wall) override;
    void arm_in(ticket t, duration steady) override;
    void disarm(ticket t) override;
    outcome<std::string> load_blob(digest const& hash) override;
    outcome<std::optional<waitpoint_row>> find_waitpoint(waitpoint_id id) override;
    outcome<std::uint32_t> version_for(std::string_view workflow, std::uint32_t version, encoding how, std::string_view arguments) override;
    outcome<workflow_version> workflow_of(workflow_functions const& f) override;
    std::shared_ptr<outside_access> outside() override { return outside_; }
    std::shared_ptr<stored_wait_policies const> policies() override;
    signs_of_life* life() override;
    void warn(std::string_view text) override;

private:
    struct function_out {
        std::string place;
        std::shared_ptr<attempt_data> attempt;
        duration since;  ///< steady
        bool is_coroutine;
    };
    void queue(std::function<void(run&)> event, bool first);
    void schedule();
    void run_strand();
    void answered(seq_no last, answer const& a);
    void give_up(std::string const& why);
    void lose_lease();
    void let_go_of_run();
    void commit_or_leave();
    void settle();  ///< after an event: is the run over?

    engine_core& engine_;  ///< not after take_down
    std::shared_ptr<workers> const workers_;
    run_id id_;
    std::shared_ptr<outside_access> const outside_;
    std::mutex guard_;
    std::deque<std::function<void(run&)>> events_;
    bool scheduled_ = false, down_ = false;
    std::mutex strand_;  ///< held while events run: take_down waits for it
    std::map<ticket, timers::id> armed_;
    std::map<ticket, function_out> out_;  ///< under guard_
    std::atomic<bool> idle_{true};
    std::function<void()> given_back_;  ///< to be called once it can be
    bool gave_ = false;      ///< groups to the journal writer since the burst began
    bool let_go_ = false;    ///< what it still writes is dropped: another holds the run by now, or may
    bool lost_lease_ = false;
    bool gone_ = false;      ///< fenced or over: what still comes is dropped
    bool reported_ = false;  ///< the engine knows
    bool waits_ = false;     ///< told the engine so
    std::unique_ptr<run> run_;
};

}  // namespace flow::detail
