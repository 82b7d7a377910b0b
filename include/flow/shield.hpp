// shield: an operation that a cancel does not reach.
#pragma once

#include <type_traits>
#include <utility>

#include "flow/detail/operation.hpp"
#include "flow/detail/scope.hpp"

#pragma GCC visibility push(default)

namespace flow {
namespace detail {

template <class Op>
class [[nodiscard("an operation runs only when it is awaited")]] shield_operation final : public operation {
public:
    explicit shield_operation(Op&& op) : op_(std::move(op)) {}
    shield_operation(shield_operation&&) noexcept = default;

    bool start(scope& s, continuation& c)
    {
        scope::shield const guard(s);
        return op_.start(s, c);
    }
    auto failed() { return op_.failed(); }
    decltype(auto) take() { return op_.take(); }

private:
    Op op_;
};

}  // namespace detail

/// `co_await flow::shield(op)`: runs `op`, a step or a whole sub-workflow, although the run is being cancelled, and does not
/// cancel it once begun. A cancel that comes meanwhile is delivered at the next operation outside.
template <detail::durable_operation Op>
    requires(!std::is_lvalue_reference_v<Op>)
detail::shield_operation<Op> shield(Op&& op)
{
    return detail::shield_operation<Op>(std::move(op));
}
template <detail::durable_operation Op>
void shield(Op&) = delete;  // an operation is awaited once: shield(std::move(op))

}  // namespace flow

#pragma GCC visibility pop
