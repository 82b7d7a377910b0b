// A graph runs: a branch for each node, which stands at its gate until what it depends on has ended.
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "flow/as_outcome.hpp"
#include "flow/graph.hpp"
#include "flow/groups.hpp"
#include "flow/publish.hpp"
#include "src/graph_data.hpp"
#include "src/graph_file.hpp"
#include "src/names.hpp"
#include "src/run.hpp"

namespace flow::detail {

namespace {

/// What its branches share. On the run's strand.
class graph_state {
public:
    graph_state(graph of, std::string given) : graph_(std::move(of)), given_(std::move(given)), waiting_(data().nodes.size()), judged_(data().nodes.size())
    {
        for (auto const& n : data().nodes) ends_.push_back({n.id, node_status::waiting, {}, {}});
    }

    graph_data const& data() const noexcept { return graph_.data(); }
    /// What becomes of the node, said once: between that and its start another may end, in another order on replay.
    std::optional<verdict> const& judge(std::size_t i)
    {
        if (auto v = judge_node(data(), i, ends_, failing_); !judged_[i] && v.todo != verdict::what::wait) judged_[i] = std::move(v);
        return judged_[i];
    }

    /// Told once the node need not wait any more: after the event that is being handled, live as on replay.
    void wait(std::size_t i, run& r, continuation& c)
    {
        run_ = &r;
        waiting_[i] = &c;
    }

    void ended(std::size_t i, node_status how, std::string why, std::string output = {})
    {
        ends_[i].status = how;
        ends_[i].why = std::move(why);
        ends_[i].output = std::move(output);
        if (how == node_status::failed && first_failed_.empty()) {
            first_failed_ = ends_[i].id;
            why_ = ends_[i].why;
        }
        for (auto const b : data().nodes[i].below) let_go(b);
    }
    /// The graph ends with this node.
    void fail_all(std::size_t i)
    {
        failing_ = ends_[i].id;
        for (std::size_t b = 0; b < waiting_.size(); ++b) let_go(b);
    }

    node_inputs inputs_of(std::size_t i) const
    {
        auto const& n = data().nodes[i];
        std::map<std::string, std::string, std::less<>> outputs;
        for (auto const d : n.needs_at) outputs.emplace(ends_[d].id, ends_[d].output);
        return {n.id, std::move(outputs), given_, n.options.budget_tokens};
    }

    std::string why_cancelled() const { return failing_.empty() ? "the graph was cancelled" : "node " + failing_ + " failed"; }
    graph_result result() const { return {first_failed_, why_, ends_}; }

private:
    void let_go(std::size_t i)
    {
        if (!waiting_[i] || !judge(i)) return;
        run_->later([r = run_, c = std::exchange(waiting_[i], nullptr)] { r->resume(*c); });
    }

    graph const graph_;
    std::string const given_;
    std::vector<node_end> ends_;
    std::vector<continuation*> waiting_;
    std::vector<std::optional<verdict>> judged_;
    run* run_ = nullptr;
    std::string failing_, first_failed_, why_;
};

using shared_state = std::shared_ptr<graph_state>;

/// Waits in memory, for others of its graph. No entry: who ended when is in the journal.
class gate final : public operation {
public:
    gate(shared_state s, std::size_t i) : state_(std::move(s)), index_(i) {}
    bool start(scope& s, continuation& c)
    {
        if (state_->judge(index_)) return true;
        state_->wait(index_, s.owner(), c);
        return false;
    }
    error const* failed() const noexcept { return nullptr; }
    void take() const noexcept {}

private:
    shared_state state_;
    std::size_t index_;
};

class node_call final : public call {
public:
    node_call(node_function run, std::shared_ptr<node_inputs const> in) : run_(std::move(run)), in_(std::move(in)) {}
    void invoke(attempt& a, call_result& result) noexcept override
    {
        run_(*in_, a, result);
        text = result.payload;
    }

    std::string text;

private:
    node_function run_;
    std::shared_ptr<node_inputs const> in_;
};

class [[nodiscard]] node_step final : public step_base {
public:
    node_step(graph_data::node const& n, node_inputs in)
        : step_base(n.id, n.cls, options_of(n.options)), node_(n), in_(std::make_shared<node_inputs const>(std::move(in)))
    {
    }
    node_step(node_step&&) noexcept = default;

    std::string take() { return check(), std::move(text_); }
    outcome<void> accept(encoding, std::string_view payload) override
    {
        text_ = payload;
        return {};
    }
    std::string_view shape() const override { return node_.shape(); }
    std::shared_ptr<call> make_call() override { return std::make_shared<node_call>(node_.run, in_); }
    bool call_here(attempt&, call_result&) noexcept override { return false; }
    void adopt(call& c) override { text_ = std::move(static_cast<node_call&>(c).text); }

private:
    static step_options options_of(node_options const& o)
    {
        step_options s;
        s.timeout = o.timeout;
        s.retry = o.retry;
        s.limit = o.limit;
        return s;
    }

    graph_data::node const& node_;
    std::shared_ptr<node_inputs const> in_;
    std::string text_;
};

workflow<void> run_node(shared_state s, std::size_t i)
{
    co_await gate(s, i);
    auto const v = s->judge(i).value();
    if (v.todo == verdict::what::end) {
        s->ended(i, v.status, v.why);
        co_return;
    }
    auto const& n = s->data().nodes[i];
    outcome<std::string> output{std::string()};
    if (n.body) {
        auto body = n.body(s->inputs_of(i));
        output = co_await as_outcome(std::move(body));
    } else {
        output = co_await as_outcome(node_step(n, s->inputs_of(i)));
    }
    if (output) {
        s->ended(i, node_status::succeeded, {}, *std::move(output));
        co_return;
    }
    auto const& e = output.error();
    if (e.code() == errc::cancelled) {
        s->ended(i, node_status::cancelled, s->why_cancelled());
        raise(e);
    }
    if (e.code() == errc::step_skipped) {
        s->ended(i, node_status::skipped, e.message());
        co_return;
    }
    s->ended(i, status_after_failure(n), e.message());
    if (!fails_graph(n)) co_return;
    s->fail_all(i);
    raise(e);  // cancels the others
}

/// A group of its own name, so that a place says what it is: node#0.3/review#0.
class graph_group final : public group_base {
public:
    explicit graph_group(shared_state s) : group_base(joining::all, "node", s->data().nodes.size()), state_(std::move(s)) {}
    graph_group(graph_group&&) noexcept = default;
    void take() { check_group(); }

private:
    bool enter(std::size_t i, scope& s, continuation& c) override
    {
        branches_.emplace_back(run_node(state_, i));
        return branches_[i].enter(s, c);
    }
    error const* branch_failure(std::size_t i) override { return branches_[i].failed(); }
    void rethrow_branch(std::size_t i) override { branches_[i].take(); }

    shared_state state_;
    std::deque<workflow<void>> branches_;
};

}  // namespace

namespace {

/// A graph that was read without handlers can be looked at, not run.
void check_functions(graph const& g)
{
    for (auto const& n : g.data().nodes)
        if (!n.run && !n.body) throw error(errc::usage, "node \"" + printable(n.id, 200) + "\" has no function: give graph_from_json the handlers");
}

}  // namespace

workflow<graph_result> run_graph_on(graph g, std::string given)
{
    check_functions(g);
    auto const drawn = file_of(g);  // so that anybody can draw it: `flow graph RUN`
    co_await publish("graph", drawn);
    auto const state = std::make_shared<graph_state>(std::move(g), std::move(given));
    auto const ended = co_await as_outcome(graph_group(state));
    auto result = state->result();
    // A node that failed is told by the result; a cancel, and what is nobody's failure, is not.
    if (!ended && (ended.error().code() == errc::cancelled || result.completed())) raise(ended.error());
    co_return result;
}

}  // namespace flow::detail
