#include "runtime/engine/timers.hpp"

#include <algorithm>
#include <utility>

namespace flow::detail {

timers::id timers::at_wall(time_point t, action a) { return arm(true, t.time_since_epoch().count(), std::move(a)); }
timers::id timers::at_steady(duration t, action a) { return arm(false, t.count(), std::move(a)); }

timers::id timers::arm(bool wall, std::int64_t due, action a)
{
    bool nearer = false;
    std::uint64_t number = 0;
    {
        std::lock_guard const lock(guard_);
        number = next_++;
        auto& q = wall ? wall_ : steady_;
        nearer = q.empty() || due < q.begin()->first.first;
        q.emplace(std::pair(due, number), std::move(a));
        where_.emplace(number, armed{wall, due});
    }
    if (nearer && nearer_) nearer_();
    return id{number};
}

void timers::disarm(id i)
{
    action gone;  // destroyed outside the lock
    std::lock_guard const lock(guard_);
    auto const at = where_.find(static_cast<std::uint64_t>(i));
    if (at == where_.end()) return;
    auto& q = at->second.wall ? wall_ : steady_;
    auto const entry = q.find(std::pair(at->second.due, at->first));
    if (entry != q.end()) {
        gone = std::move(entry->second);
        q.erase(entry);
    }
    where_.erase(at);
}

void timers::take_due(queue& q, std::int64_t now, std::vector<std::pair<std::uint64_t, action>>& into)
{
    while (!q.empty() && q.begin()->first.first <= now) {
        into.emplace_back(q.begin()->first.second, std::move(q.begin()->second));
        q.erase(q.begin());
    }
}

std::size_t timers::run_due()
{
    std::vector<std::pair<std::uint64_t, action>> due;
    {
        auto const wall = clock_.now().time_since_epoch().count();
        auto const steady = clock_.steady().count();
        std::lock_guard const lock(guard_);
        take_due(wall_, wall, due);
        take_due(steady_, steady, due);
        for (auto const& [number, _] : due) where_.erase(number);
    }
    for (auto& [_, a] : due) a();
    return due.size();
}

duration timers::until_next() const
{
    auto const wall = clock_.now().time_since_epoch().count();
    auto const steady = clock_.steady().count();
    std::lock_guard const lock(guard_);
    auto left = duration::max();
    if (!wall_.empty()) {
        auto const due = wall_.begin()->first.first;
        left = std::min(left, due <= wall ? duration::zero() : duration(due - wall));
    }
    if (!steady_.empty()) {
        auto const due = steady_.begin()->first.first;
        left = std::min(left, due <= steady ? duration::zero() : duration(due - steady));
    }
    return left;
}

}  // namespace flow::detail
