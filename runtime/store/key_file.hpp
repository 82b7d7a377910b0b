// The file a store key lies in, readable by its owner only (protocol P39): NAME.key beside a SQLite file, anywhere for PostgreSQL.
#pragma once

#include <string>

#include "flow/ids.hpp"
#include "runtime/store/secrets.hpp"

#pragma GCC visibility push(default)

namespace flow::store_detail {

/// Makes the key file, or finds the one that lies there, and returns the key's fingerprint. Throws flow::error(store_key).
digest make_key(std::string const& key_file);

/// Writes a key into a file that is not there yet. Throws flow::error(store_key).
void write_key(std::string const& key_file, store_key const& key);

/// Reads it. Throws flow::error(store_key) if it is missing or damaged.
store_key read_key(std::string const& key_file);

/// Reads it. Throws flow::error(store_key) if it is missing, damaged, or another store's.
store_key read_key(std::string const& key_file, digest const& expected);

}  // namespace flow::store_detail

#pragma GCC visibility pop
