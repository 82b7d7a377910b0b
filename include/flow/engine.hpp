// The engine: executes the runs of registered workflows on one store.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "flow/client.hpp"
#include "flow/detail/body.hpp"
#include "flow/executor.hpp"
#include "flow/log.hpp"
#include "flow/retry.hpp"
#include "flow/start.hpp"
#include "flow/store.hpp"
#include "flow/time.hpp"
#include "flow/versions.hpp"
#include "flow/workflow.hpp"

#pragma GCC visibility push(default)

namespace flow {

namespace detail {
class engine_core;
struct stop_access;
}

/// Where random bytes come from: ids, secrets, `random`. Called from any thread.
using random_source = std::function<void(std::uint8_t* bytes, std::size_t count)>;

struct engine_options {
    /// Threads for workflow bodies and steps. -1: as many as the machine has cores. 0: none is made; the caller drives everything
    /// by `poll`, or `executor` runs it.
    int threads = -1;
    /// More threads are made, up to so many in all, while steps block theirs.
    int most_threads = 64;
    /// With `threads = 0`: exactly one thread is made, and does all that may wait for the store: it commits, looks for what came
    /// from outside, and claims runs; a slow disk holds up neither `poll` nor the executor. It calls no function of yours but `log`,
    /// and does nothing that was not asked of it inside a poll. (`start`, `complete` and the like still write where they are called.)
    /// Without effect where threads are made anyway.
    bool io_thread = false;
    /// Bodies, timers and Asio steps run on this executor of yours: `flow::asio_executor(io.get_executor())` of <flow/asio.hpp>, where
    /// it says more. With `threads = 0` the engine makes no thread: plain step functions and commits run on the executor too. Else it
    /// makes one thread for the store, as `io_thread` does, and threads for plain step functions, when they are needed and up to
    /// `most_threads`.
    flow::executor executor{};
    /// The class of steps that name none.
    effect default_effect = effect::non_replayable;
    /// Sleeps longer than this stand on a waitpoint and cost nothing while they last.
    duration suspend_threshold = std::chrono::seconds{5};
    /// A run that has waited for so long leaves memory, its ownership given back; it comes back by replay when its wait is over. Zero:
    /// at once.
    duration evict_after = std::chrono::seconds{5};
    /// Waiting runs kept in memory at most; beyond it those that have waited longest leave at once.
    std::size_t most_waiting = 10'000;
    /// Runs held at once at most that do not wait; the others stay in the queue. Bounds the memory a backlog takes. At least 1.
    std::size_t most_running = 4'000;
    /// For how long no living engine may have the version of a run before it is judged (P47): it begins anew with the newest version here if
    /// nothing but replayable steps has begun, else it is held.
    duration version_patience = std::chrono::seconds{30};
    /// A step still running after this long gets an entry, so that `flow show` can tell.
    duration announce_after = std::chrono::seconds{1};
    /// Attempt time limit of steps that give none. Zero: none.
    time_span step_timeout{};
    /// How often a run may be found executing by a dead process, without progress in between, before a person is asked.
    int max_recoveries = 3;
    /// Largest encoded value, in bytes.
    std::size_t max_payload = 64u << 20;
    /// Payloads larger than this lie apart from the journal.
    std::size_t blob_threshold = 100'000;
    /// `start` without a key is refused (TS-02).
    bool require_idempotency_key = false;
    /// Who acts where nobody is named: in the journal, in `flow show`. Empty: the user of the system.
    std::string name{};
    log_sink log = log_to_stderr;
    /// Null: the machine's.
    flow::clock const* clock = nullptr;
    /// Empty: the operating system's.
    random_source random{};
};

/// What a workflow sets for its own runs.
struct workflow_options {
    flow::version version{};
    /// The class of its steps that name none; effect::none: the engine's.
    effect default_effect = effect::none;
    /// How what is recorded of its runs is matched with the code.
    replay_order order = replay_order::strict;

    workflow_options() = default;
    workflow_options(flow::version v) : version(v) {}
};

struct poll_result {
    bool work_left = false;      ///< the budget ended first: poll again soon
    /// Otherwise: nothing to do before so long from now, unless something comes from outside. While the `io_thread` is at work,
    /// what comes of it counts as near.
    duration next_due = duration::max();
};

struct health_report {
    enum class cause : std::uint8_t {
        store_locked,       ///< another process holds the write lock
        store_read_only,
        store_full,
        store_unreachable,
        store_damaged,
        ownership_lost,     ///< this engine's hold on its runs cannot be kept up
        stopped,
        store_warning,      ///< nothing fails yet: see the text
    };
    struct finding {
        cause what;
        std::string text;  ///< a sentence with what to do
    };
    std::vector<finding> findings;
    bool healthy() const noexcept { return findings.empty(); }
};
std::string_view to_string(health_report::cause c) noexcept;

/// Executes runs. Making one opens nothing but threads; runs left by a dead process are taken over at once.
///
/// Any thread may call it. Destroying it is `stop()` without limit: functions are asked to stop and waited for, frames are destroyed
/// on this thread, nothing resumes; what was running goes on when an engine starts again. On an executor of the caller's it does not
/// wait for Asio steps (see flow::asio_executor). A step's function must not destroy its own engine.
class engine : public client {
public:
    /// Throws flow::error: what the store says when an owner cannot be added.
    explicit engine(store_ptr store, engine_options options = {});
    ~engine() override;

    /// Registers a workflow function under a name that is stored with its runs. Throws flow::error(usage) for a name and version
    /// that is taken, bad_name (also for names that begin with "flow.", which are the library's).
    template <auto Fn>
    void add(std::string_view name, workflow_options options = {})
    {
        static_assert(detail::is_workflow<Fn>, "flow: engine.add<fn> takes a function that returns flow::workflow<T>");
        if constexpr (detail::is_workflow<Fn>) {
            [[maybe_unused]] constexpr bool storable = detail::check_storable<detail::arguments_of<Fn>>();
            add_functions(name, options, detail::functions_of<Fn>::value);
        }
    }

    /// Starts a run, typed by the function's parameters; it must have been added. Throws flow::error: start_conflict,
    /// unknown_workflow, and the store's (store_full: nothing was started).
    /// One overload a number of parameters: g++ 12 does not take options behind a pack.
    template <auto Fn>
        requires(detail::workflow_arity<Fn> == 0)
    auto start(start_options o = {})
    {
        return start_tuple<Fn>(detail::arguments_of<Fn>(), o);
    }
    template <auto Fn>
        requires(detail::workflow_arity<Fn> == 1)
    auto start(detail::argument_at<Fn, 0> a0, start_options o = {})
    {
        return start_tuple<Fn>(detail::arguments_of<Fn>(std::move(a0)), o);
    }
    template <auto Fn>
        requires(detail::workflow_arity<Fn> == 2)
    auto start(detail::argument_at<Fn, 0> a0, detail::argument_at<Fn, 1> a1, start_options o = {})
    {
        return start_tuple<Fn>(detail::arguments_of<Fn>(std::move(a0), std::move(a1)), o);
    }
    template <auto Fn>
        requires(detail::workflow_arity<Fn> == 3)
    auto start(detail::argument_at<Fn, 0> a0, detail::argument_at<Fn, 1> a1, detail::argument_at<Fn, 2> a2, start_options o = {})
    {
        return start_tuple<Fn>(detail::arguments_of<Fn>(std::move(a0), std::move(a1), std::move(a2)), o);
    }
    template <auto Fn>
        requires(detail::workflow_arity<Fn> == 4)
    auto start(detail::argument_at<Fn, 0> a0, detail::argument_at<Fn, 1> a1, detail::argument_at<Fn, 2> a2, detail::argument_at<Fn, 3> a3, start_options o = {})
    {
        return start_tuple<Fn>(detail::arguments_of<Fn>(std::move(a0), std::move(a1), std::move(a2), std::move(a3)), o);
    }
    template <auto Fn>
        requires(detail::workflow_arity<Fn> == 5)
    auto start(detail::argument_at<Fn, 0> a0, detail::argument_at<Fn, 1> a1, detail::argument_at<Fn, 2> a2, detail::argument_at<Fn, 3> a3, detail::argument_at<Fn, 4> a4, start_options o = {})
    {
        return start_tuple<Fn>(detail::arguments_of<Fn>(std::move(a0), std::move(a1), std::move(a2), std::move(a3), std::move(a4)), o);
    }
    template <auto Fn>
        requires(detail::workflow_arity<Fn> == 6)
    auto start(detail::argument_at<Fn, 0> a0, detail::argument_at<Fn, 1> a1, detail::argument_at<Fn, 2> a2, detail::argument_at<Fn, 3> a3, detail::argument_at<Fn, 4> a4, detail::argument_at<Fn, 5> a5, start_options o = {})
    {
        return start_tuple<Fn>(detail::arguments_of<Fn>(std::move(a0), std::move(a1), std::move(a2), std::move(a3), std::move(a4), std::move(a5)), o);
    }
    template <auto Fn>
        requires(detail::workflow_arity<Fn> == 7)
    auto start(detail::argument_at<Fn, 0> a0, detail::argument_at<Fn, 1> a1, detail::argument_at<Fn, 2> a2, detail::argument_at<Fn, 3> a3, detail::argument_at<Fn, 4> a4, detail::argument_at<Fn, 5> a5, detail::argument_at<Fn, 6> a6, start_options o = {})
    {
        return start_tuple<Fn>(detail::arguments_of<Fn>(std::move(a0), std::move(a1), std::move(a2), std::move(a3), std::move(a4), std::move(a5), std::move(a6)), o);
    }
    template <auto Fn>
        requires(detail::workflow_arity<Fn> == 8)
    auto start(detail::argument_at<Fn, 0> a0, detail::argument_at<Fn, 1> a1, detail::argument_at<Fn, 2> a2, detail::argument_at<Fn, 3> a3, detail::argument_at<Fn, 4> a4, detail::argument_at<Fn, 5> a5, detail::argument_at<Fn, 6> a6, detail::argument_at<Fn, 7> a7, start_options o = {})
    {
        return start_tuple<Fn>(detail::arguments_of<Fn>(std::move(a0), std::move(a1), std::move(a2), std::move(a3), std::move(a4), std::move(a5), std::move(a6), std::move(a7)), o);
    }
    /// By name, with the version registered newest. bad_argument: the arguments do not fit, naming which; unknown_workflow.
    any_run_handle start(std::string_view workflow, args const& arguments, start_options options = {});

    using client::schedule;
    /// The same for a workflow function that has been added, with its arguments behind the options. unknown_workflow.
    template <auto Fn, class... A>
        requires(detail::workflow_arity<Fn> == sizeof...(A))
    any_run_handle schedule(std::string_view name, timing const& when, schedule_options const& options, A&&... arguments)
    {
        std::string text;
        detail::encode(encoding::json, detail::arguments_of<Fn>(std::forward<A>(arguments)...), text);
        return schedule_functions(name, when, detail::functions_of<Fn>::value, std::move(text), options);
    }

    /// With `threads = 0`: does what there is to do for about `budget`, and waits for nothing. A plain step function called here may
    /// overrun it, and so may a commit without `io_thread`. Nothing is called between polls.
    /// Throws flow::error(usage) on an engine with threads or an executor.
    poll_result poll(std::chrono::microseconds budget);

    /// A sign of life of what flow::begin_step began, for its `heartbeat` limit. In memory: nothing is written, and only this engine knows of
    /// it. False: nothing under that token was begun here, or it has ended; so whoever works on it may stop.
    template <class T>
    bool heartbeat(token<T> const& of) noexcept
    {
        return heartbeat(of.id());
    }
    bool heartbeat(waitpoint_id of) noexcept;

    /// Blocks until SIGINT or SIGTERM, then stops orderly.
    void run();

    /// Stops: nothing new begins, functions are asked to stop, what they return is journaled, runs are given back. False: the
    /// limit ended first; `still_running()` names what has not returned:
    /// "RUN PLACE, called 12 s ago, heartbeat 3 s ago".
    /// On an executor of the caller's: from a thread that does not run it; there is flow::async_stop for those that do. Throws
    /// flow::error(usage) where it can tell (on an io_context or a thread_pool).
    bool stop(std::chrono::milliseconds limit = std::chrono::milliseconds::max());
    std::vector<std::string> still_running() const;

    /// Tries the store; see health_report. At most a quarter of a second.
    health_report health();

private:
    friend struct detail::stop_access;
    flow::executor const& on() const noexcept;
    void stop_then(std::chrono::milliseconds limit, std::function<void(bool)> done);

    void add_functions(std::string_view name, workflow_options options, detail::workflow_functions const& functions);
    template <auto Fn>
    run_handle<detail::workflow_result<Fn>> start_tuple(detail::arguments_of<Fn> arguments, start_options const& o)
    {
        std::string text;
        detail::encode(encoding::json, arguments, text);
        return run_handle<detail::workflow_result<Fn>>(start_encoded(detail::functions_of<Fn>::value, std::move(text), o));
    }
    any_run_handle schedule_functions(std::string_view name, timing const& when, detail::workflow_functions const& functions, std::string arguments,
                                      schedule_options const& options);
    any_run_handle start_encoded(detail::workflow_functions const& functions, std::string arguments, start_options const& o);

    std::shared_ptr<detail::engine_core> engine_;
};

}  // namespace flow

#pragma GCC visibility pop
