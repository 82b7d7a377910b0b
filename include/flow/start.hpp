// How a run is started: its arguments and options.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "flow/codec.hpp"
#include "flow/time.hpp"

#pragma GCC visibility push(default)

namespace flow {

/// A workflow's version; a run keeps the one it began with.
struct version {
    std::uint32_t number = 1;
};

/// The first event of a run (client::send), told with its start in one transaction: either both are there or neither is.
struct start_event {
    std::string_view topic{};  ///< empty: none
    std::string_view json{};   ///< the value
    std::string_view id{};     ///< as event_options::id
};

/// A plain value; all defaults are usable. Texts are copied by `start`.
struct start_options {
    /// Starting twice under one key gives one run: the same workflow and arguments find the run that is there, others are
    /// refused with start_conflict. Empty: every start is a new run.
    std::string_view idempotency_key{};
    /// Keys are unique within a tenant.
    std::string_view tenant{};
    /// For finding runs again: words, parted by spaces or commas.
    std::string_view tags{};
    /// The run is not begun before so long from now.
    duration delay{};
    /// The run must have ended so long from now. If it has not, it is cancelled, its clean-up runs, and it ends `expired` (deadline); one that
    /// has not begun by then never does. Zero: none.
    duration deadline{};
    /// Of runs that stand in the queue, those with the highest are taken first; among equals the one that has been due the longest,
    /// whether it was started or woken.
    std::int32_t priority = 0;
    /// For a start by name: the version to run. 0: the newest that an engine has registered; 1 from a client. Starting again under a key
    /// compares it only if it is given.
    flow::version version{0};
    /// Who starts it, for the journal. Empty: the engine's or client's own name.
    std::string_view by{};
    std::string_view why{};
    /// Told to the run that is started, or that is there under the key. It throws run_ended if that one has ended, inbox_full, event_conflict.
    start_event event{};
};
static_assert(std::is_trivially_copyable_v<start_options>);

namespace detail {
template <class A>
struct argument {
    using type = std::decay_t<A>;
};
template <std::size_t N>
struct argument<char[N]> {
    using type = std::string;
};
template <>
struct argument<char const*> {
    using type = std::string;
};
template <>
struct argument<std::string_view> {
    using type = std::string;
};
template <class A>
using argument_of = typename argument<A>::type;
}  // namespace detail

/// Arguments for a workflow that is started by name: encoded as they are given, checked against its parameters.
class args {
public:
    template <class... A>
    explicit args(A const&... values)
    {
        std::tuple<detail::argument_of<A>...> all(values...);
        detail::encode(encoding::json, all, text_);
        shape_ = detail::shape_of<decltype(all)>();
    }
    /// A JSON array, one element a parameter.
    static args json(std::string text)
    {
        args a{};
        a.text_ = std::move(text);
        a.shape_ = {};
        return a;
    }

    std::string const& text() const noexcept { return text_; }
    /// Empty where only JSON was given.
    std::string_view shape() const noexcept { return shape_; }

private:
    std::string text_;
    std::string_view shape_;
};

}  // namespace flow

#pragma GCC visibility pop
