// A graph is made: what is wrong with it is said at once, by the names of its nodes.
#include "flow/graph.hpp"

#include <algorithm>
#include <map>
#include <queue>

#include "src/graph_data.hpp"
#include "src/names.hpp"

namespace flow::detail {

namespace {

[[noreturn]] void refuse(std::string why) { throw error(errc::bad_argument, std::move(why)); }

std::string_view trimmed(std::string_view s)
{
    auto const from = s.find_first_not_of(' ');
    return from == s.npos ? std::string_view() : s.substr(from, s.find_last_not_of(' ') - from + 1);
}

outcome<node_condition> read_clause(std::string_view clause)
{
    auto const bad = [&](std::string const& why) {
        return error(errc::bad_argument, "the condition \"" + printable(clause, 200) + "\" " + why + "; write NODE.status == STATUS or !=");
    };
    auto const at = std::min(clause.find("=="), clause.find("!="));
    if (at == clause.npos) return bad("compares nothing");
    auto left = trimmed(clause.substr(0, at));
    auto const right = trimmed(clause.substr(at + 2));
    constexpr std::string_view member = ".status";
    if (!left.ends_with(member) || left.size() == member.size()) return bad("asks for something else than a node's status");
    left.remove_suffix(member.size());
    for (auto const s : {node_status::succeeded, node_status::failed, node_status::skipped, node_status::cancelled})
        if (right == to_string(s)) return node_condition{std::string(left), clause[at] == '=', s};
    return bad("names no status: succeeded, failed, skipped, cancelled");
}

/// The nodes with indices in the order they are declared.
class builder {
public:
    explicit builder(std::vector<graph_node> nodes)
    {
        if (nodes.empty()) refuse("a graph needs at least one node");
        for (auto& n : nodes) add(std::move(n).take());
        for (auto& n : nodes_) connect(n);
    }

    /// Each behind what it depends on, else as declared.
    graph_data in_order()
    {
        std::vector<std::size_t> open(nodes_.size());
        std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
        for (std::size_t i = 0; i < nodes_.size(); ++i)
            if ((open[i] = above(i).size()) == 0) ready.push(i);
        std::vector<std::size_t> order, place(nodes_.size());
        while (!ready.empty()) {
            auto const i = ready.top();
            ready.pop();
            place[i] = order.size();
            order.push_back(i);
            for (auto const b : nodes_[i].below)
                if (--open[b] == 0) ready.push(b);
        }
        if (order.size() < nodes_.size()) refuse("the graph has a cycle: " + cycle(open));
        graph_data g;
        for (auto const i : order) {
            auto& n = g.nodes.emplace_back(std::move(nodes_[i]));
            for (auto* list : {&n.needs_at, &n.after_at, &n.below})
                for (auto& at : *list) at = place[at];
            for (auto& c : n.conditions) c.on = place[c.on];
        }
        return g;
    }

private:
    void add(node_data d)
    {
        check_name(d.id);
        if (!index_.emplace(d.id, nodes_.size()).second) refuse("two nodes of the graph are called \"" + d.id + "\"");
        static_cast<node_data&>(nodes_.emplace_back()) = std::move(d);
    }

    std::size_t find(graph_data::node const& n, std::string const& other, char const* how) const
    {
        auto const at = index_.find(other);
        if (at == index_.end())
            refuse("node \"" + n.id + "\" " + how + " \"" + printable(other, 200) + "\", and the graph has no such node");
        return at->second;
    }

    void connect(graph_data::node& n)
    {
        auto const self = static_cast<std::size_t>(&n - nodes_.data());
        for (auto const& d : n.needs) n.needs_at.push_back(find(n, d, "needs"));
        for (auto const& d : n.after) n.after_at.push_back(find(n, d, "comes after"));
        if (!n.condition.empty()) {
            auto const read = read_condition(n.condition);
            if (!read) refuse("node \"" + n.id + "\": " + read.error().message());
            for (auto const& c : *read) n.conditions.push_back({find(n, c.node, "asks for the status of"), c.equal, c.status});
        }
        for (auto const d : above(self)) nodes_[d].below.push_back(self);
    }

    /// Whatever it depends on, once.
    std::vector<std::size_t> above(std::size_t i) const
    {
        auto const& n = nodes_[i];
        std::vector<std::size_t> all = n.needs_at;
        all.insert(all.end(), n.after_at.begin(), n.after_at.end());
        for (auto const& c : n.conditions) all.push_back(c.on);
        std::sort(all.begin(), all.end());
        all.erase(std::unique(all.begin(), all.end()), all.end());
        return all;
    }

    /// Whoever could not be put in order stands on a cycle or below one; upwards one always comes into it.
    std::string cycle(std::vector<std::size_t> const& open) const
    {
        auto at = static_cast<std::size_t>(std::find_if(open.begin(), open.end(), [](auto n) { return n > 0; }) - open.begin());
        std::vector<std::size_t> way;
        while (std::find(way.begin(), way.end(), at) == way.end()) {
            way.push_back(at);
            auto const up = above(at);
            at = *std::find_if(up.begin(), up.end(), [&](auto d) { return open[d] > 0; });
        }
        way.erase(way.begin(), std::find(way.begin(), way.end(), at));
        std::reverse(way.begin(), way.end());
        // From the one declared first.
        std::rotate(way.begin(), std::min_element(way.begin(), way.end()), way.end());
        std::string text;
        for (auto const i : way) text += "\"" + nodes_[i].id + "\" -> ";
        return text + "\"" + nodes_[way.front()].id + "\"";
    }

    std::vector<graph_data::node> nodes_;
    std::map<std::string, std::size_t, std::less<>> index_;
};

}  // namespace

outcome<std::vector<node_condition>> read_condition(std::string_view text)
{
    std::vector<node_condition> all;
    constexpr std::string_view joint = " and ";
    for (;;) {
        auto const end = text.find(joint);
        auto clause = read_clause(trimmed(text.substr(0, end)));
        if (!clause) return clause.error();
        all.push_back(*std::move(clause));
        if (end == text.npos) return all;
        text.remove_prefix(end + joint.size());
    }
}

}  // namespace flow::detail

namespace flow {

graph::graph(std::vector<graph_node> nodes)
    : data_(std::make_shared<detail::graph_data const>(detail::builder(std::move(nodes)).in_order()))
{
}

std::vector<std::string> graph::nodes() const
{
    std::vector<std::string> ids;
    for (auto const& n : data_->nodes) ids.push_back(n.id);
    return ids;
}

std::vector<std::string> graph::depends_on(std::string_view id) const
{
    auto const self = std::find_if(data_->nodes.begin(), data_->nodes.end(), [&](auto const& n) { return n.id == id; });
    if (self == data_->nodes.end()) throw error(errc::bad_argument, "the graph has no node \"" + detail::printable(id, 200) + "\"");
    std::vector<std::string> ids;
    auto const index = static_cast<std::size_t>(self - data_->nodes.begin());
    for (auto const& n : data_->nodes)
        if (std::find(n.below.begin(), n.below.end(), index) != n.below.end()) ids.push_back(n.id);
    return ids;
}

node_end const& graph_result::at(std::string_view id) const
{
    auto const n = std::find_if(nodes.begin(), nodes.end(), [&](auto const& each) { return each.id == id; });
    if (n == nodes.end()) throw error(errc::bad_argument, "the graph has no node \"" + detail::printable(id, 200) + "\"");
    return *n;
}

std::vector<std::string> graph_result::with(node_status status) const
{
    std::vector<std::string> ids;
    for (auto const& n : nodes)
        if (n.status == status) ids.push_back(n.id);
    return ids;
}

}  // namespace flow
