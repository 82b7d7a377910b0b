// Loops that run for months: checkpoint and continue_as_new close a segment of the journal, and what is older is never read again.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "flow/codec.hpp"
#include "flow/detail/closure.hpp"
#include "flow/detail/operation.hpp"
#include "flow/detail/scope.hpp"
#include "flow/detail/storable.hpp"
#include "flow/start.hpp"

#pragma GCC visibility push(default)

namespace flow {
namespace detail {

class run;

/// The awaited part of what closes a segment. The body never goes on behind it.
class segment_end : public journaled_operation {
public:
    void take() const { check(); }
    outcome<void> accept(encoding, std::string_view) override { return {}; }
    std::string_view shape() const override { return shape_; }

protected:
    segment_end(std::string payload, std::string_view shape) : payload_(std::move(payload)), shape_(shape) {}

    bool look(scope& s, continuation& c, position const& at, entry_kind kind, std::string_view called);
    std::string payload_;
    std::string_view shape_;
};

class [[nodiscard("a checkpoint is made only when it is awaited")]] checkpoint_operation final : public segment_end {
public:
    checkpoint_operation(std::string state, std::string_view shape) : segment_end(std::move(state), shape) {}
    bool start(scope& s, continuation& c);
    bool proceed(scope& s, continuation& c, position at) override;
};

class [[nodiscard("a run is continued only when it is awaited")]] continue_operation final : public segment_end {
public:
    continue_operation(std::string arguments, std::string_view shape) : segment_end(std::move(arguments), shape) {}

    /// With this version of the workflow instead of the newest registered.
    continue_operation&& on(flow::version v) && noexcept
    {
        version_ = v.number;
        return std::move(*this);
    }

    bool start(scope& s, continuation& c);
    bool proceed(scope& s, continuation& c, position at) override;

private:
    std::uint32_t version_ = 0;
};

class state_base : public operation {
public:
    error const* failed() const noexcept { return nullptr; }

protected:
    /// The state this segment began with. False: the run is held, it cannot be read.
    bool read(scope& s, std::string_view shape, outcome<void> (*into)(void*, encoding, std::string_view), void* value);
};
template <class S>
class [[nodiscard("state is read only when it is awaited")]] state_operation final : public state_base {
public:
    bool start(scope& s, continuation&)
    {
        return read(
            s, detail::shape_of<S>(), [](void* v, encoding how, std::string_view text) { return decode(how, text, *static_cast<S*>(v)); }, &value_);
    }
    S take() { return std::move(value_); }

private:
    S value_{};
};

template <class T>
constexpr bool may_be_passed()
{
    static_assert(std::is_lvalue_reference_v<T> || safe_in_co_await<T>,
                  "flow: g++ 12 copies this unnamed value bit by bit inside co_await and destroys it twice (a compiler bug). Give it a name "
                  "first: auto next = ...; co_await flow::checkpoint(next)");
    return std::is_lvalue_reference_v<T> || safe_in_co_await<T>;
}

}  // namespace detail

/// `auto seen = co_await flow::state<progress>()`: what the newest `checkpoint` was given; in a run's first segment, and after
/// `continue_as_new`, a value-initialised S. Takes no position and no time.
template <class S>
    requires std::default_initializable<S>
detail::state_operation<S> state()
{
    static_assert(detail::check_storable<S>());
    return {};
}

/// `co_await flow::checkpoint(s)` does not return: it closes the segment, and the body is entered again at its top, `state` giving `s`.
/// Arguments and version stay. Open tokens go on; keep them in `s` as `token<T>` to await them. Keys of steps differ from segment to
/// segment (P2). What is older is never read again, so a loop of any length replays only its last turn.
///
/// Only in the workflow's own body: elsewhere, in a branch or a sub-workflow, it throws flow::error(usage). Errors besides:
/// bad_payload at the call (what cannot be encoded), payload_too_large.
template <class S>
auto checkpoint(S&& s)
{
    if constexpr (!detail::may_be_passed<S>()) {
        return detail::refused{};
    } else {
        using state_type = std::decay_t<S>;
        static_assert(detail::check_storable<state_type>());
        std::string text;
        detail::encode(encoding::json, static_cast<state_type const&>(s), text);
        return detail::checkpoint_operation(std::move(text), detail::shape_of<state_type>());
    }
}

/// `co_await flow::continue_as_new(args...)` does not return: the run goes on as if it had just been started with these arguments, under the
/// same id and key, with the newest registered version of its workflow (or `.on(flow::version{n})`). Deadline, tags and open tokens stay;
/// state, patches and counts start anew (P21).
///
/// Only where no branch is open: in one it throws flow::error(usage). Arguments the workflow does not take, or a version nobody registered,
/// hold the run with a sentence that says so; nothing is lost.
template <class... A>
auto continue_as_new(A&&... arguments)
{
    if constexpr (!(detail::may_be_passed<A>() && ...)) {
        return detail::refused{};
    } else {
        using tuple = std::tuple<std::decay_t<A>...>;
        static_assert(detail::check_storable<tuple>());
        std::string text;
        detail::encode(encoding::json, tuple(std::forward<A>(arguments)...), text);
        return detail::continue_operation(std::move(text), detail::shape_of<tuple>());
    }
}

}  // namespace flow

#pragma GCC visibility pop
