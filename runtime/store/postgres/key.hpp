// Where a PostgreSQL store's key comes from: a file, or the environment variable FLOW_STORE_KEY (protocol P39).
#pragma once

#include <optional>
#include <string>

#include "flow/ids.hpp"
#include "runtime/store/secrets.hpp"

namespace flow::postgres_detail {

/// The fingerprint to store with a new schema; nothing without a key. Makes the file if it is not there. Throws flow::error(store_key).
std::optional<digest> first_fingerprint(std::string const& key_file);

/// The key of this process. Throws flow::error(store_key) if there is none, or it is damaged.
store_detail::store_key find_key(std::string const& key_file);

}  // namespace flow::postgres_detail
