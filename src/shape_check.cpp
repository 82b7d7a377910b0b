// Does a JSON text have a shape? For answers from outside, where only the shape is known (P53; docs/reference/shapes.md).
#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "flow/codec.hpp"
#include "src/names.hpp"
#include "src/shape_tree.hpp"

namespace flow::detail {
namespace {

class checker {
public:
    checker(reader& r, shape_tree const& tree, bool strict) : r_(r), tree_(tree), strict_(strict) {}

    bool check(std::size_t at)
    {
        auto const& node = tree_.nodes[at];
        using kind = shape_node::kind;
        switch (node.what) {
            case kind::word: return word(node.text);
            case kind::enumeration: return enumerator(node);
            case kind::object: return object(node);
            case kind::sequence: return sequence(node);
            case kind::fixed: return fixed(node);
            case kind::map: return map(node);
            case kind::one: return one(node);
            case kind::optional: return optional(node);
        }
        return r_.fail("unknown shape");
    }

private:
    bool word(std::string_view w)
    {
        bool b = false;
        float f = 0;
        double d = 0;
        if (w == "bool") return r_.boolean(b);
        if (w == "void") return r_.null();
        if (w == "f32") return r_.real(f);
        if (w == "f64") return r_.real(d);
        if (auto const width = width_of(w)) {
            std::int64_t i = 0;
            std::uint64_t u = 0;
            return w[0] == 'i' ? r_.integer(i, width) : r_.natural(u, width);
        }
        if (w == "opaque" || w == "bytes") return r_.bytes(scratch_);
        if (!r_.text(scratch_)) return false;
        bool const is_id = w == "uuid" || w == "token";
        return !is_id || parse_uuid(scratch_) || r_.fail("expected a text of the kind '" + std::string(w) + "'");
    }

    static unsigned width_of(std::string_view w)
    {
        if (w.size() < 2 || (w[0] != 'i' && w[0] != 'u')) return 0;
        w.remove_prefix(1);
        return w == "8" ? 1 : w == "16" ? 2 : w == "32" ? 4 : w == "64" ? 8 : 0;
    }

    bool enumerator(shape_node const& node)
    {
        std::int64_t number = 0;
        if (node.members.empty()) return r_.integer(number, 8);
        if (!r_.at_text() || !r_.text(scratch_) || !node.member(scratch_))
            return r_.fail("expected the name of an enumerator");
        return true;
    }

    bool object(shape_node const& node)
    {
        if (!r_.open('{')) return false;
        std::vector<bool> seen(node.members.size());
        for (bool first = true;; first = false) {
            auto const s = r_.next('{', first);
            if (s == reader::step::failed) return false;
            if (s == reader::step::end) break;
            std::string_view name;
            if (!r_.object_key(name)) return false;
            auto const i = node.member(name);
            if (!i) {
                auto const unknown = printable(name, 64);
                if (strict_) return r_.fail("unknown field"), r_.within_field(unknown);
                if (!r_.skip()) return r_.within_field(unknown);
                continue;
            }
            auto const& member = node.members[*i];
            if (seen[*i]) return r_.fail("given twice"), r_.within_field(member.name);
            seen[*i] = true;
            if (!check(member.node)) return r_.within_field(member.name);
        }
        for (std::size_t i = 0; i < seen.size(); ++i) {
            auto const& member = node.members[i];
            if (!seen[i] && tree_.nodes[member.node].what != shape_node::kind::optional)
                return r_.fail("missing"), r_.within_field(member.name);
        }
        return true;
    }

    bool sequence(shape_node const& node)
    {
        items it(r_, '[');
        if (!it.begin()) return false;
        while (it.next())
            if (!check(node.members[0].node)) return r_.within(it.index());
        return it.ok();
    }

    bool fixed(shape_node const& node)
    {
        items it(r_, '[');
        if (!it.begin_fixed(node.count)) return false;
        for (std::size_t i = 0; i < node.count && it.next(); ++i)
            if (!check(node.members[i < node.members.size() ? i : 0].node)) return r_.within(i);
        return it.end_fixed();
    }

    bool map(shape_node const& node)
    {
        items it(r_, '{');
        if (!it.begin()) return false;
        while (it.next()) {
            std::string key;
            if (!r_.key(key)) return false;
            if (!check(node.members[0].node)) return r_.within_key(key);
        }
        return it.ok();
    }

    bool one(shape_node const& node)
    {
        std::size_t index = 0;
        if (!r_.begin_variant(index, node.members.size())) return false;
        if (!check(node.members[index].node)) return r_.within_key(std::to_string(index));
        return r_.end_variant();
    }

    bool optional(shape_node const& node)
    {
        auto const& inner = tree_.nodes[node.members[0].node];
        bool const wrapped = inner.what == shape_node::kind::optional || inner.text == "void";
        bool present = false;
        if (!r_.begin_optional(present, wrapped)) return false;
        return !present || (check(node.members[0].node) && r_.end_optional(wrapped));
    }

    reader& r_;
    shape_tree const& tree_;
    bool strict_;
    std::string scratch_;
};

}  // namespace

outcome<void> check_shape(std::string_view json, std::string_view shape, bool strict)
{
    auto const tree = parse_shape(shape);
    if (!tree) return error(errc::wrong_shape, "'" + printable(shape, 200) + "' is no shape");
    if (json.size() > max_payload) return error(errc::wrong_shape, "longer than " + std::to_string(max_payload) + " bytes");
    reader r(json, false);
    checker c(r, *tree, strict);
    if (c.check(tree->root) && r.finish()) return {};
    return error(errc::wrong_shape, r.message());
}

}  // namespace flow::detail
