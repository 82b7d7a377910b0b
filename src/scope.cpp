#include "flow/detail/scope.hpp"

#include "src/names.hpp"

namespace flow::detail {

scope::scope(scope const& outer, position const& at)
    : owner_(outer.owner_), branch_(outer.branch_), path_prefix_(at.path + '.'), place_prefix_(at.place + '/'),
      shields_(outer.shields_)
{
}

std::uint32_t scope::occurrence(std::string_view name)
{
    if (last_used_ < counts_.size() && counts_[last_used_].name == name) return counts_[last_used_].count++;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        if (counts_[i].name != name) continue;
        last_used_ = i;
        return counts_[i].count++;
    }
    check_name(name);  // once a name
    last_used_ = counts_.size();
    counts_.push_back({std::string(name), 1});
    return 0;
}

position scope::next(std::string_view name)
{
    auto const n = occurrence(name);
    position at;
    at.path = path_prefix_;
    at.path += std::to_string(next_position_++);
    at.place = place_prefix_;
    append_place_name(at.place, name);
    at.place += '#';
    at.place += std::to_string(n);
    return at;
}

}  // namespace flow::detail
