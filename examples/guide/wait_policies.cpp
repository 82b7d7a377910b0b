// For the guide: how long people may take is decided beside the code, and changed while runs wait.
#include <flow/flow.hpp>

#include <iostream>

#include "../scratch.hpp"
#include "../store_option.hpp"

using namespace std::chrono_literals;

flow::workflow<std::string> order(int cents)
{
    auto const said = co_await flow::ask("approve", flow::question("Order for " + std::to_string(cents) + " cents?").to("ann"));
    co_return said.approved ? "approved by " + said.votes.back().by : "rejected";
}

// [file]
constexpr char const* policies = R"({
    "approval": {"sla_s": 3600, "timeout_s": 14400, "on_timeout": [
        {"action": "escalate", "to": ["boss"], "channel": "phone", "for_s": 86400},
        {"action": "expire"}]},
    "tool": {"heartbeat_s": 15, "timeout_s": 600, "on_timeout": [{"action": "cancel_tool"}]},
    "external": {"sla_s": 1800, "release_compute": false}
})";
// [/file]

int main(int argc, char** argv)
{
    auto const store = flow::open_store(store_text(argc, argv, "memory"));
    flow::engine engine(store);
    engine.add<order>("order");
    auto const waits = [](flow::any_run_handle const& run) {
        while (run.status().run != flow::run_status::waiting) std::this_thread::sleep_for(1ms);
    };

    // [set]
    flow::client ops(store, "ops");
    auto const first = ops.set_wait_policies(flow::parse_wait_policies(policies), {.why = "as agreed on Monday"});
    // [/set]
    while (engine.current_wait_policies().version != first) std::this_thread::sleep_for(10ms);
    auto const run = engine.start<order>(12000);
    waits(run);

    // [change]
    auto all = ops.current_wait_policies().policies;
    all.approval->timeout = 10min;
    auto const second = ops.set_wait_policies(all, {.why = "a busy day"});
    ops.roll_back_wait_policies(first);  // version 3, which says what version 1 said
    // [/change]
    expect(second == 2 && ops.current_wait_policies().version == 3, "each change is a version");

    // [look]
    auto const waits_for = run.view().waits_for;  // as it was registered: policy, sla_at, escalations
    for (auto const& late : ops.late_runs()) std::cout << to_string(late.row.id) << " concerns " << late.concerns << '\n';
    // [/look]
    expect(waits_for.policy == first, "a wait keeps the version it was registered with");
    expect(waits_for.escalations.at(0).to.at(0) == "boss", "the boss is asked as well after four hours");

    flow::client ann(store, "ann");
    ann.respond(ann.questions_for("ann").at(0).row.id, true);
    expect(flow::run_handle<std::string>(run).result() == "approved by ann", "ann decides");
}
