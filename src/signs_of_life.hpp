// Steps that end elsewhere and were begun by this engine: when each last gave a sign of life.
#pragma once

#include <map>
#include <mutex>
#include <optional>

#include "flow/ids.hpp"
#include "flow/time.hpp"

namespace flow::detail {

/// Any thread. Outlives the frames of the runs: one that comes back to memory finds its step begun. What is never told `over`, as when the
/// run was lost to another engine, stays until the engine ends: some bytes.
class signs_of_life {
public:
    void begun(waitpoint_id token, duration steady)
    {
        std::lock_guard const lock(guard_);
        last_.insert_or_assign(token, steady);
    }
    /// False: it was not begun here, or has ended.
    bool beat(waitpoint_id token, duration steady)
    {
        std::lock_guard const lock(guard_);
        auto const at = last_.find(token);
        if (at == last_.end()) return false;
        at->second = steady;
        return true;
    }
    /// Nothing: it was not begun here.
    std::optional<duration> last(waitpoint_id token) const
    {
        std::lock_guard const lock(guard_);
        auto const at = last_.find(token);
        return at == last_.end() ? std::nullopt : std::optional(at->second);
    }
    void over(waitpoint_id token)
    {
        std::lock_guard const lock(guard_);
        last_.erase(token);
    }

private:
    mutable std::mutex guard_;
    std::map<waitpoint_id, duration> last_;
};

}  // namespace flow::detail
