#include "runtime/store/id_range.hpp"

#include <string>

namespace flow::store_detail {

std::optional<std::pair<uuid, uuid>> id_range(std::string_view prefix)
{
    static constexpr std::string_view least = "00000000-0000-0000-0000-000000000000";
    static constexpr std::string_view greatest = "ffffffff-ffff-ffff-ffff-ffffffffffff";
    if (prefix.empty() || prefix.size() > least.size()) return std::nullopt;
    auto const from = parse_uuid(std::string(prefix) + std::string(least.substr(prefix.size())));
    auto const to = parse_uuid(std::string(prefix) + std::string(greatest.substr(prefix.size())));
    if (!from || !to) return std::nullopt;
    return std::pair(*from, *to);
}

}  // namespace flow::store_detail
