#include "runtime/store/status_check.hpp"

#include <set>
#include <utility>

#include "flow/status.hpp"

namespace flow::store_detail {

std::string status_check()
{
    std::set<std::pair<int, int>> reached{{0, 0}};
    auto const number = [](auto s) { return static_cast<int>(s); };
    for (std::size_t before = 0; before != reached.size();) {
        before = reached.size();
        for (auto const& [e, r] : std::set(reached))
            for (auto const& te : execution_transitions)
                for (auto const& tr : run_transitions)
                    if (number(te.from) == e && number(tr.from) == r && te.on == tr.on && (te.actors & tr.actors))
                        reached.emplace(number(te.to), number(tr.to));
    }
    std::string list;
    for (auto const& [e, r] : reached) list += (list.empty() ? "" : ",") + std::to_string(e * 100 + r);
    return "check(execution * 100 + status in (" + list + "))";
}

}  // namespace flow::store_detail
