// Code that changes while runs of it are under way: patches, and the order in which a journal is matched.
#pragma once

#include <cstdint>
#include <string>

#include "flow/detail/operation.hpp"
#include "flow/detail/scope.hpp"

#pragma GCC visibility push(default)

namespace flow {

/// How the operations of a body are matched with what is recorded (P1, P3).
enum class replay_order : std::uint8_t {
    strict,    ///< by position: the code asks for the same operations in the same order, or the run is held
    tolerant,  ///< by name and occurrence: operations may be inserted; one that is recorded and not asked for holds the run
};

namespace detail {

class patch_base : public operation {
public:
    bool start(scope& s, continuation& c);
    error const* failed() const noexcept { return nullptr; }

protected:
    patch_base(name id, bool old_code_is_gone);
    bool answer() const noexcept { return answer_; }

private:
    name id_;
    bool old_code_is_gone_, answer_ = false;
};
class [[nodiscard("a patch answers only when it is awaited")]] patched_operation final : public patch_base {
public:
    explicit patched_operation(name id) : patch_base(std::move(id), false) {}
    bool take() const noexcept { return answer(); }
};
class [[nodiscard("a patch is looked at only when it is awaited")]] deprecate_operation final : public patch_base {
public:
    explicit deprecate_operation(name id) : patch_base(std::move(id), true) {}
    void take() const noexcept {}
};

}  // namespace detail

/// `bool const fresh = co_await flow::patched("check-stock")`: true for runs that come here for the first time, false for those whose
/// journal shows that they went by here before this code was changed. So old runs keep the old branch and new ones take the new. One
/// answer a run, segment and id, journaled; it takes no position, so it may be added and removed freely.
/// Throws at the call flow::error(bad_name).
inline detail::patched_operation patched(detail::name id) { return detail::patched_operation(std::move(id)); }

/// The old branch has been deleted. A run that took it, or that passed by before the patch, is held (kind `nondeterminism`): it needs the
/// old code. Once there are no such runs (`flow runs --status held`), delete this too.
inline detail::deprecate_operation deprecate_patch(detail::name id) { return detail::deprecate_operation(std::move(id)); }

}  // namespace flow

#pragma GCC visibility pop
