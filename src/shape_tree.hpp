// A shape's text, taken apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace flow::detail {

struct shape_node {
    enum class kind : std::uint8_t { word, enumeration, object, sequence, fixed, map, one, optional };
    struct part {
        std::string_view name;  ///< of a field or an enumerator
        std::size_t node = 0;
    };

    kind what{};
    std::string_view text;      ///< of a word
    std::size_t count = 0;      ///< of a fixed array; a tuple has a member for each
    std::vector<part> members;

    std::optional<std::size_t> member(std::string_view name) const noexcept;
};

/// Owns nothing of the text it was made from. `^n` has become the node it means.
struct shape_tree {
    std::vector<shape_node> nodes;
    std::size_t root = 0;
};

/// None if the text is no shape (docs/reference/shapes.md).
std::optional<shape_tree> parse_shape(std::string_view text);

}  // namespace flow::detail
