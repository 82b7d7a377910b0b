// A store named by a text, as a command line or a configuration gives it.
#pragma once

#include <string>
#include <string_view>

#include "flow/store.hpp"

#pragma GCC visibility push(default)

namespace flow {

struct open_store_options {
    /// Open what is there only: never make a file or a schema.
    bool must_exist = false;
};

/// Opens the store that `text` names:
///
///     memory                  a store that lives as long as this process
///     sqlite:FILE             a SQLite file, made if it is not there
///     FILE                    the same, where FILE does not begin as a scheme does ("word:")
///     postgresql://…          a schema on a PostgreSQL server, also postgres://…, once flow::use_postgres() was called
///                             (flow/postgres.hpp, which tells what may follow, and is linked as flow::postgres)
///
/// Throws flow::error: bad_argument, saying what of the text is wrong and what to write instead; and what the store says when it
/// is opened. A text may hold a password: no message of bad_argument repeats more of it than its scheme.
store_ptr open_store(std::string_view text, open_store_options options = {});

/// Opens a store of one kind; `text` is the whole text, its scheme included. Throws flow::error.
using store_opener = store_ptr (*)(std::string const& text, open_store_options const& options);

/// Teaches open_store the texts that begin with `scheme` and a colon, in this process; the last call for a scheme counts. For
/// stores of one's own; memory and sqlite stay what they are. Any thread.
void add_store_kind(std::string scheme, store_opener opener);

}  // namespace flow

#pragma GCC visibility pop
