#include "runtime/engine/lines.hpp"

#include <algorithm>
#include <utility>

namespace flow::detail {

lines& lines::of_process()
{
    static auto* const all = new lines;  // never destroyed: a function may give its place back while the process ends
    return *all;
}

std::vector<std::function<void()>> lines::let_in(line& l)
{
    std::vector<std::function<void()>> arrived;
    while (!l.waiting.empty()) {
        auto& next = *l.waiting.front();
        auto const most = l.taken.empty() ? next.most : std::min(next.most, *l.taken.begin());
        if (static_cast<int>(l.taken.size()) >= most) break;
        l.waiting.pop_front();
        l.taken.insert(next.most);
        next.taken = true;
        arrived.push_back(std::move(next.arrived));
    }
    return arrived;
}

std::shared_ptr<void> lines::join(limit const& l, std::function<void()> arrived)
{
    std::string name = l.name();
    auto* const mine = new place{l.most(), std::move(arrived)};
    std::shared_ptr<void> held(mine, [this, name](void* p) {
        std::unique_ptr<place> const owned(static_cast<place*>(p));
        leave(name, *owned);
    });
    std::vector<std::function<void()>> told;
    {
        std::lock_guard const lock(guard_);
        auto& here = lines_[name];
        here.waiting.push_back(mine);
        told = let_in(here);
    }
    for (auto const& tell : told) tell();
    return held;
}

void lines::leave(std::string const& name, place& p)
{
    std::vector<std::function<void()>> told;
    {
        std::lock_guard const lock(guard_);
        auto const at = lines_.find(name);
        if (at == lines_.end()) return;  // it never got as far as the line
        if (p.taken) at->second.taken.erase(at->second.taken.find(p.most));
        else at->second.waiting.remove(&p);
        told = let_in(at->second);
        if (at->second.waiting.empty() && at->second.taken.empty()) lines_.erase(at);
    }
    for (auto const& tell : told) tell();
}

}  // namespace flow::detail
