// Wait policies as data: what they make of waits, and that they can be changed and rolled back while runs wait (P40, AT-21).
#include <catch2/catch.hpp>

#include <algorithm>
#include <mutex>
#include <set>
#include <thread>

#include "flow/flow.hpp"
#include "support/invariants.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace std::chrono_literals;
using namespace flow::test;
using Catch::Contains;

namespace {

// Mechanism AT-21, word for word.
constexpr std::string_view as_configured = R"({
    "approval": {"release_compute": true, "snapshot": true, "sla_s": 3600, "on_timeout": [{"action": "expire"}], "resumable": true},
    "tool":     {"release_compute": false, "heartbeat_s": 15, "timeout_s": 600, "on_timeout": [{"action": "cancel_tool"}]},
    "input":    {"release_compute": true, "snapshot": true, "sla_s": 86400, "on_timeout": [{"action": "expire"}]},
    "external": {"release_compute": true, "sla_s": 1800, "on_timeout": [{"action": "escalate", "to": ["duty"]}]}
})";

flow::workflow<std::string> asks()
{
    auto const v = co_await flow::ask("go", flow::question("Go?").to("ann"));
    co_return v.approved ? "go" : "no";
}

flow::workflow<std::string> asks_by_secret()
{
    auto const v = co_await flow::ask("go", flow::question("Go?").to("ann").secrets());
    co_return v.votes.back().by;
}

flow::workflow<std::string> asks_with_default()
{
    auto const v = co_await flow::ask("go", flow::question("Go?").to("ann").otherwise(true));
    co_return v.by_default ? "by default" : v.votes.back().by;
}

flow::workflow<std::string> asks_with_limit()
{
    auto const v = co_await flow::ask("go", flow::question("Go?").to("ann").deadline(2h).otherwise(false));
    co_return v.by_default ? "by default" : v.votes.back().by;
}

flow::workflow<int> wants_input()
{
    auto const v = co_await flow::ask<int>("number", flow::question("How many?").subject(flow::ask_subject::input));
    co_return *v.value;
}

flow::workflow<int> waits() { co_return co_await flow::wait_for_token<int>("callback"); }

flow::workflow<int> waits_for_event() { co_return co_await flow::wait_for_event<int>("paid", "order 7"); }

std::vector<flow::token<int>> begun;
void note_token(flow::token<int> const& ends_by) { begun.push_back(ends_by); }

flow::workflow<int> uses_tool()
{
    co_return co_await flow::begin_step<int>("tool", flow::idempotent, note_token, {.outlives_engine = true, .retry = {.max_attempts = 1}});
}

class arm {
public:
    static std::unique_ptr<arm> open() { return outside().note("open"), std::make_unique<arm>(); }
    static std::unique_ptr<arm> restore(int) { return outside().note("restore"), std::make_unique<arm>(); }
    int snapshot() const { return 1; }
};

flow::workflow<int> holds_and_waits()
{
    auto const held = co_await flow::open_resource<arm>("arm");
    co_await flow::step("grip", flow::idempotent, [] {});
    co_return co_await flow::wait_for_token<int>("callback");
}

flow::workflow<std::string> waits_for_made()
{
    auto const made = co_await flow::make_token<int>("made");
    auto const got = co_await flow::as_outcome(flow::wait_for_token(made));
    co_await flow::wait_for_token<int>("go on");
    co_return std::string(got ? "answered" : row_of(got.error().code()).name);
}

flow::workflow<std::string> two_say_why()
{
    auto const [a, b] = co_await flow::all_settled(flow::wait_for_token<int>("one"), flow::wait_for_token<int>("two"));
    co_return std::string(a ? "answered" : row_of(a.error().code()).name) + ' ' + std::string(b ? "answered" : row_of(b.error().code()).name);
}

/// Waits with limits of their own, for tokens that live longer.
flow::workflow<std::string> two_limits()
{
    auto const one = co_await flow::make_token<int>("one"), two = co_await flow::make_token<int>("two");
    auto const [a, b] = co_await flow::all_settled(flow::wait_for_token(one, {.timeout = 1h}), flow::wait_for_token(two, {.timeout = 1h}));
    co_return std::string(a ? "answered" : row_of(a.error().code()).name) + ' ' + std::string(b ? "answered" : row_of(b.error().code()).name);
}

flow::workflow<std::string> says_why()
{
    try {
        co_await flow::wait_for_token<int>("callback");
    } catch (flow::error const& e) {
        co_return std::string(row_of(e.code()).name);
    }
    co_return "answered";
}

void add_all(flow::engine& e)
{
    e.add<asks>("asks");
    e.add<asks_by_secret>("asks_by_secret");
    e.add<asks_with_default>("asks_with_default");
    e.add<asks_with_limit>("asks_with_limit");
    e.add<wants_input>("wants_input");
    e.add<waits>("waits");
    e.add<waits_for_event>("waits_for_event");
    e.add<uses_tool>("uses_tool");
    e.add<holds_and_waits>("holds_and_waits");
    e.add<says_why>("says_why");
    e.add<two_say_why>("two_say_why");
    e.add<waits_for_made>("waits_for_made");
    e.add<two_limits>("two_limits");
}

flow::wait_policies approval(flow::wait_policy p) { return {.approval = std::move(p)}; }

flow::wait_policy const asks_the_boss{
    .sla = 30min, .timeout = 1h, .on_timeout = {{flow::timeout_action::escalate, {"boss"}, "desk", 3h}, {flow::timeout_action::expire}}};

bool is_asked(world& w, std::string_view who) { return !w.engine().questions_for(who).empty(); }

flow::waitpoint_id question(world& w)
{
    auto const all = w.engine().questions_for();
    REQUIRE(all.size() == 1);
    return all[0].row.id;
}

bool is_in_memory(world& w, flow::run_id id) { return w.view(id).row.owner != flow::owner_id::nobody; }

}  // namespace

TEMPLATE_LIST_TEST_CASE("AT-21: the policies of the four types of waits, as configured", "[engine][policy]", every_store)
{
    TestType place;
    begun.clear();
    world w(place.store, add_all);
    CHECK(w.engine().current_wait_policies().version == 0);
    CHECK(w.engine().set_wait_policies(flow::parse_wait_policies(as_configured), {.by = "ops", .why = "first"}) == 1);
    auto const approval = w.engine().start<asks>().id();
    auto const input = w.engine().start<wants_input>().id();
    auto const external = w.engine().start<waits>().id();
    auto const event = w.engine().start<waits_for_event>().id();
    auto const tool = w.engine().start<uses_tool>().id();
    w.settle();

    auto const asked_at = w.clock().now();
    CHECK(w.view(approval).waits_for.sla_at == asked_at + 1h);
    CHECK(w.view(approval).waits_for.until == asked_at + 1h);  // no time-out of its own: the rules apply from the SLA on
    CHECK(w.view(approval).waits_for.policy == 1);
    CHECK(w.view(input).waits_for.until == asked_at + 24h);
    CHECK(w.view(external).waits_for.until == flow::never);
    CHECK(w.view(external).waits_for.escalations == std::vector<flow::escalation>{{asked_at + 30min, {"duty"}, ""}});
    CHECK(w.view(event).waits_for.sla_at == asked_at + 30min);
    CHECK(w.view(tool).row.status.run == flow::run_status::running);  // it gives signs of life and stays with its engine
    CHECK(w.engine().late_runs().empty());

    w.pass(16s);  // nothing was heard of the tool
    CHECK(w.status(tool) == flow::run_status::failed);
    CHECK_THROWS_AS(flow::run_handle<int>(w.engine().find(tool)).result(), flow::step_error);
    CHECK_FALSE(w.engine().heartbeat(begun.at(0)));
    w.pass(31min);
    auto const late = w.engine().late_runs();
    REQUIRE(late.size() == 2);
    CHECK(late[0].row.id == event);
    CHECK(late[1].row.id == external);
    CHECK(late[1].concerns == "the workflow's owner");
    w.pass(31min);
    CHECK(w.status(approval) == flow::run_status::expired);
    CHECK(w.view(approval).row.terminal_reason == "approval");
    w.pass(23h);
    CHECK(w.status(input) == flow::run_status::expired);
    CHECK(w.status(external) == flow::run_status::waiting);  // it has escalated, and goes on
    w.engine().complete_json(w.open_token("callback"), "7");
    w.settle();
    CHECK(flow::run_handle<int>(w.engine().find(external)).result() == 7);
    check_invariants(*w.store());
}

TEMPLATE_LIST_TEST_CASE("P40: a wait keeps the policies it was registered with; they are changed and rolled back meanwhile", "[engine][policy]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    w.engine().set_wait_policies(approval({.timeout = 1h}));
    auto const first = w.engine().start<asks>().id();
    w.settle();
    flow::client ops(place.again(), "ops");
    CHECK(ops.set_wait_policies(approval({.timeout = 5h, .on_timeout = {{flow::timeout_action::expire}}}), {.why = "people sleep"}) == 2);
    CHECK(ops.set_wait_policies(approval({.timeout = 5h, .on_timeout = {{flow::timeout_action::expire}}})) == 2);  // the same: no new version
    w.restart();  // it reads them
    auto const second = w.engine().start<asks>().id();
    w.settle();
    CHECK(ops.roll_back_wait_policies(1) == 3);
    w.restart();
    auto const third = w.engine().start<asks>().id();
    w.settle();
    CHECK(w.view(first).waits_for.policy == 1);
    CHECK(w.view(second).waits_for.policy == 2);
    CHECK(w.view(third).waits_for.policy == 3);
    w.pass(61min);
    CHECK(w.status(first) == flow::run_status::failed);
    CHECK(w.status(second) == flow::run_status::waiting);
    CHECK(w.status(third) == flow::run_status::failed);
    w.pass(4h);
    CHECK(w.status(second) == flow::run_status::expired);

    auto const all = w.engine().wait_policy_versions();
    REQUIRE(all.size() == 3);
    CHECK((all[1].by == "ops" && all[1].why == "people sleep" && all[1].version == 2));
    CHECK(all[2].why == "back to version 1");
    CHECK(to_json(all[2].policies) == to_json(all[0].policies));
    CHECK_THROWS_WITH(ops.roll_back_wait_policies(9), Contains("no version 9"));
}

TEST_CASE("policies set by another process reach an engine that runs", "[engine][policy]")
{
    memory_stores place;
    world w(place.store, add_all);
    flow::client ops(place.again(), "ops");
    ops.set_wait_policies(approval({.timeout = 1h}));
    auto const limit = std::chrono::steady_clock::now() + 20s;
    flow::run_id last;
    do {
        last = w.engine().start<asks>().id();
        w.settle();
    } while (w.view(last).waits_for.policy == 0 && std::chrono::steady_clock::now() < limit);
    CHECK(w.view(last).waits_for.policy == 1);
}

TEMPLATE_LIST_TEST_CASE("escalate: others may answer once it has taken too long, while nobody holds the run as well", "[engine][policy]", every_store)
{
    TestType place;
    world w(place.store, add_all, {.evict_after = 0s});
    w.engine().set_wait_policies(approval(asks_the_boss));
    auto const id = w.engine().start<asks>().id();
    w.settle();
    auto const q = question(w);
    CHECK_FALSE(is_asked(w, "boss"));
    CHECK_THROWS_WITH(w.engine().respond(q, true, {.by = "boss"}), Contains("not_asked"));
    w.pass(59min);
    CHECK_THROWS_WITH(w.engine().respond(q, true, {.by = "boss"}), Contains("not_asked"));
    w.pass(1min);
    CHECK(is_asked(w, "boss"));
    CHECK(is_asked(w, "ann"));
    CHECK_FALSE(is_asked(w, "cy"));
    auto const now_asked = w.engine().questions_for("boss").at(0);
    CHECK(now_asked.asks->assignees == std::vector<std::string>{"ann", "boss"});
    CHECK(now_asked.asks->channel == "desk");
    CHECK_THROWS_WITH(w.engine().respond(q, true, {.by = "cy"}), Contains("not_asked"));
    CHECK(w.engine().late_runs().size() == 1);
    w.restart();
    CHECK(w.engine().respond(q, true, {.by = "boss"}).answer == flow::response_answer::decided);
    w.settle();
    CHECK(flow::run_handle<std::string>(w.engine().find(id)).result() == "go");
    CHECK(w.engine().late_runs().empty());
}

TEMPLATE_LIST_TEST_CASE("whom a question is escalated to has a secret from the start, which counts from then on", "[engine][policy]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    w.engine().set_wait_policies(approval(asks_the_boss));
    auto const id = w.engine().start<asks_by_secret>().id();
    w.settle();
    auto const q = question(w);
    auto const secret = w.engine().secret_for(q, "boss").text();
    CHECK_THROWS_WITH(w.engine().secret_for(q, "cy"), Contains("not_asked"));
    CHECK_THROWS_WITH(w.engine().respond(q, true, {.secret = secret}), Contains("not_asked"));
    w.pass(1h);
    CHECK(w.engine().respond(q, true, {.secret = secret}).answer == flow::response_answer::decided);
    w.settle();
    CHECK(flow::run_handle<std::string>(w.engine().find(id)).result() == "boss");
}

TEMPLATE_LIST_TEST_CASE("what stands behind an escalation is done when that has taken too long as well", "[engine][policy]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    w.engine().set_wait_policies(approval(asks_the_boss));
    auto const id = w.engine().start<asks>().id();
    w.settle();
    w.pass(4h - 1s);
    CHECK(w.status(id) == flow::run_status::waiting);
    w.pass(2s);
    CHECK(w.status(id) == flow::run_status::expired);
}

TEMPLATE_LIST_TEST_CASE("the code's own words go before the policy's", "[engine][policy]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto p = asks_the_boss;
    p.on_timeout.insert(p.on_timeout.begin() + 1, {flow::timeout_action::default_answer});
    w.engine().set_wait_policies(approval(p));
    auto const limited = w.engine().start<asks_with_limit>().id();
    auto const with_default = w.engine().start<asks_with_default>().id();
    auto const plain = w.engine().start<asks>().id();
    w.settle();
    CHECK(w.view(limited).waits_for.until == w.clock().now() + 2h);
    CHECK(w.view(limited).waits_for.escalations.empty());
    CHECK(w.view(limited).waits_for.sla_at == w.clock().now() + 30min);
    CHECK(w.view(with_default).waits_for.escalations.size() == 1);
    w.pass(4h + 1s);
    CHECK(flow::run_handle<std::string>(w.engine().find(limited)).result() == "by default");
    CHECK(flow::run_handle<std::string>(w.engine().find(with_default)).result() == "by default");
    CHECK(w.status(plain) == flow::run_status::expired);  // it has no default: that rule is passed over
}

TEST_CASE("a default answer that no deadline ever brings is refused where it is asked", "[engine][policy]")
{
    memory_stores place;
    world w(place.store, add_all);
    auto const id = w.engine().start<asks_with_default>().id();
    w.settle();
    CHECK(w.status(id) == flow::run_status::failed);
    CHECK_THROWS_WITH(flow::run_handle<std::string>(w.engine().find(id)).result(), Contains("has none, and no wait policy gives it one"));
    auto const again = w.journal(id).size();
    w.restart();
    w.settle();
    CHECK(w.journal(id).size() == again);
}

TEMPLATE_LIST_TEST_CASE("release_compute: a run may be made to stay with its engine", "[engine][policy]", every_store)
{
    TestType place;
    world w(place.store, add_all, {.evict_after = 0s});
    auto const leaves = w.engine().start<waits>().id();
    w.settle();
    w.engine().set_wait_policies({.external = flow::wait_policy{.release_compute = false}});
    auto const stays = w.engine().start<waits_for_event>().id();
    w.settle();
    w.pass(10min);
    CHECK_FALSE(is_in_memory(w, leaves));
    CHECK(is_in_memory(w, stays));
    w.restart();
    w.settle();
    w.engine().send_event("paid", "order 7", 3);
    w.settle();
    CHECK(flow::run_handle<int>(w.engine().find(stays)).result() == 3);
}

TEMPLATE_LIST_TEST_CASE("snapshot: without one a run that holds a resource stays, and one that holds none leaves", "[engine][policy]", every_store)
{
    TestType place;
    world w(place.store, add_all, {.evict_after = 0s});
    w.engine().set_wait_policies({.external = flow::wait_policy{.snapshot = false}});
    auto const holds = w.engine().start<holds_and_waits>().id();
    auto const bare = w.engine().start<waits_for_event>().id();
    w.settle();
    CHECK(is_in_memory(w, holds));
    CHECK_FALSE(is_in_memory(w, bare));
    w.engine().set_wait_policies({});
    auto const freely = w.engine().start<holds_and_waits>().id();
    w.settle();
    CHECK_FALSE(is_in_memory(w, freely));
}

TEMPLATE_LIST_TEST_CASE("AT-24: a wait that cannot be resumed ends with its engine, and says so", "[engine][policy]", every_store)
{
    TestType place;
    world w(place.store, add_all, {.evict_after = 0s});
    w.engine().set_wait_policies({.external = flow::wait_policy{.resumable = false}});
    auto const lost = w.engine().start<says_why>().id();
    w.settle();
    CHECK_FALSE(w.view(lost).waits_for.resumable);
    CHECK(is_in_memory(w, lost));
    auto const token = w.open_token("callback");
    w.restart();
    w.settle();
    CHECK(flow::run_handle<std::string>(w.engine().find(lost)).result() == "resource_lost");
    CHECK(w.engine().waitpoint(token).status == flow::waitpoint_status::withdrawn);

    auto const kept = w.engine().start<says_why>().id();
    w.settle();
    w.engine().complete_json(w.open_token("callback"), "1");
    w.settle();
    CHECK(flow::run_handle<std::string>(w.engine().find(kept)).result() == "answered");
    check_invariants(*w.store());
}

TEMPLATE_LIST_TEST_CASE("two branches whose waits are over when their run comes back end one after the other", "[engine][policy][group]", every_store)
{
    TestType place;
    world w(place.store, add_all, {.evict_after = 0s});
    auto const timed = w.engine().start<two_limits>().id();
    w.settle();
    w.stop();
    w.clock().advance(2h);
    w.restart();
    w.settle();
    CHECK(flow::run_handle<std::string>(w.engine().find(timed)).result() == "wait_timeout wait_timeout");

    w.engine().set_wait_policies({.external = flow::wait_policy{.resumable = false}});
    auto const lost = w.engine().start<two_say_why>().id();
    w.settle();
    w.restart();
    w.settle();
    CHECK(flow::run_handle<std::string>(w.engine().find(lost)).result() == "resource_lost resource_lost");
    w.restart();
    w.settle();
    check_invariants(*w.store());
}

TEMPLATE_LIST_TEST_CASE("a wait that cannot be resumed leaves a token open that it did not make", "[engine][policy]", every_store)
{
    TestType place;
    world w(place.store, add_all, {.evict_after = 0s});
    w.engine().set_wait_policies({.external = flow::wait_policy{.resumable = false}});
    auto const id = w.engine().start<waits_for_made>().id();
    w.settle();
    auto const token = w.open_token("made");
    w.restart();
    w.settle();
    CHECK(w.engine().waitpoint(token).status == flow::waitpoint_status::pending);  // the body may wait for it again
    w.engine().complete_json(token, "4");
    w.engine().complete_json(w.open_token("go on"), "1");
    w.settle();
    CHECK(flow::run_handle<std::string>(w.engine().find(id)).result() == "resource_lost");
}

TEMPLATE_LIST_TEST_CASE("who set policies at once has made a version each", "[engine][policy]", every_store)
{
    TestType place;
    constexpr int people = 4, each = 5;
    std::mutex guard;
    std::set<std::uint32_t> made;
    std::vector<std::thread> threads;
    for (int i = 0; i < people; ++i)
        threads.emplace_back([&, i] {
            flow::client c(place.again(), "person " + std::to_string(i));
            for (int n = 0; n < each; ++n) {
                auto const version = c.set_wait_policies(approval({.timeout = std::chrono::milliseconds{1100 + 10 * i + n}}));
                std::lock_guard const lock(guard);
                made.insert(version);
            }
        });
    for (auto& t : threads) t.join();
    CHECK(made.size() == people * each);
    CHECK(flow::client(place.store).wait_policy_versions().size() == people * each);
}

TEST_CASE("a version that this program cannot read stops no engine, and the next one counts", "[engine][policy]")
{
    memory_stores place;
    flow::client other(place.store, "a newer program");
    other.start("flow.wait_policies", flow::args(std::string(R"({"approval":{"shout":true}})")), {.idempotency_key = "flow.wait_policies/1"});
    other.start("else", flow::args(1), {.idempotency_key = "flow.wait_policies/2"});
    world w(place.store, add_all);
    w.settle();
    CHECK(w.engine().current_wait_policies().version == 0);
    CHECK(std::any_of(w.log.begin(), w.log.end(), [](auto const& line) { return line.find("cannot be read by this program") != line.npos; }));
    CHECK_THROWS_WITH(w.engine().roll_back_wait_policies(1), Contains("shout"));
    CHECK(w.engine().set_wait_policies(approval({.timeout = 1h})) == 3);
    CHECK(w.engine().current_wait_policies().version == 3);
    CHECK(w.engine().wait_policy_versions().size() == 3);
}
