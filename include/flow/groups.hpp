// Branches that run side by side in one body: all, any, all_settled, for_each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>
#include <ranges>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "flow/as_outcome.hpp"
#include "flow/detail/closure.hpp"
#include "flow/detail/operation.hpp"
#include "flow/detail/scope.hpp"
#include "flow/error.hpp"
#include "flow/workflow.hpp"

#pragma GCC visibility push(default)

namespace flow {
namespace detail {

enum class joining : std::uint8_t { all, any, settled };

class group_state;

/// What does not depend on the types of the branches. All of it on the run's strand.
class group_base : public journaled_operation {
public:
    bool start(scope& s, continuation& c);
    bool proceed(scope& s, continuation& c, position at) override;
    outcome<void> accept(encoding how, std::string_view payload) override;
    std::string_view shape() const override { return {}; }

protected:
    group_base(joining how, char const* name, std::size_t count, std::size_t concurrency = static_cast<std::size_t>(-1))
        : how_(how), name_(name), count_(count), concurrency_(concurrency)
    {
    }

    virtual bool enter(std::size_t i, scope& s, continuation& c) = 0;
    virtual error const* branch_failure(std::size_t i) = 0;
    /// Throws what the branch threw.
    virtual void rethrow_branch(std::size_t i) = 0;

    void check_group();
    std::size_t winner() const noexcept { return decisive_; }

private:
    friend class group_state;
    joining how_;
    char const* name_;
    std::size_t count_, concurrency_;
    std::size_t decisive_ = 0;   ///< the branch that won, or failed
    bool branch_threw_ = false;  ///< that one's error is the group's
    std::exception_ptr thrown_;  ///< what the start of a branch threw
    std::shared_ptr<group_state> state_;  ///< made by start
};

template <class Op>
inline constexpr bool is_workflow_object = false;
template <class T>
inline constexpr bool is_workflow_object<workflow<T>> = true;

/// A branch given as a function that returns a workflow: the group keeps the function, which the body refers to.
template <class F>
class called_branch final : public operation {
    using W = std::invoke_result_t<F&>;

public:
    explicit called_branch(F fn) : fn_(std::move(fn)) {}
    bool enter(scope& own, continuation& c) { return body_.emplace(fn_()).enter(own, c); }
    error const* failed() { return body_ ? body_->failed() : nullptr; }
    decltype(auto) take() { return body_->take(); }

private:
    F fn_;
    std::optional<W> body_;  // goes before the function it refers to
};

template <class B>
inline constexpr bool is_called_branch = false;
template <class F>
inline constexpr bool is_called_branch<called_branch<F>> = true;

template <class F>
concept workflow_function = std::invocable<std::decay_t<F>&> && is_workflow_object<std::invoke_result_t<std::decay_t<F>&>>;
template <class B>
concept branch_like =
    (durable_operation<B> && !std::is_lvalue_reference_v<B>) || (!durable_operation<B> && workflow_function<B>) || awaited_handle<B>;

template <class B>
struct branch_type {
    using type = std::remove_cvref_t<B>;
};
template <class B>
    requires(awaited_handle<B>)
struct branch_type<B> : operation_of_handle<std::remove_cvref_t<B>> {};
template <class B>
    requires(!durable_operation<B> && !awaited_handle<B>)
struct branch_type<B> {
    static_assert(safe_in_co_await<B>,
                  "flow: g++ 12 copies this closure bit by bit inside co_await and destroys it twice (a compiler bug). Capture by "
                  "reference [&], or give it a name first: auto fn = [x]() -> flow::workflow<T> {...}; co_await flow::all(fn, ...)");
    using type = called_branch<std::decay_t<B>>;
};
template <class B>
using branch_of = typename branch_type<B>::type;

template <class B>
bool enter_branch(B& b, scope& s, continuation& c)
{
    // A branch that is a workflow is the branch: its operations stand right below it.
    if constexpr (is_workflow_object<B> || is_called_branch<B>) return b.enter(s, c);
    else return b.start(s, c);
}

template <class T>
using storage_of_branch = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

template <class B>
storage_of_branch<result_of<B>> take_branch(B& b)
{
    if constexpr (std::is_void_v<result_of<B>>) return b.take(), std::monostate{};
    else return b.take();
}

/// A fixed number of branches of their own types.
template <joining How, class... B>
class [[nodiscard("a group runs only when it is awaited")]] group_operation final : public group_base {
public:
    template <class... Given>
    explicit group_operation(char const* name, Given&&... branches)
        : group_base(How, name, sizeof...(B)), branches_(B(std::forward<Given>(branches))...)
    {
    }
    group_operation(group_operation&&) noexcept = default;

    auto take()
    {
        check_group();
        if constexpr (How == joining::all) {
            return std::apply([](auto&... b) { return std::tuple<storage_of_branch<result_of<B>>...>(take_branch(b)...); }, branches_);
        } else if constexpr (How == joining::settled) {
            return std::apply([](auto&... b) { return std::tuple<outcome<result_of<B>>...>(take_outcome(b)...); }, branches_);
        } else {
            std::optional<std::variant<storage_of_branch<result_of<B>>...>> won;
            take_winner(won, std::index_sequence_for<B...>{});
            return *std::move(won);
        }
    }

private:
    template <std::size_t... I, class Won>
    void take_winner(Won& won, std::index_sequence<I...>)
    {
        ((I == winner() ? won.emplace(std::in_place_index<I>, take_branch(std::get<I>(branches_))), 0 : 0), ...);
    }
    template <class Do>
    void visit(std::size_t i, Do const& act)
    {
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            ((I == i ? act(std::get<I>(branches_)), 0 : 0), ...);
        }(std::index_sequence_for<B...>{});
    }
    bool enter(std::size_t i, scope& s, continuation& c) override
    {
        bool ready = false;
        visit(i, [&](auto& b) { ready = enter_branch(b, s, c); });
        return ready;
    }
    error const* branch_failure(std::size_t i) override
    {
        error const* e = nullptr;
        visit(i, [&](auto& b) { e = b.failed(); });
        return e;
    }
    void rethrow_branch(std::size_t i) override
    {
        visit(i, [](auto& b) { static_cast<void>(take_branch(b)); });
    }

    std::tuple<B...> branches_;
};

}  // namespace detail

/// A plain value.
struct for_each_options {
    /// Branches in flight at once. 0: all.
    std::size_t concurrency = 0;
};

namespace detail {

/// One branch an element, made when its turn comes.
template <class Range, class F>
class [[nodiscard("a group runs only when it is awaited")]] for_each_operation final : public group_base {
    using R = std::remove_reference_t<Range>;
    using item = std::ranges::range_value_t<R>;
    using B = branch_of<std::invoke_result_t<F&, item const&>>;
    using T = result_of<B>;

public:
    for_each_operation(Range&& range, F fn, for_each_options o)
        : group_base(joining::all, "for_each", static_cast<std::size_t>(std::ranges::distance(range)),
                     o.concurrency == 0 ? static_cast<std::size_t>(-1) : o.concurrency),
          range_(std::forward<Range>(range)), fn_(std::move(fn))
    {
    }
    for_each_operation(for_each_operation&&) noexcept = default;

    auto take()
    {
        check_group();
        if constexpr (!std::is_void_v<T>) {
            std::vector<T> all;
            all.reserve(branches_.size());
            for (auto& b : branches_) all.push_back(b->take());
            return all;
        }
    }

private:
    bool enter(std::size_t i, scope& s, continuation& c) override
    {
        if (i == 0) next_ = std::ranges::begin(range_);
        auto& b = branches_.emplace_back();
        b.emplace(fn_(std::as_const(*next_++)));
        return enter_branch(*b, s, c);
    }
    error const* branch_failure(std::size_t i) override { return branches_[i] ? branches_[i]->failed() : nullptr; }
    void rethrow_branch(std::size_t i) override { static_cast<void>(take_branch(*branches_[i])); }

    Range range_;  // a reference where the body gave a variable of its own
    F fn_;
    std::ranges::iterator_t<R> next_{};
    std::deque<std::optional<B>> branches_;
};

}  // namespace detail

/// `auto [a, b] = co_await flow::all(op1, op2, …)`: runs them side by side, each a branch with its own positions, and gives all
/// results (std::monostate for void). Branches are operations, workflows, or functions that return a workflow (`[&]() ->
/// flow::workflow<T> {…}`). They take turns on one thread: what they share needs no lock, and replay takes the same turns.
///
/// The first branch to fail cancels the others; its error is thrown when all have ended and their functions have returned.
template <class... B>
    requires(sizeof...(B) > 0 && (detail::branch_like<B> && ...))
auto all(B&&... branches)
{
    return detail::group_operation<detail::joining::all, detail::branch_of<B>...>("all", std::forward<B>(branches)...);
}

/// The first branch to end wins, by a value or by an error; the others are cancelled, and awaited. Gives a std::variant whose
/// index says which one it was (std::monostate for void).
template <class... B>
    requires(sizeof...(B) > 0 && (detail::branch_like<B> && ...))
auto any(B&&... branches)
{
    return detail::group_operation<detail::joining::any, detail::branch_of<B>...>("any", std::forward<B>(branches)...);
}

/// Runs all to their ends, whatever comes of them: a std::tuple of flow::outcome.
template <class... B>
    requires(sizeof...(B) > 0 && (detail::branch_like<B> && ...))
auto all_settled(B&&... branches)
{
    return detail::group_operation<detail::joining::settled, detail::branch_of<B>...>("all_settled", std::forward<B>(branches)...);
}

/// One branch an element of the range, at most `concurrency` at once, begun in the order of the range. `fn(element)` gives the
/// branch: an operation or a workflow, which must own what it needs of the element. Results as a std::vector in the order of the range;
/// nothing for void. Errors as `all`. The range is kept by reference where it is a variable, else moved.
template <std::ranges::forward_range Range, class F>
auto for_each(Range&& range, F fn, for_each_options options = {})
{
    static_assert(detail::safe_in_co_await<F>,
                  "flow: g++ 12 copies this closure bit by bit inside co_await and destroys it twice (a compiler bug). Capture by "
                  "reference [&], or give it a name first");
    return detail::for_each_operation<Range, F>(std::forward<Range>(range), std::move(fn), options);
}

// An operation is awaited once: all(std::move(op), …).
template <class... B>
    requires((detail::durable_operation<B> && std::is_lvalue_reference_v<B>) || ...)
void all(B&&...) = delete;
template <class... B>
    requires((detail::durable_operation<B> && std::is_lvalue_reference_v<B>) || ...)
void any(B&&...) = delete;
template <class... B>
    requires((detail::durable_operation<B> && std::is_lvalue_reference_v<B>) || ...)
void all_settled(B&&...) = delete;

}  // namespace flow

#pragma GCC visibility pop
