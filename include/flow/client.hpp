// What a person or program may do to runs from outside: start, look, complete, decide, cancel, resume. Executes nothing.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flow/codec.hpp"
#include "flow/error.hpp"
#include "flow/ids.hpp"
#include "flow/inspect.hpp"
#include "flow/schedule.hpp"
#include "flow/start.hpp"
#include "flow/store.hpp"
#include "flow/store_reader.hpp"
#include "flow/token.hpp"
#include "flow/wait_policy.hpp"

#pragma GCC visibility push(default)

namespace flow {

namespace detail {
class client_core;
}

/// The end of a run as stored.
struct run_end {
    run_row row;
    std::string result;  ///< encoded; of a run that succeeded
    flow::encoding encoding = flow::encoding::json;
    std::optional<error> failure;
};

/// A value that a run has published.
struct publication {
    std::string key;
    std::string value;  ///< JSON
    seq_no cursor{};    ///< to go on behind it
    time_point at{};
};

/// A run, by its id; cheap to copy. Any thread. Outlives its engine, but then nothing executes the run.
class any_run_handle {
public:
    any_run_handle(std::shared_ptr<detail::client_core> core, run_id id) : core_(std::move(core)), id_(id) {}

    run_id id() const noexcept { return id_; }
    /// Throws flow::error: unknown_run, or the store's.
    status_pair status() const;
    /// Waits until the run has ended; false: not yet (or never, in an engine that was stopped), and `view()` says what it waits for. An engine with `threads = 0` is polled
    /// meanwhile.
    bool wait(std::chrono::milliseconds limit) const;
    run_view view() const;
    /// Asks it to stop (P42); what became of the request. `ended_before`: the run had ended.
    request_fate cancel(std::string_view why = {}) const;
    /// Waits for its end. engine_stopped: its engine was stopped before.
    run_end end() const;

private:
    std::shared_ptr<detail::client_core> core_;
    run_id id_;
};

/// A run whose result is a T.
template <class T>
class run_handle : public any_run_handle {
public:
    using any_run_handle::any_run_handle;
    explicit run_handle(any_run_handle h) : any_run_handle(std::move(h)) {}

    /// Waits for the run's end; its result, or throws: flow::step_error and others as the run failed, flow::cancelled; engine_stopped.
    T result() const
    {
        auto const e = end();
        if (e.failure) raise(*e.failure);
        if constexpr (!std::is_void_v<T>) {
            T value;
            detail::decode(e.encoding, e.result, value).value();
            return value;
        }
    }
    /// The same without exceptions.
    outcome<T> try_result() const
    {
        auto const e = end();
        if (e.failure) return *e.failure;
        if constexpr (std::is_void_v<T>) return {};
        else {
            T value;
            if (auto ok = detail::decode(e.encoding, e.result, value); !ok) return ok.error();
            return value;
        }
    }
};

/// A run that waits longer than it should.
struct late_run {
    run_row row;
    wait_reason reason;
    std::string concerns;  ///< whom, by the type of the wait: "the process's owner"
};

/// How a question is answered. A plain value.
struct respond_options {
    std::string_view value{};  ///< JSON, where the question wants one of who approves
    std::string_view why{};
    std::string_view by{};
    std::string_view about{};  ///< question_terms::about_hash as it was shown: refused if it is about something else
    /// Of question::secrets. With one, whose secret it is has answered, not this client; `by` is to be empty or that person, and names who
    /// answers a question to everybody. Unset: an operator.
    std::optional<std::string_view> secret{};
};

/// A client on a store. Opened on the store itself it is an operator: it may complete tokens and answer questions without their secrets, as a
/// named actor.
/// Any thread. Errors are thrown as flow::error with the code named at each call, besides the store's own.
class client {
public:
    /// `by`: who acts, recorded with every change; empty: the user of the system.
    explicit client(store_ptr store, std::string by = {});
    virtual ~client();
    client(client const&) = delete;
    client& operator=(client const&) = delete;

    /// Starts a run that some engine on this store will execute. start_conflict; bad_payload.
    any_run_handle start(std::string_view workflow, args const& arguments, start_options options = {});

    /// A run by its id, by an unambiguous beginning of its printed id, or by its key. unknown_run.
    any_run_handle find(run_id id);
    any_run_handle find(std::string_view id_or_prefix);
    any_run_handle find_by_key(std::string_view key, std::string_view tenant = {});

    run_view inspect(run_id id);
    std::vector<run_row> runs(run_filter const& which = {});
    /// The stored output of a completed step, by its place ("render#0"), if its bytes match their hash; nothing otherwise.
    std::optional<std::string> output_of(run_id id, std::string_view place);
    std::vector<journal_entry> journal(run_id id, seq_no after = seq_no::none, std::size_t limit = 100);
    /// What a run has published (flow::publish): the newest value of each key, in the order of the keys. unknown_run.
    std::vector<publication> published(run_id id);
    /// All it has published, in order; `after`: the cursor of the last one seen. unknown_run.
    std::vector<publication> publications(run_id id, seq_no after = seq_no::none, std::size_t limit = 100);
    /// The newest value under one key, as a T; nothing: none yet. unknown_run; undecodable: it is no T.
    template <class T>
    std::optional<T> published(run_id id, std::string_view key)
    {
        auto const text = published_text(id, key);
        if (!text) return std::nullopt;
        T value;
        detail::decode(encoding::json, *text, value).value();
        return value;
    }
    /// The runs this one started (flow::start_run), in that order, with their statuses; behind the run `after`, if given. unknown_run.
    std::vector<child_row> children(run_id id, std::optional<run_id> after = {}, std::size_t limit = 100);
    /// A token, an intervention or a timer, with its state and what it was completed with. unknown_token.
    waitpoint_row waitpoint(waitpoint_id id);
    /// The same as a list, newest first; an empty filter takes all. Open tokens: `{.status = waitpoint_status::pending, .purpose =
    /// waitpoint_purpose::token}`.
    std::vector<waitpoint_row> waitpoints(waitpoint_filter const& which);

    /// Completes a token as its sender would, with its secret. One error for an unknown token, a wrong secret and another
    /// run's: unknown_token. already completed with the same value: no error; with another: token_conflict. token_ended.
    template <class T>
    void complete(token<T> const& which, token_secret const& secret, T const& value)
    {
        complete_json(which.id(), encoded(value), secret.text());
    }
    /// As an operator.
    template <class T>
    void complete(token<T> const& which, T const& value, std::string_view why = {})
    {
        complete_json(which.id(), encoded(value), std::nullopt, why);
    }
    /// The same with JSON text. wrong_shape, bad_payload, and as above. True: it counted; false: it had been completed so before.
    bool complete_json(waitpoint_id which, std::string_view json, std::optional<std::string_view> secret = std::nullopt,
                       std::string_view why = {}, std::string_view by = {});

    // Questions to people (flow::ask). Who answers is who shows a secret, else the caller's identity: `by`, else the client's own name.

    /// Answers one. `decided`: with it the question is decided; `counted`: more are needed; `already_same`: as this person answered before.
    /// Errors: unknown_request; not_asked; token_conflict for a person who answered
    /// otherwise before, or a question that others have decided; token_ended past its deadline; wrong_shape; bad_payload; bad_argument
    /// where it is about something else than `about` says.
    /// With a secret, one error for an unknown question, one without secrets, a wrong secret and another's: unknown_request.
    responded respond(waitpoint_id which, bool approves, respond_options options = {});
    /// The open ones that somebody may answer, newest first; empty: of everybody. As they are asked now: whom they have been escalated to is among
    /// the assignees.
    std::vector<open_wait> questions_for(std::string_view who = {}, std::size_t limit = 100);
    std::vector<response> responses(waitpoint_id which);
    /// What to send to somebody who is asked (question::secrets), the same at every call; empty: of a question to everybody. Stored nowhere.
    /// unknown_request; usage: it has no secrets; not_asked; store_key.
    token_secret secret_for(waitpoint_id question, std::string_view person = {});

    // Events: to whoever waits for them by flow::wait_for_event. Values as of `complete`.

    /// Tells that something happened: to the run that has waited longest for this topic and correlation, or, kept, to the first that comes to.
    /// Its answer is matched, kept, unfit (kept, but who waits wants another shape) or duplicate. Errors: event_conflict, event_not_awaited,
    /// wrong_shape, inbox_full; bad_name, bad_argument.
    template <class T>
    delivered send_event(std::string_view topic, std::string_view correlation, T const& value, event_options options = {})
    {
        return send_event_json(topic, correlation, encoded(static_cast<detail::argument_of<T>>(value)), options);
    }
    /// Tells one run alone; it may not have begun, or be paused. Errors besides: unknown_run, run_ended.
    template <class T>
    delivered send(run_id run, std::string_view topic, T const& value, event_options options = {})
    {
        return send_json(run, topic, encoded(static_cast<detail::argument_of<T>>(value)), options);
    }
    /// The same with JSON text. bad_payload.
    delivered send_event_json(std::string_view topic, std::string_view correlation, std::string_view json, event_options options = {});
    delivered send_json(run_id run, std::string_view topic, std::string_view json, event_options options = {});
    /// The inbox: what is kept for nobody yet, and what became of the rest, until it expires.
    std::vector<event_row> events(event_filter const& which = {});

    /// The end of what flow::begin_step began, where it did not succeed: that attempt has failed, with this sentence. Of a token that is
    /// waited for otherwise, the wait throws flow::step_error. Errors as `complete`; token_conflict where a value is there.
    template <class T>
    void fail(token<T> const& which, std::string_view why)
    {
        fail_token(which.id(), why);
    }
    template <class T>
    void fail(token<T> const& which, token_secret const& secret, std::string_view why)
    {
        fail_token(which.id(), why, secret.text());
    }
    /// True: it counted; false: it had been failed so before.
    bool fail_token(waitpoint_id which, std::string_view why, std::optional<std::string_view> secret = std::nullopt, std::string_view by = {});

    /// Decides an intervention: one of its choices; `output` is JSON for `complete`. unknown_intervention, bad_choice,
    /// wrong_shape; token_conflict where it was decided otherwise before.
    void decide(waitpoint_id intervention, std::string_view choice, std::optional<std::string_view> output = std::nullopt,
                std::string_view why = {}, std::string_view by = {});
    /// The open intervention of a run. unknown_intervention: none, or more than one.
    waitpoint_id intervention_of(run_id run);

    /// Requests to a run (P4). unknown_run.
    request_fate cancel(run_id run, std::string_view why = {}, std::string_view by = {});
    /// Lets it stand still: what runs may return, nothing new begins, its frame and owner go. `resume` lets it go on.
    request_fate pause(run_id run, std::string_view why = {}, std::string_view by = {});
    /// Tries a held run again, lets a paused one go on. usage: it is neither.
    request_fate resume(run_id run, std::string_view why = {}, std::string_view by = {});

    // Schedules (flow/schedule.hpp).

    /// Declares a schedule: makes it, or changes the one of this name to this. Meant to be called at every start of a program; what is as it
    /// was is left alone, and so is one that has come to its end. Each firing starts a run with the key "schedule/NAME/INSTANT" and the tag
    /// "schedule:NAME"; some engine on the store fires it. Its handle: pause, resume and cancel it as any run. One that was cancelled or has
    /// failed is begun anew. Errors: bad_name; bad_argument (a field of cron, the zone, nothing to come); bad_payload.
    any_run_handle schedule(std::string_view name, timing const& when, std::string_view workflow, args const& arguments, schedule_options options = {});
    /// All of them, the newest of each name, in the order of their names.
    std::vector<schedule_row> schedules();
    /// unknown_run.
    schedule_row schedule_of(std::string_view name);
    /// Fires what lies in [from, to] and was not fired before, oldest first, whatever overlaps. How many instants these are. unknown_run;
    /// bad_argument: more than 10,000, or in the future; run_ended.
    std::size_t backfill(std::string_view name, time_point from, time_point to);

    // Wait policies (flow/wait_policy.hpp).

    /// From now on waits are registered with these; those that are registered keep what they had (P40). Engines of other processes have them
    /// within some two seconds. The version they are; what is in force already is left alone. bad_argument, naming the policy.
    std::uint32_t set_wait_policies(wait_policies const& policies, policy_change const& options = {});
    /// A new version that says what an old one said. bad_argument: there is no such version.
    std::uint32_t roll_back_wait_policies(std::uint32_t version, policy_change const& options = {});
    /// Those in force; version 0: none were ever set.
    stored_wait_policies current_wait_policies();
    /// All of them, oldest first.
    std::vector<stored_wait_policies> wait_policy_versions();
    /// Runs that wait past their SLA, or longer than until others are asked as well; newest first.
    std::vector<late_run> late_runs(std::size_t limit = 100);

    /// Waits until all of these runs have ended; false: not within the limit. As any_run_handle::wait.
    bool wait_for_all(std::vector<any_run_handle> const& runs, std::chrono::milliseconds limit);
    /// Waits until one of them has; its index, the first in the list if several have. Nothing: not within the limit, or the list is empty.
    std::optional<std::size_t> wait_for_any(std::vector<any_run_handle> const& runs, std::chrono::milliseconds limit);

    /// Waits until a run and all it started, and what those started, have ended: but for what was abandoned or detached. False: not within
    /// the limit.
    bool wait_for_family(any_run_handle const& run, std::chrono::milliseconds limit);

    store& data() noexcept;

protected:
    explicit client(std::shared_ptr<detail::client_core> core);
    std::shared_ptr<detail::client_core> const& core() const noexcept { return core_; }

    any_run_handle schedule_encoded(std::string_view name, timing const& when, workflow_version workflow, std::string arguments,
                                    std::string_view arguments_shape, schedule_options const& options);

private:
    delivered deliver(event e, event_options const& options);
    bool complete_with(completion c);
    waitpoint_row token_to_complete(waitpoint_id which, std::optional<digest> const& secret_hash);
    std::optional<std::string> published_text(run_id id, std::string_view key);
    template <class T>
    static std::string encoded(T const& value)
    {
        std::string text;
        detail::encode(encoding::json, value, text);
        return text;
    }
    std::shared_ptr<detail::client_core> core_;
};

}  // namespace flow

#pragma GCC visibility pop
