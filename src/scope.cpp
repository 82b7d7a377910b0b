#include "flow/detail/scope.hpp"

#include <charconv>
#include <string>
#include <utility>

#include "src/names.hpp"

namespace flow::detail {

scope::scope(scope const& outer, position const& at)
    : owner_(outer.owner_), branch_(outer.branch_), path_prefix_(at.path + '.'), place_prefix_(at.place + '/'),
      shields_(outer.shields_)
{
}

scope::scope(scope const& outer, position const& at, std::size_t index, branch& b)
    : owner_(outer.owner_), branch_(b), path_prefix_(at.path + '.' + std::to_string(index) + '.'),
      place_prefix_(at.place + '.' + std::to_string(index) + '/'), shields_(outer.shields_)
{
    b.prefix = place_prefix_;
}

scope::counted& scope::counter_of(std::string_view name)
{
    if (last_used_ < counts_.size() && counts_[last_used_].name == name) return counts_[last_used_];
    for (last_used_ = 0; last_used_ < counts_.size(); ++last_used_)
        if (counts_[last_used_].name == name) return counts_[last_used_];
    check_name(name);  // once a name
    std::string place = place_prefix_;
    append_place_name(place, name);
    place += '#';
    return counts_.emplace_back(counted{std::string(name), std::move(place), 0});
}

namespace {

void append_number(std::string& to, std::uint32_t n)
{
    char digits[10];
    to.append(digits, std::to_chars(digits, digits + sizeof digits, n).ptr);
}

}  // namespace

position scope::next(std::string_view name)
{
    auto& c = counter_of(name);
    position at{path_prefix_, c.place};
    append_number(at.path, next_position_++);
    append_number(at.place, c.count++);
    return at;
}

}  // namespace flow::detail
