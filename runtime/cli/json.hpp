// What `--json` prints: objects of named members, with numbers exact and payloads as the JSON they are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "flow/journal.hpp"
#include "flow/time.hpp"

namespace flow::cli {

/// Members in the order they are given.
class json_object {
public:
    json_object& text(std::string_view name, std::string_view value);
    json_object& number(std::string_view name, std::int64_t value);
    json_object& yes_no(std::string_view name, bool value);
    /// RFC 3339; null for `never` and for what has not been.
    json_object& time(std::string_view name, time_point value);
    /// `json` as it stands; null where it is empty.
    json_object& raw(std::string_view name, std::string_view json);
    std::string str() const { return "{" + members_ + "}"; }

private:
    std::string members_;
};

/// Text as a JSON string; what is no UTF-8 as {"$bytes":base64}, as everywhere in flow.
std::string json_text(std::string_view text);
std::string json_list(std::vector<std::string> const& items);
/// A payload: itself where it is JSON, {"$bytes":base64} where it is bytes, null where there is none or it lies in a blob.
std::string json_payload(encoding how, std::string_view payload);

/// A whole document with the characters that steer a terminal written as \u escapes. They stand only within strings.
std::string without_terminal_codes(std::string_view json);

}  // namespace flow::cli
