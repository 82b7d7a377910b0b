// A copy of a SQLite store that is in use.
#pragma once

#include <string>

#pragma GCC visibility push(default)

namespace flow {

struct backup_options {
    /// Where the store's key lies; empty: beside the database as NAME.key. Its copy is TARGET.key.
    std::string key_file{};
    /// False: the database alone. Opened without its key, the copy completes tokens already sent, but makes no secret (P39).
    bool with_key = true;
};

/// Copies the SQLite store in `file` to `target`, which must not be there, and its key to TARGET.key. The copy is one moment of the
/// store, whole, whatever is written meanwhile, by whichever process; writers do not wait for it. It is on disk when this returns.
/// Until it is whole it is called TARGET.part; a process that is killed in here leaves that, and nothing called `target`.
///
/// The copy is a store like any other: flow::sqlite(target) opens it, and its runs go on from that moment. What has happened
/// outside since then happens again, as far as the classes of its steps allow.
/// Throws flow::error: usage where `target` or TARGET.key is there already; store_unavailable, store_foreign, store_newer, store_corrupt,
/// store_full, store_read_only, store_busy; store_key where the key is missing or another store's.
void backup(std::string const& file, std::string const& target, backup_options options = {});

}  // namespace flow

#pragma GCC visibility pop
