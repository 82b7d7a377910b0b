// The store key and the secrets made with it (protocol P39). Used by every store.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "flow/ids.hpp"

#pragma GCC visibility push(default)

namespace flow::store_detail {

using store_key = std::array<std::uint8_t, 32>;

/// From the system's random source. Throws flow::error(store_unavailable) if it has none.
store_key random_key();

/// 64 lower-case hexadecimal digits, and back.
std::string to_hex(store_key const& key);
std::optional<store_key> parse_key(std::string_view hex);

/// What may be stored beside what the key protects.
digest fingerprint(store_key const& key);

/// HMAC-SHA-256(key, the id's 16 bytes), as hexadecimal digits.
std::string secret_of(store_key const& key, waitpoint_id id);

}  // namespace flow::store_detail

#pragma GCC visibility pop
