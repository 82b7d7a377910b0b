// What a client and an engine share: the store, who acts, the clock, and who waits for the end of runs.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "flow/engine.hpp"
#include "flow/log.hpp"
#include "flow/store.hpp"
#include "flow/store_reader.hpp"
#include "flow/wait_policy.hpp"
#include "runtime/engine/steadfast_clock.hpp"

namespace flow::detail {

class client_core : public std::enable_shared_from_this<client_core> {
public:
    client_core(store_ptr s, std::string by, clock const* c, random_source r, log_sink l);

    store_ptr const data;
    std::string const by;

    clock const& time() const noexcept { return clock_; }
    void random(std::uint8_t* bytes, std::size_t n) const { random_(bytes, n); }
    uuid new_uuid7() const;
    uuid new_uuid4() const;
    void log(log_level level, std::string const& text) const;

    /// Every one, page by page.
    outcome<std::vector<run_row>> all_runs(run_filter which) const;

    /// The wait policies as they were read last; null: none were ever set.
    std::shared_ptr<stored_wait_policies const> policies() const;
    /// Looks for a newer version; the newest number. One that this program cannot read is told to the log, and the last one stays. Throws
    /// flow::error: the store's.
    std::uint32_t read_policies();

    /// An event as it is told here and now; id and addressee are still to be given. bad_name, bad_argument, bad_payload.
    event make_event(std::string_view topic, std::string_view correlation, std::string_view json, event_options const& o) const;
    event_id id_for(event const& e, std::string_view name) const;
    any_run_handle start(workflow_version const& w, std::string arguments, std::string_view shape, start_options const& o);

    /// Calls what changes the store; again, with the same ids, where it was busy or the answer was lost (P8, SX-14).
    template <class Call>
    static auto insist(Call const& call) -> decltype(call())
    {
        auto answer = call();
        for (int again = 0; again < 3 && !answer; ++again) {
            auto const code = answer.error().code();
            if (code != errc::store_busy && code != errc::commit_unknown) break;
            std::this_thread::sleep_for(std::chrono::milliseconds{10 << again});
            answer = call();
        }
        return answer;
    }

    /// The engine this belongs to.
    struct engine_hooks {
        std::function<void()> look;   ///< it should look at the store
        std::function<void()> drive;  ///< it can be driven by whoever waits
        /// It takes what is woken along.
        std::function<outcome<completion_answer>(flow::completion const&)> complete;
    };
    void attach(engine_hooks hooks);
    void detach();
    void look() const;

    /// Completes a waitpoint: on behalf of the engine, if there is one.
    outcome<completion_answer> complete(flow::completion const& what) const;

    /// Told when a run of this process ended.
    void run_ended();
    /// Until one of the runs has ended, the limit is over, or the engine this belongs to has been stopped.
    struct ended {
        std::size_t which;
        run_row row;
    };
    std::optional<ended> wait_for_end(std::span<run_id const> any_of, std::chrono::milliseconds limit);
    bool is_stopped() const;

private:
    steadfast_clock const clock_;
    random_source random_;
    log_sink log_;
    mutable std::mutex guard_;
    std::condition_variable ended_;
    std::uint64_t ends_ = 0;
    engine_hooks hooks_;
    bool stopped_ = false;  ///< there was an engine
    std::shared_ptr<stored_wait_policies const> policies_;
    std::mutex reading_policies_;
    std::uint32_t policy_versions_ = 0;
    std::string next_policies_key_;  ///< of the version behind the one that is known
};

/// The name of the user this process runs as.
std::string system_user();

}  // namespace flow::detail
