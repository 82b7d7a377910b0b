// as_outcome: the result of an operation without exceptions.
#pragma once

#include <type_traits>
#include <utility>

#include "flow/detail/operation.hpp"
#include "flow/detail/scope.hpp"
#include "flow/error.hpp"

#pragma GCC visibility push(default)

namespace flow {
namespace detail {

/// What a finished operation came to, without exceptions.
template <class Op>
outcome<result_of<Op>> take_outcome(Op& op)
{
    if (auto const* e = op.failed()) return *e;
    if constexpr (std::is_void_v<result_of<Op>>) return {};
    else return op.take();
}

template <class Op>
class [[nodiscard("an operation runs only when it is awaited")]] outcome_operation final : public operation {
public:
    explicit outcome_operation(Op&& op) : op_(std::move(op)) {}
    outcome_operation(outcome_operation&&) noexcept = default;

    bool start(scope& s, continuation& c) { return op_.start(s, c); }
    error const* failed() const noexcept { return nullptr; }
    outcome<result_of<Op>> take() { return take_outcome(op_); }

private:
    Op op_;
};

}  // namespace detail

/// `auto r = co_await flow::as_outcome(op)`: the value, or the flow::error that awaiting `op` would throw. A cancel is an error
/// here as well, with code `cancelled`: clean up under flow::shield and return.
template <detail::durable_operation Op>
    requires(!std::is_lvalue_reference_v<Op>)
detail::outcome_operation<Op> as_outcome(Op&& op)
{
    return detail::outcome_operation<Op>(std::move(op));
}
template <detail::durable_operation Op>
void as_outcome(Op&) = delete;  // an operation is awaited once: as_outcome(std::move(op))

}  // namespace flow

#pragma GCC visibility pop
