// The file the store key lies in: NAME.key, readable by its owner only (protocol P39).
#pragma once

#include <string>

#include "flow/ids.hpp"
#include "runtime/store/secrets.hpp"

namespace flow::sqlite_detail {

/// Makes the key file, or finds the one that lies there, and returns the key's fingerprint. Throws refusal(store_key).
digest make_key(std::string const& key_file);

/// Reads it. Throws refusal(store_key) if it is missing, damaged, or another store's.
store_detail::store_key read_key(std::string const& key_file, digest const& expected);

}  // namespace flow::sqlite_detail
