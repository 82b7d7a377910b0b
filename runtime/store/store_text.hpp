// Reading the text that names a store, without opening it.
#pragma once

#include <string>
#include <string_view>

namespace flow::store_detail {

struct store_text {
    std::string kind;  ///< "memory", "sqlite", or another scheme
    std::string rest;  ///< what stands behind the colon: the file, if the kind is "sqlite"
};

/// Throws flow::error(bad_argument) for a text that names no store. Another scheme than flow's own passes.
store_text read_store_text(std::string_view text);

/// The text that names this file, whatever it is called.
std::string sqlite_text(std::string file);

/// The text as it may be shown: where a URI has a password, "PASSWORD" stands for it.
std::string without_password(std::string text);

}  // namespace flow::store_detail
