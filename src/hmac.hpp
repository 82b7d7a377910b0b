// HMAC-SHA-256: what every secret is made with (protocol P39).
#pragma once

#include <string_view>

#include "flow/ids.hpp"

#pragma GCC visibility push(default)

namespace flow::detail {

digest hmac_sha256(std::string_view key, std::string_view bytes);

}  // namespace flow::detail

#pragma GCC visibility pop
