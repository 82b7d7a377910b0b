#include "src/shape_tree.hpp"

#include <algorithm>
#include <charconv>

#include "flow/detail/codec_io.hpp"

namespace flow::detail {
namespace {

// As deep as a value can be: each level of a shape but `?` is one of the value's.
constexpr unsigned deepest_shape = 2 * max_depth;
// A fixed array's members stand once, so only its number could be large without a reason.
constexpr std::size_t most_items = max_payload;

class parser {
public:
    parser(std::string_view text, shape_tree& tree) : rest_(text), tree_(tree) {}

    bool whole() { return shape(tree_.root) && rest_.empty(); }

private:
    using kind = shape_node::kind;

    bool take(std::string_view word)
    {
        if (!rest_.starts_with(word)) return false;
        rest_.remove_prefix(word.size());
        return true;
    }

    // A word, a field, an enumerator.
    std::string_view name()
    {
        std::size_t n = 0;
        auto const in_name = [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
                   static_cast<unsigned char>(c) >= 0x80;
        };
        while (n < rest_.size() && in_name(rest_[n])) ++n;
        auto const word = rest_.substr(0, n);
        rest_.remove_prefix(n);
        return word;
    }

    template <class Number>
    bool number(Number& n)
    {
        auto const [end, ec] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), n);
        if (ec != std::errc{}) return false;
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
        return true;
    }

    std::size_t make(kind what)
    {
        tree_.nodes.push_back({.what = what, .text = {}, .count = 0, .members = {}});
        return tree_.nodes.size() - 1;
    }

    bool shape(std::size_t& node)
    {
        if (++depth_ > deepest_shape || !plain(node)) return false;
        while (take("?")) {
            auto const around = make(kind::optional);
            tree_.nodes[around].members.push_back({{}, node});
            node = around;
        }
        --depth_;
        return true;
    }

    bool plain(std::size_t& node)
    {
        if (take("{")) return object(node);
        if (take("[")) return array(node);
        if (take("(")) return list(node, kind::fixed, ',');
        if (take("one(")) return list(node, kind::one, '|');
        if (take("<")) return enumeration(node);
        if (take("map<str,")) return map(node);
        if (take("duration(") || take("time(")) return time(node);
        if (take("^")) return up(node);
        auto const word = name();
        node = make(kind::word);
        tree_.nodes[node].text = word;
        return !word.empty();
    }

    bool object(std::size_t& node)
    {
        node = make(kind::object);
        open_.push_back(node);
        if (!take("}")) {
            do {
                auto const field = name();
                std::size_t inner = 0;
                if (field.empty() || !take(":") || !shape(inner)) return false;
                tree_.nodes[node].members.push_back({field, inner});
            } while (take(","));
            if (!take("}")) return false;
        }
        open_.pop_back();
        return true;
    }

    bool array(std::size_t& node)
    {
        std::size_t inner = 0, count = 0;
        if (!shape(inner)) return false;
        bool const fixed = take("*");
        if (fixed && (!number(count) || count > most_items)) return false;
        node = make(fixed ? kind::fixed : kind::sequence);
        tree_.nodes[node].count = count;
        tree_.nodes[node].members.push_back({{}, inner});
        return take("]");
    }

    bool list(std::size_t& node, kind what, char between)
    {
        node = make(what);
        if (what == kind::fixed && take(")")) return true;
        do {
            std::size_t inner = 0;
            if (!shape(inner)) return false;
            tree_.nodes[node].members.push_back({{}, inner});
        } while (take({&between, 1}));
        tree_.nodes[node].count = tree_.nodes[node].members.size();
        return take(")");
    }

    bool map(std::size_t& node)
    {
        std::size_t inner = 0;
        if (!shape(inner) || !take(">")) return false;
        node = make(kind::map);
        tree_.nodes[node].members.push_back({{}, inner});
        return true;
    }

    bool enumeration(std::size_t& node)
    {
        node = make(kind::enumeration);
        if (take(">")) return true;
        do {
            auto const enumerator = name();
            std::int64_t value = 0;
            if (enumerator.empty() || (take("=") && !number(value))) return false;
            tree_.nodes[node].members.push_back({enumerator, 0});
        } while (take("|"));
        return take(">");
    }

    // The period says what the number means; the number is what has to fit.
    bool time(std::size_t& node)
    {
        std::uint64_t period = 0;
        return shape(node) && take(",") && number(period) && take("/") && number(period) && take(")");
    }

    bool up(std::size_t& node)
    {
        std::size_t levels = 0;
        if (!number(levels) || levels == 0 || levels > open_.size()) return false;
        node = open_[open_.size() - levels];
        return true;
    }

    std::string_view rest_;
    shape_tree& tree_;
    std::vector<std::size_t> open_;
    unsigned depth_ = 0;
};

}  // namespace

std::optional<std::size_t> shape_node::member(std::string_view name) const noexcept
{
    auto const found = std::ranges::find(members, name, &part::name);
    if (found == members.end()) return std::nullopt;
    return static_cast<std::size_t>(found - members.begin());
}

std::optional<shape_tree> parse_shape(std::string_view text)
{
    shape_tree tree;
    if (!parser(text, tree).whole()) return std::nullopt;
    return tree;
}

}  // namespace flow::detail
