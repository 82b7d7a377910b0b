// now, uuid, random: what a body must not ask the machine for, journaled so that replay gives the same answer.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "flow/codec.hpp"
#include "flow/detail/operation.hpp"
#include "flow/detail/scope.hpp"
#include "flow/ids.hpp"
#include "flow/time.hpp"

#pragma GCC visibility push(default)

namespace flow {
namespace detail {

enum class drawn : std::uint8_t { now, uuid, random };

class value_base : public journaled_operation {
public:
    bool start(scope& s, continuation& c);
    bool proceed(scope& s, continuation& c, position at) override;
    std::string_view shape() const override;
    outcome<void> accept(encoding how, std::string_view payload) override;

protected:
    explicit value_base(drawn what) : what_(what) {}
    std::uint64_t bits() const noexcept { return low_; }
    flow::uuid whole() const noexcept { return whole_; }

private:
    void draw(run& r, position const& at, bool late);
    /// The bounds, as the journal compares them: other bounds would make another number of the same bits.
    virtual std::string bounds() const { return {}; }

    drawn what_;
    std::uint64_t low_ = 0;  ///< microseconds, or 64 random bits
    flow::uuid whole_;
};

class [[nodiscard("a value is drawn only when it is awaited")]] now_operation final : public value_base {
public:
    now_operation() : value_base(drawn::now) {}
    time_point take() const { return check(), time_point(duration(static_cast<std::int64_t>(bits()))); }
};
class [[nodiscard("a value is drawn only when it is awaited")]] uuid_operation final : public value_base {
public:
    uuid_operation() : value_base(drawn::uuid) {}
    flow::uuid take() const { return check(), whole(); }
};
/// From 64 journaled bits, computed the same on every machine: std's distributions are not.
template <class T>
T scaled(std::uint64_t bits, T low, T high)
{
    if constexpr (std::is_floating_point_v<T>) {
        auto const unit = static_cast<double>(bits >> 11) * 0x1.0p-53;  // [0, 1)
        return static_cast<T>(static_cast<double>(low) * (1 - unit) + static_cast<double>(high) * unit);  // no overflow on the way
    } else {
        auto const span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;  // 0: all 64 bits
        auto const offset = span == 0 ? bits : bits % span;
        return static_cast<T>(static_cast<std::uint64_t>(low) + offset);
    }
}
template <class T>
class [[nodiscard("a value is drawn only when it is awaited")]] random_operation final : public value_base {
public:
    random_operation(T low, T high) : value_base(drawn::random), low_(low), high_(high) {}
    T take() const { return check(), scaled<T>(bits(), low_, high_); }

private:
    std::string bounds() const override
    {
        std::string text;
        encode(encoding::json, std::pair<T, T>(low_, high_), text);
        return std::string(shape_of<T>()) + text;
    }
    T low_, high_;
};

void check_range(bool ok);
template <class T>
constexpr bool is_bound(T v)
{
    return v - v == T{};  // neither infinite nor not a number
}

}  // namespace detail

/// The engine's wall clock, journaled.
inline detail::now_operation now() { return {}; }

/// A random UUID (version 4), journaled.
inline detail::uuid_operation uuid4() { return {}; }

/// A number drawn evenly from [low, high] (integers) or [low, high) (floating point), journaled.
/// Throws at the call flow::error(bad_argument) if low > high or a bound is not finite.
template <class T>
    requires std::is_arithmetic_v<T>
detail::random_operation<T> random(T low, T high)
{
    detail::check_range(low <= high && detail::is_bound(low) && detail::is_bound(high));
    return {low, high};
}
template <std::integral T>
detail::random_operation<T> random()
{
    return {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
}

}  // namespace flow

#pragma GCC visibility pop
