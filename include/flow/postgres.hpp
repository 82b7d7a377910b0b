// The store on a PostgreSQL server: many processes on many machines. A component of its own, `flow::postgres` in CMake: who does
// not use it does not link libpqxx.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "flow/store.hpp"

#pragma GCC visibility push(default)

namespace flow {

struct postgres_options {
    /// Where the tables lie, made if it is not there: one for each tenant or test that shares a database. Letters, digits, '_'.
    std::string schema = "flow";
    /// How long a write waits for other transactions' locks, and for a connection, before it says store_busy.
    std::chrono::milliseconds busy_timeout{5000};
    /// An owner not heard of for this long is dead, by the server's clock, and its runs are taken over (P46).
    std::chrono::milliseconds lease{30'000};
    /// How often an owner's lease is renewed: a third of it, so that after one missed renewal another still comes in time.
    std::chrono::milliseconds renew_every{10'000};
    /// Connections at most, besides one for the leases and one that hears of others' commits; opened when they are needed.
    std::size_t connections = 8;
    /// How many commits an engine has under way at once, each on a connection: while the server writes one to its disk the next gathers.
    std::size_t writers = 2;
    /// The file with the store key, 64 hexadecimal digits; made together with the schema if it is not there. Every process on the
    /// schema needs a copy. Empty: the digits are in the environment variable FLOW_STORE_KEY; without either, tokens already sent
    /// still complete and making a secret is refused (P39).
    std::string key_file{};
    /// Open an existing schema only: never make one.
    bool must_exist = false;
    /// Called inside every transaction; tests only.
    flow::probe probe{};
};

/// Opens the store, or makes its schema. `connection`: as libpq takes it, "host=db dbname=work user=flow" or a postgresql:// URI.
/// PostgreSQL 13 or newer, encoding UTF8. A commit is on the server's disk when it returns (synchronous_commit is not left off).
/// Sessions have settings and prepared statements: no pooler that shares them between transactions may stand before the server.
///
/// The store has two threads, from when they are needed: one renews the leases of its owners, one tells other stores on the schema
/// that there is something for them (NOTIFY), and hears of it. An owner whose lease has ended by this process's own
/// clock writes nothing more before it is renewed (store_unavailable).
/// Throws flow::error: store_unavailable, store_foreign, store_newer, store_read_only, store_busy, store_key, usage.
store_ptr postgres(std::string connection, postgres_options options = {});

/// Lets flow::open_store and flow::command_line take postgresql://… and postgres://…, in this process. Call it in `main`: a linker
/// drops what registers itself. A text is a URI as libpq takes it, and may say besides, as parameters:
/// `schema=NAME`, `lease=SECONDS` (renewed every third of it) and `key_file=FILE`, as in postgres_options.
///
///     postgresql://flow@db/work?sslmode=require&schema=orders
void use_postgres();

}  // namespace flow

#pragma GCC visibility pop
