// What a step's function may ask and say about the attempt it is.
#pragma once

#include <exception>
#include <stop_token>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>

#include "flow/ids.hpp"
#include "flow/time.hpp"

#pragma GCC visibility push(default)

namespace flow {

class attempt;
namespace detail {
struct attempt_data;
waitpoint_id token_of(attempt const& a) noexcept;
}  // namespace detail

/// Thrown by a step's function: what it should have done is known not to have happened. Of a non_replayable step this is
/// the one failure that may be tried again without asking a person.
struct not_started : std::exception {
    explicit not_started(std::string why = "not started") : why_(std::move(why)) {}
    char const* what() const noexcept override { return why_.c_str(); }
    std::string const& why() const noexcept { return why_; }  ///< whole, where `what()` ends at a NUL

private:
    std::string why_;
};

/// The same, and the next attempt, if the retry policy allows one, is made no sooner than so long from now: an HTTP 429 or 503 with Retry-After. The
/// pause is journaled as any other (mechanism AT-W7). A negative length is none; more than
/// a hundred years are a hundred.
struct retry_after : not_started {
    explicit retry_after(duration at_least, std::string why = "asked to come back later") : not_started(std::move(why)), at_least_(at_least) {}
    duration at_least() const noexcept { return at_least_; }

private:
    duration at_least_;
};

/// Thrown by a step's function: trying again is useless. The step fails at once, with this text.
struct permanent_error : std::exception {
    explicit permanent_error(std::string why) : why_(std::move(why)) {}
    char const* what() const noexcept override { return why_.c_str(); }
    std::string const& why() const noexcept { return why_; }  ///< whole, where `what()` ends at a NUL

private:
    std::string why_;
};

namespace detail {
bool remember_error_tag(std::type_info const& type, std::string_view tag);
}

/// Gives an exception type the tag that is journaled with a step's failure, so that a body can tell failures apart, live as on
/// replay, by any compiler. Once a type, before an engine starts:
/// `static bool const tagged = flow::error_tag<no_funds>("no_funds");`
/// Without one the tag is the type's demangled name, for people only. `tag` is a literal. Any thread.
template <class E>
bool error_tag(char const* tag)
{
    return detail::remember_error_tag(typeid(E), tag);
}

/// One invocation of a step's function. Handed to it by reference and valid until it returns; all members may be called
/// from any thread.
class attempt {
public:
    /// The key to hand to the outside service: the same at every attempt of this step, after every crash, and different
    /// for every other step, turn of a loop, branch and run (P2). At most 64 characters of [0-9a-f].
    /// In `reconcile` and `compensate` it is their own; `step_key` is then the step's.
    std::string_view key() const noexcept;
    std::string_view step_key() const noexcept;

    /// Counted from 1.
    int number() const noexcept;

    /// When this attempt's time is over, by the monotonic clock; `duration::max()` if it has no limit.
    duration time_left() const noexcept;

    /// Asked to stop: the time is over, the run was cancelled, or the engine shuts down. The run goes on only when the
    /// function has returned, so look often.
    bool stop_requested() const noexcept;
    std::stop_token stop_token() const noexcept;

    /// Sign of life of a function that takes long: engine::still_running() says how long ago the last one was.
    void heartbeat() noexcept;

    /// What the outside calls the thing that was done: journaled with the outcome, shown to a person who has to decide.
    void commit_ref(std::string reference);

    /// Rises at each takeover of the run: a fencing token for an outside that can refuse older ones.
    epoch_no epoch() const noexcept;

    explicit attempt(detail::attempt_data& d) noexcept : data_(&d) {}
    attempt(attempt const&) = delete;
    attempt& operator=(attempt const&) = delete;

private:
    friend waitpoint_id detail::token_of(attempt const& a) noexcept;
    detail::attempt_data* data_;
};

}  // namespace flow

#pragma GCC visibility pop
