#include "src/graph_file.hpp"

#include <algorithm>
#include <chrono>

#include "flow/codec.hpp"
#include "flow/graph_file.hpp"
#include "src/graph_data.hpp"
#include "src/names.hpp"

namespace flow {

detail::node_data const* node_handlers::find(std::string_view name) const
{
    auto const at = handlers_.find(name);
    return at == handlers_.end() ? nullptr : &at->second;
}

std::vector<std::string> node_handlers::names() const
{
    std::vector<std::string> all;
    for (auto const& [name, _] : handlers_) all.push_back(name);
    return all;
}

void node_handlers::keep(detail::node_data d)
{
    auto name = d.id;
    if (!handlers_.emplace(name, std::move(d)).second) throw error(errc::usage, "there is a handler \"" + name + "\" already");
}

namespace detail {

namespace {

using seconds = std::chrono::duration<double>;

/// EX-02: of nodes from a file.
constexpr double usual_timeout_s = 30;

[[noreturn]] void refuse(node_file const& n, std::string const& why)
{
    throw error(errc::bad_argument, "node \"" + printable(n.id, 200) + "\": " + why);
}

time_span span_of(node_file const& n, char const* field, double s)
{
    try {
        return time_span(seconds{s});
    } catch (error const& e) {
        refuse(n, std::string(field) + ": " + e.message());
    }
}

node_options options_of(node_file const& n)
{
    node_options o;
    o.timeout = span_of(n, "timeout_s", n.timeout_s.value_or(usual_timeout_s));
    if (n.retry) o.retry.max_attempts = static_cast<std::uint16_t>(std::min(most_attempts - 1, int{*n.retry}) + 1);
    if (n.retry_delay_s) {
        o.retry.first_delay = span_of(n, "retry_delay_s", *n.retry_delay_s);
        if (o.retry.cap.get() < o.retry.first_delay.get()) o.retry.cap = o.retry.first_delay;  // what the file says is not cut
    }
    o.budget_tokens = n.budget_tokens.value_or(0);
    o.optional = n.optional.value_or(false);
    if (!n.on_fail) return o;
    for (auto const f : {on_fail::fail, on_fail::skip, on_fail::cancel_downstream})
        if (*n.on_fail == to_string(f)) {
            o.on_fail = f;
            return o;
        }
    refuse(n, "on_fail is \"" + printable(*n.on_fail, 100) + "\"; it is one of fail, skip, cancel_downstream");
}

graph_file read(std::string_view json)
{
    auto const text = compact_json(json).value();
    check_shape(text, shape_of<graph_file>(), true).value();
    graph_file f;
    decode(encoding::json, text, f).value();
    return f;
}

graph make(graph_file f, node_handlers const* handlers)
{
    std::vector<graph_node> nodes;
    for (auto& n : f.nodes) {
        node_data d;
        if (handlers) {
            auto const& wanted = n.handler ? *n.handler : n.id;
            auto const* h = handlers->find(wanted);
            if (!h) {
                std::string list;
                for (auto const& name : handlers->names()) list += (list.empty() ? "" : ", ") + name;
                refuse(n, "there is no handler \"" + printable(wanted, 200) + "\"; there " + (list.empty() ? "are none" : "are: " + list));
            }
            d = *h;
        }
        d.options = options_of(n);
        d.id = std::move(n.id);
        if (n.handler && *n.handler != d.id) d.handler = *std::move(n.handler);
        if (n.deps) d.needs = *std::move(n.deps);
        if (n.after) d.after = *std::move(n.after);
        if (n.condition) d.condition = *std::move(n.condition);
        nodes.emplace_back(std::move(d));
    }
    return graph(std::move(nodes));
}

}  // namespace

graph_file file_of(graph const& g)
{
    graph_file f;
    for (auto const& n : g.data().nodes) {
        node_file to;
        to.id = n.id;
        if (!n.needs.empty()) to.deps = n.needs;
        if (!n.after.empty()) to.after = n.after;
        if (!n.condition.empty()) to.condition = n.condition;
        if (!n.handler.empty()) to.handler = n.handler;
        auto const& o = n.options;
        to.timeout_s = seconds(o.timeout.get()).count();
        to.retry = static_cast<std::uint16_t>(std::max<int>(o.retry.max_attempts, 1) - 1);
        to.retry_delay_s = seconds(o.retry.first_delay.get()).count();
        if (o.budget_tokens != 0) to.budget_tokens = o.budget_tokens;
        if (o.on_fail != on_fail::fail) to.on_fail = std::string(to_string(o.on_fail));
        if (o.optional) to.optional = true;
        f.nodes.push_back(std::move(to));
    }
    return f;
}

}  // namespace detail

graph graph_from_json(std::string_view json, node_handlers const& handlers) { return detail::make(detail::read(json), &handlers); }
graph graph_from_json(std::string_view json) { return detail::make(detail::read(json), nullptr); }

std::string to_json(graph const& g)
{
    std::string text;
    detail::encode(encoding::json, detail::file_of(g), text);
    return text;
}

}  // namespace flow
