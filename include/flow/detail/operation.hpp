// What all operations have in common: how a body awaits one, and the refusals of everything else.
#pragma once

#include <concepts>
#include <coroutine>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "flow/codec.hpp"
#include "flow/error.hpp"
#include "flow/journal.hpp"

#pragma GCC visibility push(default)

namespace boost::asio::detail {
template <typename Executor>
class awaitable_frame_base;
}

namespace flow::detail {

class scope;
struct position;

/// Who is told that an operation has its outcome. Called on the run's strand.
class continuation {
public:
    virtual void done() = 0;

protected:
    ~continuation() = default;
};

/// Takes the place of a value that a refused expression would have had, so that one error stays one error.
struct any_value {
    template <class T>
    operator T() const;
};
struct refused {
    bool await_ready() const noexcept { return true; }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    any_value await_resume() const noexcept { return {}; }
};

template <class...>
inline constexpr bool never_true = false;

/// Base of every operation. An operation is a class with constructors, never an aggregate; it may be moved until it is
/// started and never after. Derived classes have
///     bool start(scope&, continuation&)   true: the outcome is there; false: `done` will be called, or never
///     error const* failed() const       the outcome's error, if it is one
///     T take()                          the value, moved out; throws the error
class operation {
public:
    // Awaited in another coroutine: our own await_transform never looks at this.
    template <class Refuse = void>
    refused operator co_await() const
    {
        static_assert(!std::is_void_v<Refuse>,
                      "flow: a durable operation can be awaited in the body of a flow::workflow only, not in another coroutine");
        return {};
    }
    // Awaited in an Asio coroutine: Asio tries to call what is awaited with its frame. `auto`: it asks for the return type only,
    // and so this body is looked at.
    template <class Executor>
    auto operator()(boost::asio::detail::awaitable_frame_base<Executor>*) const
    {
        static_assert(never_true<Executor>,
                      "flow: a durable operation cannot be awaited inside a step's function or any asio coroutine. Return "
                      "from the step first, or make this function a flow::workflow");
        return any_value{};  // as if it were what Asio asks for, so that fewer errors follow
    }
};

template <class Op>
concept durable_operation =
    std::derived_from<std::remove_cvref_t<Op>, operation> && !std::is_const_v<std::remove_reference_t<Op>>;

/// A value that may be awaited as often as one likes, and the operation that each await of it is: `type`, made from the value.
template <class Handle>
struct operation_of_handle {};
template <class H>
concept awaited_handle = requires { typename operation_of_handle<std::remove_cvref_t<H>>::type; };

template <class Op>
using result_of = decltype(std::declval<Op&>().take());

/// An operation in flight: what the run tells it. Lives on the heap, and only while live. Its destructor deregisters it.
class pending;
struct pending_deleter {
    void operator()(pending* p) const noexcept;
};
using pending_ptr = std::unique_ptr<pending, pending_deleter>;

/// An operation whose outcome is one journaled value or error.
class journaled_operation : public operation {
public:
    journaled_operation(journaled_operation&&) noexcept = default;
    virtual ~journaled_operation() = default;

    error const* failed() const noexcept { return failure_.get(); }

    /// What `start` does once the position is taken; called again where its turn comes later (P15).
    virtual bool proceed(scope& s, continuation& c, position at) = 0;

    /// Takes a recorded or delivered value. undecodable: the run is held.
    virtual outcome<void> accept(encoding how, std::string_view payload) = 0;
    /// The shape of the value, for the journal.
    virtual std::string_view shape() const = 0;

    void fail(error e) { failure_ = std::make_unique<error>(std::move(e)); }

    pending_ptr live;

protected:
    journaled_operation() = default;
    void check() const
    {
        if (failure_) raise(*failure_);
    }

private:
    std::unique_ptr<error> failure_;
};

/// A name as an operation takes it: a literal is viewed, everything else copied.
class name {
public:
    template <std::size_t N>
    name(char const (&literal)[N]) noexcept : text_(literal), size_(N - 1)
    {
    }
    template <std::size_t N>
    name(char (&buffer)[N]) : name(std::string_view(buffer))
    {
    }
    template <class S>
        requires(std::convertible_to<S const&, std::string_view> && !std::is_array_v<std::remove_reference_t<S>>)
    name(S const& text) : name(std::string_view(text), 0)
    {
    }

    std::string_view view() const noexcept { return {text_, size_}; }

private:
    name(std::string_view text, int);  // copies
    char const* text_ = nullptr;
    std::size_t size_ = 0;
    std::unique_ptr<char[]> owned_;
};

}  // namespace flow::detail

#pragma GCC visibility pop
