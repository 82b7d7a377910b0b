// One small JSON object of texts, numbers and ready-made JSON: what snapshots and wait reasons are journaled as.
//
// Apart from the payload codec on purpose: these fields are the library's own and never come from a user's type.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace flow::detail {

class flat_object {
public:
    flat_object& text(std::string_view name, std::string_view value);
    flat_object& number(std::string_view name, std::int64_t value);
    /// `json` as it stands.
    flat_object& raw(std::string_view name, std::string_view json);
    std::string str() const { return "{" + members_ + "}"; }

private:
    void name(std::string_view name);
    std::string members_;
};

/// The members of one object: texts unescaped, everything else as it stands. Nothing if it is not one whole object.
std::optional<std::map<std::string, std::string, std::less<>>> read_flat_object(std::string_view json);

/// `value` as a JSON string with its quotes.
std::string quoted(std::string_view value);

}  // namespace flow::detail
