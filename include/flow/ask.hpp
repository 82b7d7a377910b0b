// Asking people: ask, what a question says, and what was answered.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "flow/codec.hpp"
#include "flow/detail/closure.hpp"
#include "flow/responses.hpp"
#include "flow/start.hpp"
#include "flow/token.hpp"

#pragma GCC visibility push(default)

namespace flow {

/// One answer as it counted.
struct vote {
    std::string by;
    bool approved = false;
    std::string why;
    time_point at{};
};

/// What was decided.
template <class T = void>
struct verdict {
    bool approved = false;
    std::optional<T> value;   ///< given by the one whose answer decided
    std::vector<vote> votes;  ///< in the order in which they came
    bool by_default = false;  ///< nobody decided in time
};
template <>
struct verdict<void> {
    bool approved = false;
    std::vector<vote> votes;
    bool by_default = false;
};

namespace detail {
struct question_draft {
    question_terms terms;
    bool wants_all = false;
    bool secrets = false;
    wait_limit deadline{}, sla{};
};
}  // namespace detail

/// What is asked, of whom, until when. Setters return the question, to be chained.
///
///     co_await flow::ask("refund", flow::question("Refund 120 EUR to Alice?").about(order).to("ann", "bob", "cy").quorum(2).deadline(24h));
class question {
public:
    /// `text` is for people.
    explicit question(std::string text);
    question(question const&) = default;
    question(question&&) noexcept = default;
    question& operator=(question const&) = default;
    /// Also from itself: `q = std::move(q).all()`.
    question& operator=(question&& other) noexcept
    {
        if (this != &other) draft_ = std::move(other.draft_);
        return *this;
    }

    /// Default: approval.
    question&& subject(ask_subject s) &&;
    /// Who may answer, by the identity they act under; others are refused. Unset: everybody.
    question&& to(std::vector<std::string> const& assignees) &&;
    template <std::convertible_to<std::string_view>... Names>
    question&& to(Names const&... assignees) &&
    {
        (draft_.terms.assignees.emplace_back(std::string_view(assignees)), ...);
        return std::move(*this);
    }
    /// One approval decides: the default.
    question&& any() &&;
    /// All who are asked must approve. A rejection of one rejects, here as with the others.
    question&& all() &&;
    /// So many of those who are asked.
    question&& quorum(std::uint32_t needed) &&;
    /// Of an arbitration: the value is one of these, a text.
    question&& choices(std::vector<std::string> const& of) &&;
    template <std::convertible_to<std::string_view>... Choices>
    question&& choices(Choices const&... of) &&
    {
        draft_.terms.subject = ask_subject::arbitration;
        (draft_.terms.choices.emplace_back(std::string_view(of)), ...);
        return std::move(*this);
    }
    /// What exactly is decided on. Its SHA-256 is stored; an answer to something else is refused, and code that asks about something else
    /// on replay is a mismatch: it needs an answer of its own.
    template <class A>
    question&& about(A&& arguments) &&
    {
        static_assert(std::is_lvalue_reference_v<A> || detail::safe_in_co_await<A>,
                      "flow: g++ 12 copies this unnamed value bit by bit inside co_await and destroys it twice (a compiler bug). Give it a name "
                      "first: auto what = ...; co_await flow::ask(..., flow::question(...).about(what))");
        std::string text;
        detail::encode(encoding::json, static_cast<detail::argument_of<std::remove_cvref_t<A>> const&>(arguments), text);
        return std::move(*this).about_json(std::move(text));
    }
    /// Answers are taken so long from now; then `otherwise` counts, or the await throws flow::wait_timeout. Unset: as the wait policy says
    /// (flow/wait_policy.hpp), else without limit.
    question&& deadline(wait_limit d) &&;
    /// After so long somebody should look why it is still open: shown, never acted on. Unset: as the wait policy says.
    question&& sla(wait_limit d) &&;
    /// At the deadline the run expires instead (P43): the await throws flow::error(request_expired); a run that ends with that has the
    /// status expired, reason approval.
    question&& expires() &&;
    /// At the deadline this counts; or where the wait policy says default_answer. One of the two must give it a deadline: else the await throws
    /// flow::error(bad_argument), as with `expires`.
    question&& otherwise(bool approves) &&;
    template <class V>
    question&& otherwise(bool approves, V&& value) &&
    {
        static_assert(std::is_lvalue_reference_v<V> || detail::safe_in_co_await<V>,
                      "flow: g++ 12 copies this unnamed value bit by bit inside co_await and destroys it twice (a compiler bug). Give it a name "
                      "first");
        std::string text;
        detail::encode(encoding::json, static_cast<detail::argument_of<std::remove_cvref_t<V>> const&>(value), text);
        return std::move(*this).otherwise_json(approves, std::move(text));
    }
    /// For programs that show questions: "mail", "desk".
    question&& channel(std::string name) &&;
    /// Each person in to() gets a secret, by which they answer without having the store: whoever shows it is that person. Asked of everybody it
    /// has one secret for all. A program that has the store and its key sends them out: client::secret_for. Default: operators alone answer, by
    /// name. Where the store's key is missing, the run is held.
    question&& secrets() &&;

    detail::question_draft const& as_drafted() const noexcept { return draft_; }

private:
    question&& about_json(std::string text) &&;
    question&& otherwise_json(bool approves, std::string value) &&;
    detail::question_draft draft_;
};

namespace detail {

/// Throws flow::error(bad_argument) for a question that nobody could decide, or whose default is no answer. `wanted`: the shape of a value.
std::shared_ptr<question_draft const> checked_question(question q, std::string_view wanted);

constexpr std::string_view no_value = "void";

template <class T>
class [[nodiscard("a question is asked only when it is awaited")]] ask_operation final : public wait_base {
public:
    ask_operation(name n, std::shared_ptr<question_draft const> q) : wait_base(std::move(n), std::move(q)) {}
    ask_operation(ask_operation&&) noexcept = default;

    verdict<T> take()
    {
        check();
        return std::move(*value_);
    }
    outcome<void> accept(encoding how, std::string_view payload) override { return decode(how, payload, value_.emplace()); }
    std::string_view shape() const override { return shape_of<verdict<T>>(); }
    std::string_view wanted_shape() const override { return shape_of<storage_of_answer<T>>(); }

private:
    std::optional<verdict<T>> value_;
};

}  // namespace detail

/// Asks people, and waits until enough of them have answered (client::respond, `flow approve`, `flow reject`). With a T, who approves gives a
/// value of that type. The wait costs no thread. Throws at the call: flow::error(bad_argument) for a question that cannot be decided. Throws
/// at the await: flow::wait_timeout, flow::error(request_expired), flow::cancelled.
template <class T = void>
detail::ask_operation<T> ask(detail::name name, question what)
{
    [[maybe_unused]] constexpr bool storable = detail::check_storable<detail::storage_of_answer<T>>();
    return {std::move(name), detail::checked_question(std::move(what), detail::shape_of<detail::storage_of_answer<T>>())};
}

}  // namespace flow

#pragma GCC visibility pop
