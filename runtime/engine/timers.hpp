// Timers of all runs of an engine, by the wall clock and by the steady one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "flow/time.hpp"

namespace flow::detail {

/// Keeps what is armed; whoever looks runs what is due. Any thread.
class timers {
public:
    enum class id : std::uint64_t { none = 0 };
    using action = std::function<void()>;

    explicit timers(clock const& c) : clock_(c) {}

    /// Called when a new timer is nearer than all before it: to cut a sleep short.
    void on_nearer(std::function<void()> f) { nearer_ = std::move(f); }

    id at_wall(time_point t, action a);
    id at_steady(duration t, action a);
    void disarm(id i);

    /// Runs what is due, in order of due instants; how many.
    std::size_t run_due();
    /// How long until the next one; `duration::max()` if there is none.
    duration until_next() const;

private:
    struct armed {
        bool wall;
        std::int64_t due;
    };
    using queue = std::map<std::pair<std::int64_t, std::uint64_t>, action>;
    id arm(bool wall, std::int64_t due, action a);
    static void take_due(queue& q, std::int64_t now, std::vector<std::pair<std::uint64_t, action>>& into);

    clock const& clock_;
    std::function<void()> nearer_;
    mutable std::mutex guard_;
    queue wall_, steady_;
    std::unordered_map<std::uint64_t, armed> where_;
    std::uint64_t next_ = 1;
};

}  // namespace flow::detail
