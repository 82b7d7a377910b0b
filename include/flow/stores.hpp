// The stores that come with flow: in memory, for tests and games that need no disk, and one SQLite file.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "flow/store.hpp"

#pragma GCC visibility push(default)

namespace flow {

struct memory_options {
    /// Called inside every transaction; tests only.
    flow::probe probe{};
};

/// A store that lives as long as this process. Several engines may share it.
store_ptr memory(memory_options options = {});

struct sqlite_options {
    enum class sync : std::uint8_t {
        full,    ///< a commit is on disk when it returns: survives power loss
        normal,  ///< survives the death of the process, may lose the last commits at power loss
    };
    sync synchronous = sync::full;
    /// How long a write waits for another process's lock before it says store_busy.
    std::chrono::milliseconds busy_timeout{5000};
    /// Bytes of NAME-wal beyond which the store warns (the engine's log and health): a reader that never ends keeps it from being reset.
    std::uint64_t log_warning = 64u << 20;
    /// Where the store key lies; empty: beside the database as NAME.key, made with it (P39).
    std::string key_file{};
    /// A SQLite VFS by name; empty: SQLite's own. Tests only.
    std::string vfs{};
    /// Called inside every transaction; tests only.
    flow::probe probe{};
    /// Open an existing file only: never make one.
    bool must_exist = false;
};

/// Opens the SQLite file, or makes it: WAL, one file beside NAME-wal, NAME-shm, NAME.key and NAME.owner-N.
/// Throws flow::error: store_foreign, store_newer, store_corrupt, store_read_only, store_full, store_unavailable, store_busy,
/// store_key; the message names the file. The file is never deleted or made anew.
store_ptr sqlite(std::string file, sqlite_options options = {});

}  // namespace flow

#pragma GCC visibility pop
