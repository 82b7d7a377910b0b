// Run ids by the beginning of their printed form.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "flow/ids.hpp"

#pragma GCC visibility push(default)

namespace flow::store_detail {

/// The least and the greatest id whose printed form begins with `prefix`; nothing if no id does.
std::optional<std::pair<uuid, uuid>> id_range(std::string_view prefix);

}  // namespace flow::store_detail

#pragma GCC visibility pop
