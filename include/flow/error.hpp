// Errors: all codes in one table, what to do next beside each, and `outcome<T>`, a value or an error.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#pragma GCC visibility push(default)

namespace flow {

/// Journaled numbers: never renumber, never reuse.
enum class errc : std::uint16_t {
    store_busy = 101, commit_unknown, store_full, store_read_only, store_corrupt, store_foreign, store_newer,
    store_unavailable, store_key,

    nondeterminism = 201, undecodable, effect_unknown, journal_corrupt, no_version,

    step_failed = 301, step_timeout, wait_timeout, step_skipped, cancelled, output_unstorable, payload_too_large,
    recoveries_exhausted, run_expired, child_failed, snapshot_unavailable, resource_lost,

    usage = 401, bad_name, bad_argument, unknown_workflow, start_conflict, unknown_run, unknown_token,
    token_conflict, token_ended, wrong_shape, run_ended, unknown_intervention, bad_choice, engine_stopped,
    bad_payload, event_conflict, event_not_awaited, inbox_full, request_expired, unknown_request, not_asked,
};

/// What the one who got the error should do.
enum class remedy : std::uint8_t { retry, look_first, give_up, correct, ask_a_person };

struct error_row {
    errc code;
    std::string_view name;
    remedy next;
    std::string_view meaning;
};

inline constexpr auto errors = std::to_array<error_row>({
    {errc::store_busy,           "store_busy",           remedy::retry,        "another process holds the store's write lock; nothing was written"},
    {errc::commit_unknown,       "commit_unknown",       remedy::look_first,   "the commit may or may not have landed"},
    {errc::store_full,           "store_full",           remedy::ask_a_person, "the disk is full; nothing was written. Make room, then go on"},
    {errc::store_read_only,      "store_read_only",      remedy::ask_a_person, "the store cannot be written. Give this user write access to the file and its folder"},
    {errc::store_corrupt,        "store_corrupt",        remedy::ask_a_person, "the database file is damaged; it was left as it is. Restore a back-up, or run sqlite3 FILE .recover into a new file"},
    {errc::store_foreign,        "store_foreign",        remedy::correct,      "the file is not a flow database; it was left as it is. Name another file"},
    {errc::store_newer,          "store_newer",          remedy::correct,      "the store was made by a newer flow. Upgrade this program"},
    {errc::store_unavailable,    "store_unavailable",    remedy::retry,        "the store cannot be reached"},
    {errc::store_key,            "store_key",            remedy::ask_a_person, "the store's key is missing, or is another store's. Put NAME.key back beside the database"},
    {errc::nondeterminism,       "nondeterminism",       remedy::ask_a_person, "the code asked for another operation than was journaled"},
    {errc::undecodable,          "undecodable",          remedy::ask_a_person, "a stored value no longer fits the type that reads it"},
    {errc::effect_unknown,       "effect_unknown",       remedy::ask_a_person, "a non-replayable step may or may not have happened"},
    {errc::journal_corrupt,      "journal_corrupt",      remedy::ask_a_person, "a journal row does not match its checksum"},
    {errc::no_version,           "no_version",           remedy::correct,      "no such version of the workflow is registered"},
    {errc::step_failed,          "step_failed",          remedy::give_up,      "the step's function threw, and no attempt is left"},
    {errc::step_timeout,         "step_timeout",         remedy::give_up,      "the step's last attempt ran out of time"},
    {errc::wait_timeout,         "wait_timeout",         remedy::give_up,      "nobody answered in time"},
    {errc::step_skipped,         "step_skipped",         remedy::give_up,      "a person decided that the step is skipped"},
    {errc::cancelled,            "cancelled",            remedy::give_up,      "the run was cancelled"},
    {errc::output_unstorable,    "output_unstorable",    remedy::give_up,      "the step's output could not be stored"},
    {errc::payload_too_large,    "payload_too_large",    remedy::correct,      "the value is larger than the store accepts"},
    {errc::recoveries_exhausted, "recoveries_exhausted", remedy::ask_a_person, "the run ended its process again and again without progress"},
    {errc::run_expired,          "run_expired",          remedy::give_up,      "the run's deadline passed before its end"},
    {errc::child_failed,         "child_failed",         remedy::give_up,      "a child run failed, was cancelled or expired"},
    {errc::snapshot_unavailable, "snapshot_unavailable", remedy::give_up,      "what the run held cannot be restored from its snapshot"},
    {errc::resource_lost,        "resource_lost",        remedy::give_up,      "what the run held ended with its process"},
    {errc::usage,                "usage",                remedy::correct,      "the call is not allowed here"},
    {errc::bad_name,             "bad_name",             remedy::correct,      "names are 1 to 256 bytes of UTF-8 without control characters"},
    {errc::bad_argument,         "bad_argument",         remedy::correct,      "an argument has the wrong type or value"},
    {errc::unknown_workflow,     "unknown_workflow",     remedy::correct,      "no workflow of this name is registered"},
    {errc::start_conflict,       "start_conflict",       remedy::correct,      "the key is used by a run with another workflow or other arguments"},
    {errc::unknown_run,          "unknown_run",          remedy::correct,      "no such run"},
    {errc::unknown_token,        "unknown_token",        remedy::correct,      "no such token, or the secret is not its secret"},
    {errc::token_conflict,       "token_conflict",       remedy::look_first,   "the token was completed before, with another value"},
    {errc::token_ended,          "token_ended",          remedy::give_up,      "the token timed out or was withdrawn"},
    {errc::wrong_shape,          "wrong_shape",          remedy::correct,      "the value does not have the shape the token waits for"},
    {errc::run_ended,            "run_ended",            remedy::give_up,      "the run has ended"},
    {errc::unknown_intervention, "unknown_intervention", remedy::correct,      "no such intervention"},
    {errc::bad_choice,           "bad_choice",           remedy::correct,      "the intervention does not offer this choice"},
    {errc::engine_stopped,       "engine_stopped",       remedy::give_up,      "the engine has stopped; the run goes on when an engine starts again"},
    {errc::bad_payload,          "bad_payload",          remedy::correct,      "the text is not what it should be"},
    {errc::event_conflict,       "event_conflict",       remedy::look_first,   "an event with this id was sent before, with another value"},
    {errc::event_not_awaited,    "event_not_awaited",    remedy::correct,      "nobody waits for this event, and it was to be kept for nobody"},
    {errc::inbox_full,           "inbox_full",           remedy::look_first,   "too many events of this topic wait for somebody to want them; it was not taken"},
    {errc::request_expired,      "request_expired",      remedy::give_up,      "nobody decided in time"},
    {errc::unknown_request,      "unknown_request",      remedy::correct,      "no such question of a run, or the secret is not its secret"},
    {errc::not_asked,            "not_asked",            remedy::correct,      "the question is for others to decide"},
});

constexpr error_row const& row_of(errc code) noexcept
{
    for (auto const& row : errors)
        if (row.code == code) return row;
    return errors.front();  // not reached: a test walks all codes
}

/// What a failure is, in full. Journaled and read back byte for byte (protocol P18, P60).
struct error_detail {
    errc code = errc::step_failed;
    std::string tag;      ///< flow::error_tag<E> of the exception thrown, else its demangled type: for people only
    std::string message;  ///< at most 64 KB
    std::string place;    ///< where in the run, empty outside a run
    std::uint16_t attempts = 0;

    friend bool operator==(error_detail const&, error_detail const&) = default;
};

/// Every failure flow reports. Cheap to copy; immutable, so it may be read from any thread.
class error : public std::exception {
public:
    error(errc code, std::string message);
    explicit error(error_detail detail);

    errc code() const noexcept { return detail_->code; }
    std::string const& tag() const noexcept { return detail_->tag; }
    std::string const& message() const noexcept { return detail_->message; }
    std::string const& place() const noexcept { return detail_->place; }
    int attempts() const noexcept { return detail_->attempts; }
    error_detail const& detail() const noexcept { return *detail_; }

    /// "NAME: message", with what to do next where that is known.
    char const* what() const noexcept override;

private:
    struct shown : error_detail {
        std::string text;
    };
    std::shared_ptr<shown const> detail_;
};

/// Thrown at the await of a step that failed for good.
class step_error : public error {
    using error::error;
};

/// Thrown at the await of a wait that nobody answered in time.
class wait_timeout : public error {
    using error::error;
};

/// Thrown at the await of a step that a person decided to skip and whose result the body needs.
class step_skipped : public error {
    using error::error;
};

/// Thrown at the await of a child run that ended otherwise than by a result. Its message is the whole path: the child's id, where in it the
/// failure was, and so on down to the run that failed first; its tag is that failure's.
class child_error : public error {
    using error::error;
};

/// Thrown in a body that was cancelled. Not a std::exception, so that `catch (std::exception&)` lets it pass.
struct cancelled {};

/// Throws the class that belongs to the code: `cancelled`, `wait_timeout`, `step_skipped`, `child_error`, `step_error` or `error`.
[[noreturn]] void raise(error const& e);

/// A value or an error. Ask it before `value()`; a bare `value()` throws the error it holds.
template <class T>
class [[nodiscard]] outcome {
public:
    using value_type = T;

    outcome(flow::error e) : state_(std::in_place_index<1>, std::move(e)) {}
    template <class U = T>
        requires(!std::same_as<std::remove_cvref_t<U>, outcome> && !std::derived_from<std::remove_cvref_t<U>, flow::error> &&
                 std::constructible_from<T, U &&>)
    outcome(U&& value) : state_(std::in_place_index<0>, std::forward<U>(value))
    {
    }

    bool has_value() const noexcept { return state_.index() == 0; }
    explicit operator bool() const noexcept { return has_value(); }

    T& value() & { return check(), std::get<0>(state_); }
    T const& value() const& { return check(), std::get<0>(state_); }
    T value() && { return check(), std::get<0>(std::move(state_)); }  // by value: `for (x : f().value())` must not dangle
    T& operator*() & noexcept { return *std::get_if<0>(&state_); }
    T const& operator*() const& noexcept { return *std::get_if<0>(&state_); }
    T&& operator*() && noexcept { return std::move(*std::get_if<0>(&state_)); }
    T* operator->() noexcept { return std::get_if<0>(&state_); }
    T const* operator->() const noexcept { return std::get_if<0>(&state_); }

    flow::error const& error() const noexcept { return *std::get_if<1>(&state_); }

private:
    void check() const
    {
        if (auto* e = std::get_if<1>(&state_)) raise(*e);
    }
    std::variant<T, flow::error> state_;
};

template <>
class [[nodiscard]] outcome<void> {
public:
    using value_type = void;

    outcome() = default;
    outcome(flow::error e) : error_(std::make_shared<flow::error>(std::move(e))) {}

    bool has_value() const noexcept { return !error_; }
    explicit operator bool() const noexcept { return has_value(); }
    void value() const
    {
        if (error_) raise(*error_);
    }
    flow::error const& error() const noexcept { return *error_; }

private:
    std::shared_ptr<flow::error const> error_;
};

/// An error that is ignored on purpose, for a reason one can search for.
template <class T>
void ignore(outcome<T> const&, [[maybe_unused]] std::string_view reason) noexcept
{
}

}  // namespace flow

#pragma GCC visibility pop
