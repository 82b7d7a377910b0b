// PR-09: other processes ask things of a run that writes all the while.
#include <algorithm>
#include <set>

#include <catch2/catch.hpp>

#include "calls.hpp"
#include "flow/flow.hpp"
#include "flow/store_reader.hpp"
#include "support/invariants.hpp"
#include "support/stores.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

constexpr int steps = 1000, tokens = 6;

flow::workflow<int> writes_on()
{
    std::vector<flow::token<int>> asked;
    for (int i = 0; i < tokens; ++i) asked.push_back(co_await flow::make_token<int>("question"));
    int sum = 0;
    for (int i = 0; i < steps; ++i) sum += co_await flow::step("write", flow::idempotent, [] { return 1; });
    for (auto const& t : asked) sum += co_await flow::wait_for_token(t);
    co_await flow::wait_for_token<int>("the end");
    co_return sum;
}

}  // namespace

TEST_CASE("PR-09 requests of other processes against a run that appends a thousand entries: each becomes one entry, with its actor", "[cli][process]")
{
    sqlite_stores place;
    flow::engine engine(place.store, {.threads = 2, .log = nullptr});
    engine.add<writes_on>("writes_on");
    auto const run = engine.start<writes_on>();
    auto const id = to_string(run.id());
    flow::waitpoint_filter open;
    open.run = run.id();
    open.status = flow::waitpoint_status::pending;
    open.purpose = flow::waitpoint_purpose::token;
    for (int i = 0; i < 1000 && engine.waitpoints(open).size() < tokens; ++i) std::this_thread::sleep_for(1ms);
    auto const asked = engine.waitpoints(open);
    REQUIRE(asked.size() == tokens);
    // While it writes: completions, and a pause that is taken back.
    for (int i = 0; i < tokens; ++i) {
        auto const r = run_program({"--db", place.file, "complete", to_string(asked[static_cast<std::size_t>(i)].id), "7", "--by", "actor " + std::to_string(i)});
        CHECK(r.err.empty());
        CHECK(r.code == 0);
    }
    CHECK(run_program({"--db", place.file, "pause", id, "--by", "pauser"}).code == 0);
    for (int i = 0; i < 1000 && run.status().run != flow::run_status::paused; ++i) std::this_thread::sleep_for(10ms);
    REQUIRE(run.status().run == flow::run_status::paused);
    CHECK(run_program({"--db", place.file, "resume", id, "--by", "resumer"}).code == 0);
    CHECK(run_program({"--db", place.file, "cancel", id, "--by", "canceller"}).code == 0);
    REQUIRE(run.wait(60s));
    CHECK(run.status().run == flow::run_status::cancelled);

    std::map<std::string, int> requests;
    auto expected = flow::seq_no::none;
    for (auto const& e : engine.journal(run.id(), flow::seq_no::none, 100'000)) {
        CHECK(e.seq == (expected = next(expected)));
        if (e.kind == flow::entry_kind::request) ++requests[e.name + " by " + e.by];
    }
    CHECK(requests == std::map<std::string, int>{{"pause by pauser", 1}, {"resume by resumer", 1}, {"cancel by canceller", 1}});
    std::set<std::string> actors;
    for (auto const& w : asked) actors.insert(engine.waitpoint(w.id).by);
    CHECK(actors.size() == tokens);
    for (auto const& r : place.store->reader().requests(run.id()).value()) CHECK(r.entry != flow::seq_no::none);
    check_invariants(*place.store);
}
