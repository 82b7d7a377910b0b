// An executor of the caller's, as an engine takes it. Made by flow::asio_executor of <flow/asio.hpp>; here nothing of Asio is seen.
#pragma once

#include <memory>
#include <utility>

#pragma GCC visibility push(default)

namespace flow {

namespace detail {
class outer_executor;
}

/// Where an engine without threads for bodies runs them. Empty: nowhere of the caller's.
///
/// A plain value: copy it freely, from any thread; several engines may share one. It does not own what it runs on: that must outlive
/// every engine made on it.
class executor {
public:
    executor() = default;
    explicit executor(std::shared_ptr<detail::outer_executor const> on) noexcept : on_(std::move(on)) {}

    explicit operator bool() const noexcept { return on_ != nullptr; }
    std::shared_ptr<detail::outer_executor const> const& get() const noexcept { return on_; }

private:
    std::shared_ptr<detail::outer_executor const> on_;
};

}  // namespace flow

#pragma GCC visibility pop
