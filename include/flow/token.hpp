// Tokens: waitpoints that somebody outside completes, once: make_token, wait_for_token.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "flow/codec.hpp"
#include "flow/detail/operation.hpp"
#include "flow/detail/scope.hpp"
#include "flow/ids.hpp"
#include "flow/sleep.hpp"

#pragma GCC visibility push(default)

namespace flow {

/// What must be shown to complete a token from outside. A type of its own, so that it is not printed or logged by accident.
class token_secret {
public:
    explicit token_secret(std::string text) : text_(std::move(text)) {}
    /// 64 hexadecimal digits, to be sent out by a step.
    std::string const& text() const noexcept { return text_; }

private:
    std::string text_;
};

/// A wait that somebody outside ends, with a T. A value: copy it, keep it in results; it is stored as its id.
template <class T>
class token {
public:
    token() = default;
    explicit token(waitpoint_id id, bool is_cached = false) : id_(id), is_cached_(is_cached) {}

    /// Unguessable: 128 random bits, the same after every restart.
    waitpoint_id id() const noexcept { return id_; }
    /// What make_token gave is a token made before, under the same idempotency key. Not stored with the token.
    bool is_cached() const noexcept { return is_cached_; }

    /// Its secret: derived from the store's key and the id, stored nowhere (P39). Send it by a
    /// step; do not return it from one. Only inside a workflow body or the function of a step that it awaits.
    /// Throws flow::error(usage) elsewhere.
    token_secret secret() const;

    friend bool operator==(token const& a, token const& b) noexcept { return a.id_ == b.id_; }

private:
    waitpoint_id id_;
    bool is_cached_ = false;
};

template <class T>
struct codec_traits<token<T>> {
    static constexpr std::string_view shape = "token";
    static std::string to_text(token<T> const& t) { return to_string(t.id()); }
    static bool from_text(std::string_view text, token<T>& into)
    {
        auto id = parse_uuid(text);
        if (id) into = token<T>(waitpoint_id{*id});
        return id.has_value();
    }
};

/// A length of time in a wait's options, from any chrono duration. Unset: no limit.
class wait_limit {
public:
    constexpr wait_limit() = default;
    template <class Rep, class Period>
    wait_limit(std::chrono::duration<Rep, Period> d) : length_(detail::checked_duration(d))
    {
    }
    constexpr bool is_set() const noexcept { return length_ != duration::max(); }
    constexpr duration get() const noexcept { return length_; }

private:
    duration length_ = duration::max();
};

/// A plain value.
struct token_options {
    /// The token can be completed this long after it was made. Unset: as long as its run lives.
    wait_limit lifetime{};
    /// Answers with fields the type does not have are refused instead of the fields ignored.
    bool strict = false;
    /// For people; a literal.
    char const* description = nullptr;
    /// Making a token under a key this run used before gives that token again. Only read when make_token is awaited. Empty: no key.
    std::string_view idempotency_key{};
    /// The key counts this long after its token was made; later it makes a new one. Unset: as long as the run.
    wait_limit idempotency_key_ttl{};
};
static_assert(std::is_trivially_copyable_v<token_options> && sizeof(token_options) <= 80);

/// A plain value.
struct wait_options {
    /// The wait ends by flow::wait_timeout after this long, counted from when it was first reached. Unset: no limit.
    wait_limit timeout{};
    bool strict = false;
    char const* description = nullptr;
};
static_assert(std::is_trivially_copyable_v<wait_options> && sizeof(wait_options) <= 80);

namespace detail {

/// The secret of a token of the run whose strand or step function this is. Throws flow::error(usage).
std::string secret_here(waitpoint_id id);

template <class T>
using storage_of_answer = std::conditional_t<std::is_void_v<T>, unit, T>;

/// What flow::ask asks (flow/ask.hpp).
struct question_draft;

class make_token_base : public journaled_operation {
public:
    bool start(scope& s, continuation& c);
    bool proceed(scope& s, continuation& c, position at) override;
    std::string_view shape() const override { return "token"; }
    outcome<void> accept(encoding how, std::string_view payload) override;

protected:
    make_token_base(name n, token_options o, std::string_view (*answer)()) : name_(std::move(n)), options_(o), answer_(answer) {}
    waitpoint_id id_;
    bool is_cached_ = false;

private:
    bool make(run& r, position const& at);
    void keep_key(run& r, time_point made_at) const;

    name name_;
    token_options options_;
    std::string_view (*answer_)();
};

template <class T>
class [[nodiscard("a token is made only when it is awaited")]] make_token_operation final : public make_token_base {
public:
    make_token_operation(name n, token_options o) : make_token_base(std::move(n), o, &shape_of<T>) {}
    make_token_operation(make_token_operation&&) noexcept = default;
    token<T> take() { return check(), token<T>(id_, is_cached_); }
};

class wait_base : public journaled_operation {
public:
    bool start(scope& s, continuation& c);
    bool proceed(scope& s, continuation& c, position at) override;

    name const& called() const noexcept { return name_; }
    wait_options const& options() const noexcept { return options_; }
    std::optional<waitpoint_id> const& waitpoint() const noexcept { return id_; }
    /// What the wait stands on: a token, or an event of the topic that `called` names.
    enum class source : std::uint8_t { token, event, event_for_this_run, people };
    bool is_event() const noexcept { return source_ == source::event || source_ == source::event_for_this_run; }
    bool is_question() const noexcept { return source_ == source::people; }
    question_draft const& asked() const noexcept { return *question_; }
    bool is_for_this_run() const noexcept { return source_ == source::event_for_this_run; }
    std::string correlation(run const& r) const;
    /// Of what completes the waitpoint, where that is not what the wait gives.
    virtual std::string_view wanted_shape() const { return shape(); }
    /// The run whose end it waits for; none: it waits for a token.
    virtual std::optional<run_id> child_run() const noexcept { return std::nullopt; }

protected:
    wait_base(name n, std::optional<waitpoint_id> id, wait_options o) : name_(std::move(n)), id_(id), options_(o) {}
    wait_base(name topic, name correlation, wait_options o)
        : name_(std::move(topic)), options_(o), correlation_(std::move(correlation)), source_(source::event)
    {
    }
    wait_base(name n, std::shared_ptr<question_draft const> q) : name_(std::move(n)), source_(source::people), question_(std::move(q)) {}
    wait_base(name topic, wait_options o) : name_(std::move(topic)), options_(o), source_(source::event_for_this_run) {}

private:
    bool is_unknown(run& r, position const& at);
    void fail_at(run& r, position const& at, error_detail d);
    bool is_refused();

    name name_;
    std::optional<waitpoint_id> id_;  ///< of a token made before; none: one is made with the wait
    wait_options options_;
    name correlation_ = "";
    source source_ = source::token;
    std::shared_ptr<question_draft const> question_;
};

template <class T>
class [[nodiscard("a wait happens only when it is awaited")]] wait_operation final : public wait_base {
    using V = storage_of_answer<T>;

public:
    wait_operation(name n, std::optional<waitpoint_id> id, wait_options o) : wait_base(std::move(n), id, o) {}
    wait_operation(name topic, name correlation, wait_options o) : wait_base(std::move(topic), std::move(correlation), o) {}
    wait_operation(name topic, wait_options o) : wait_base(std::move(topic), o) {}
    wait_operation(wait_operation&&) noexcept = default;

    T take()
    {
        check();
        if constexpr (!std::is_void_v<T>) return std::move(*value_);
    }
    outcome<void> accept(encoding how, std::string_view payload) override { return decode(how, payload, value_.emplace()); }
    std::string_view shape() const override { return shape_of<V>(); }

private:
    std::optional<V> value_;
};

}  // namespace detail

template <class T>
token_secret token<T>::secret() const
{
    return token_secret(detail::secret_here(id_));
}

/// Makes a token that the next steps can send out. Same id after every restart. The run does not wait yet.
/// Throws at the await: flow::cancelled; flow::error(usage) where its idempotency key was used for another type of answer. Throws at
/// the call: flow::error(bad_name).
template <class T>
detail::make_token_operation<T> make_token(detail::name name, token_options options = {})
{
    [[maybe_unused]] constexpr bool storable = detail::check_storable<detail::storage_of_answer<T>>();
    return {std::move(name), options};
}

/// Waits until somebody completes the token: from this program, from another process, by `flow complete`. It may have been
/// completed before. The wait costs no thread. Throws at the await: flow::wait_timeout, flow::cancelled; flow::error(unknown_token) for a
/// token that no run on this store has made.
template <class T>
detail::wait_operation<T> wait_for_token(token<T> const& which, wait_options options = {})
{
    return {"token", which.id(), options};
}

/// The same with a token of its own, made here and found by `flow tokens`.
template <class T>
detail::wait_operation<T> wait_for_token(detail::name name, wait_options options = {})
{
    [[maybe_unused]] constexpr bool storable = detail::check_storable<detail::storage_of_answer<T>>();
    return {std::move(name), std::nullopt, options};
}

}  // namespace flow

#pragma GCC visibility pop
