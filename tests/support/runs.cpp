#include "support/runs.hpp"

#include <atomic>

#include <catch2/catch.hpp>

#include "flow/store_reader.hpp"
#include "src/plans.hpp"

namespace flow::test {

time_point at(std::int64_t seconds)
{
    return time_point{std::chrono::seconds{1'800'000'000 + seconds}};
}

uuid fresh_uuid()
{
    static std::atomic<std::uint64_t> count{0};
    auto n = ++count;
    uuid id;
    id.bytes[6] = 0x70;
    id.bytes[8] = 0x80;
    for (std::size_t i = 15; i > 8; --i, n >>= 8) id.bytes[i] = static_cast<std::uint8_t>(n & 0xff);
    return id;
}

new_run some_run(std::string_view workflow, std::string_view key)
{
    new_run r;
    r.id = {fresh_uuid()};
    r.workflow = workflow;
    r.key = key;
    r.arguments = R"(["alice"])";
    r.arguments_shape = "(str)";
    r.by = "alice";
    r.at = at(0);
    r.due_at = at(0);
    return r;
}

waitpoint_row some_token(std::string_view name)
{
    waitpoint_row w;
    w.id = {fresh_uuid()};
    w.name = name;
    w.place = std::string(name) + "#0";
    w.shape = "bool";
    w.secret_hash = sha256("the secret");
    w.created_at = at(0);
    return w;
}

waitpoint_row some_timer(time_point due)
{
    auto w = some_token("sleep");
    w.type = waitpoint_type::datetime;
    w.purpose = waitpoint_purpose::timer;
    w.secret_hash = {};
    w.due_at = due;
    return w;
}

request some_request(run_id run, request_kind kind)
{
    request q;
    q.id = {fresh_uuid()};
    q.run = run;
    q.kind = kind;
    q.by = "alice";
    q.why = "a test";
    q.at = at(5);
    return q;
}

event some_event(std::string_view payload)
{
    event e;
    e.id = {fresh_uuid()};
    e.topic = "payment";
    e.correlation = "order-17";
    e.payload = payload;
    e.by = "shop";
    e.at = at(6);
    e.expires_at = at(1000);
    return e;
}

waitpoint_row some_event_wait(std::string_view shape)
{
    auto w = some_token("payment");
    w.type = waitpoint_type::event;
    w.purpose = waitpoint_purpose::event;
    w.correlation = "order-17";
    w.secret_hash = {};
    w.shape = shape;
    return w;
}

completion some_completion(waitpoint_id id, std::string_view output)
{
    completion c;
    c.waitpoint = id;
    c.output = output;
    c.by = "alice";
    c.at = at(6);
    return c;
}

owner_id some_owner(store& s) { return s.add_owner({"a test", 1, at(0)}).value(); }

held_run::held_run(run_row r, seq_no l) : row(std::move(r)), last(l) {}

void held_run::seal(group& g)
{
    for (auto& e : g.entries) flow::seal(e, g.run);
}

group held_run::steps(std::size_t count, std::string_view payload) const
{
    group g;
    g.run = row.id;
    g.num = row.num;
    g.epoch = row.epoch;
    g.after = last;
    auto seq = last;
    for (std::size_t i = 0; i < count; ++i) {
        seq = next(seq);
        journal_entry e;
        e.seq = seq;
        e.epoch = row.epoch;
        e.kind = entry_kind::step;
        e.cls = effect::idempotent;
        e.attempt = 1;
        e.path = std::to_string(static_cast<std::int64_t>(seq));
        e.place = "render#" + e.path;
        e.name = "render";
        e.shape_out = "i64";
        e.encoding = encoding::json;
        e.payload = payload;
        e.at = at(1);
        g.entries.push_back(std::move(e));
    }
    seal(g);
    return g;
}

group held_run::change(status_event on, bool release) const
{
    auto g = steps(0);
    auto const to = next(row.status, on, status_actor::holder);
    REQUIRE(to);
    auto e = detail::snapshot_entry(*to, on, row.snapshot, {}, "a test", "engine", at(2));
    e.seq = next(last);
    e.epoch = row.epoch;
    g.entries.push_back(std::move(e));
    g.change = run_change{*to, {}, {}, release};
    seal(g);
    return g;
}

void held_run::advance(group const& g)
{
    last = g.entries.back().seq;
    if (!g.change) return;
    row.status = g.change->status;
    row.snapshot = last;
    if (g.change->release || is_terminal(g.change->status.run)) row.epoch = next(row.epoch);
}

held_run hold(store& s, claimed const& c)
{
    auto const loaded = s.load(c.row.id).value();
    REQUIRE(loaded);
    return held_run(c.row, loaded->entries.back().seq);
}

std::vector<claimed> claim_all(store& s, owner_id owner, std::vector<workflow_version> workflows, std::size_t limit)
{
    return s.claim({owner, workflows, limit, at(1)}).value();
}

held_run start_and_claim(store& s, owner_id owner, std::string_view workflow)
{
    REQUIRE(s.start(some_run(workflow)).value().answer == start_answer::started);
    auto const taken = claim_all(s, owner, {{std::string(workflow), 1}}, 1);
    REQUIRE(taken.size() == 1);
    return hold(s, taken.front());
}

answer apply(store& s, group const& g)
{
    auto answers = s.apply({&g, 1}, std::chrono::seconds{5}).value();
    REQUIRE(answers.size() == 1);
    return answers.front();
}

void applied(store& s, held_run& run, group const& g)
{
    REQUIRE(apply(s, g).kind == answer_kind::applied);
    run.advance(g);
}

waitpoint_row park_on(store& s, held_run& run, waitpoint_row row)
{
    row.run = run.id();
    auto g = run.change(status_event::block);
    g.effects.push_back(insert_waitpoint{row});
    g.effects.push_back(add_edge{row.id, "1", row.place});
    applied(s, run, g);
    applied(s, run, run.change(status_event::suspend, true));
    return row;
}

waitpoint_row park(store& s, held_run& run) { return park_on(s, run, some_token()); }

run_row row_of(store& s, run_id id)
{
    auto row = s.run(id).value();
    REQUIRE(row);
    return *row;
}

}  // namespace flow::test
