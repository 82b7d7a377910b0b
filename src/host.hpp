// The one abstract class through which src/ meets what carries its decisions out. runtime/engine implements it for real runs,
// tests/support for tests of a single body.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "flow/detail/body.hpp"
#include "flow/detail/call.hpp"
#include "flow/error.hpp"
#include "flow/ids.hpp"
#include "flow/limit.hpp"
#include "flow/rows.hpp"
#include "flow/time.hpp"
#include "flow/wait_policy.hpp"
#include "src/outside.hpp"
#include "src/signs_of_life.hpp"

namespace flow::detail {

/// Names an operation in flight, and which of its calls or timers: what comes back carries it. Never used twice in a run.
enum class ticket : std::uint64_t { none = 0 };

/// What an attempt's function sees; shared, since a detached function may outlive the step.
struct attempt_data {
    run_id run;
    std::uint32_t segment = 0;
    std::string place, step_place;  ///< of the call, and of the step it is about: the same but for reconcile and compensate
    int number = 1;
    epoch_no epoch{};
    duration deadline = duration::max();  ///< steady
    flow::clock const* clock = nullptr;
    std::stop_source stop{std::nostopstate};
    std::mutex guard;  ///< of what follows
    std::string key, step_key;  ///< computed when asked for: most functions never do
    std::string commit_ref;
    std::optional<duration> last_heartbeat;  ///< steady
    std::shared_ptr<outside_access> outside;
    waitpoint_id token;  ///< of a step that ends elsewhere
};

/// The idempotency key of a place in a segment (P2).
std::string key_of(run_id run, std::uint32_t segment, std::string_view place);

/// One call of a step's function.
struct call_order {
    ticket to;
    std::shared_ptr<call> what;
    std::shared_ptr<attempt_data> attempt;
    std::string place;  ///< for people
    std::shared_ptr<void> held;  ///< its place under a limit, until the function has returned
    bool acts_outside = false;
};

/// Commands of one run. Called on the run's strand; everything returns at once. What comes back is an event: a member of
/// `run` called on the same strand, never from inside one of these.
class host {
public:
    virtual flow::clock const& clock() const = 0;
    virtual void fill_random(std::span<std::uint8_t> bytes) = 0;

    /// Gives a group to the journal writer. Comes back as run::applied or run::refused, in order.
    virtual void write(group g) = 0;

    /// Does the lease stand? Asked last before a call that acts outside (P46). False: nothing is called, and the run is given up.
    virtual bool may_act() { return true; }

    /// Calls a function where blocking is allowed. Comes back as run::returned.
    virtual void call_out(call_order order) = 0;

    /// Joins the line of a limit: comes back as run::due when the place is there. The place, or the wait for it, ends with what is
    /// returned.
    virtual std::shared_ptr<void> join_line(ticket t, limit const& l) = 0;

    /// Comes back as run::due, once, unless disarmed. One timer a ticket.
    virtual void arm_at(ticket t, time_point wall) = 0;
    virtual void arm_in(ticket t, duration steady) = 0;
    virtual void disarm(ticket t) = 0;

    virtual outcome<std::string> load_blob(digest const& hash) = 0;
    virtual outcome<std::optional<waitpoint_row>> find_waitpoint(waitpoint_id id) = 0;
    /// The version of this workflow that takes these arguments: the given one, or for 0 the newest registered. unknown_workflow,
    /// bad_argument: a sentence that says why none does.
    virtual outcome<std::uint32_t> version_for(std::string_view workflow, std::uint32_t version, encoding how,
                                               std::string_view arguments) = 0;
    /// The name and version a workflow function is registered under. unknown_workflow: a sentence.
    virtual outcome<workflow_version> workflow_of(workflow_functions const& f) = 0;
    /// May be called from any thread, and after the run and the engine are gone.
    virtual std::shared_ptr<outside_access> outside() = 0;

    /// The wait policies in force; null: none.
    virtual std::shared_ptr<stored_wait_policies const> policies() { return nullptr; }
    /// Of the engine that this is; null: nothing is executed here.
    virtual signs_of_life* life() { return nullptr; }

    /// A line for the log.
    virtual void warn(std::string_view text) = 0;

protected:
    ~host() = default;
};

}  // namespace flow::detail
