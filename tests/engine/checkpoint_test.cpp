// Segments: checkpoint and state, continue_as_new. What is closed is never read again.
#include <catch2/catch.hpp>

#include <set>

#include "flow/flow.hpp"
#include "flow/store_reader.hpp"
#include "support/invariants.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

struct progress {
    int done = 0;
    std::vector<std::string> seen;
};

flow::workflow<std::string> counts_to(int end)
{
    auto at = co_await flow::state<progress>();
    bool const finished = at.done == end;
    if (finished) co_return std::to_string(at.seen.size()) + " turns, last " + at.seen.back();
    auto const key = co_await flow::step("turn", flow::idempotent, [&](flow::attempt& a) {
        outside().note("turn " + std::to_string(at.done));
        return std::string(a.key());
    });
    at.seen.push_back(key);
    ++at.done;
    co_await flow::checkpoint(at);
    outside().note("behind a checkpoint");
    co_return "never";
}

// A token made in one segment and awaited in a later one.
struct kept {
    bool asked = false;
    flow::token<int> answer;
};
flow::workflow<int> keeps_a_token()
{
    auto s = co_await flow::state<kept>();
    if (!s.asked) {
        s.answer = co_await flow::make_token<int>("answer");
        s.asked = true;
        co_await flow::checkpoint(s);
    }
    co_return co_await flow::wait_for_token(s.answer);
}

flow::workflow<int> checkpoints_inside()
{
    co_await flow::checkpoint(1);
    co_return 1;
}
flow::workflow<std::string> checkpoints_in_a_sub_workflow()
{
    auto const got = co_await flow::as_outcome(checkpoints_inside());
    co_return got ? "went on" : got.error().what();
}
flow::workflow<void> continues_in_a_branch() { co_await flow::continue_as_new(); }
flow::workflow<std::string> ends_in_a_branch()
{
    auto const all = co_await flow::all_settled(continues_in_a_branch(), checkpoints_inside());
    co_return std::string(std::get<0>(all).error().what()) + " / " + std::get<1>(all).error().what();
}

flow::workflow<std::string> goes_round(int n, std::string text)
{
    auto const key = co_await flow::step("turn", flow::idempotent, [&](flow::attempt& a) {
        outside().note("round " + std::to_string(n));
        return std::string(a.key());
    });
    text += text.empty() || text.find(key) == std::string::npos ? key.substr(0, 8) + " " : std::string("the same key! ");
    bool const again = n < 3;
    if (again) co_await flow::continue_as_new(n + 1, text);
    co_return text;
}
flow::workflow<std::string> goes_round_2(int n, std::string)
{
    co_return co_await flow::step("two", flow::replayable, [&] { return "version 2 got " + std::to_string(n); });
}

flow::workflow<int> wrong_arguments(int)
{
    std::string const text = "not a number";
    co_await flow::continue_as_new(text);
    co_return 0;
}

flow::workflow<void> never_ends()
{
    auto n = co_await flow::state<int>();
    co_await flow::sleep_for(1h);
    ++n;
    co_await flow::checkpoint(n);
}

void add_all(flow::engine& e)
{
    e.add<counts_to>("counts_to");
    e.add<keeps_a_token>("keeps_a_token");
    e.add<checkpoints_in_a_sub_workflow>("in_a_sub_workflow");
    e.add<ends_in_a_branch>("in_a_branch");
    e.add<goes_round>("goes_round");
    e.add<wrong_arguments>("wrong_arguments");
    e.add<never_ends>("never_ends");
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("PR-01 the same step in each segment has a key of its own, and what was done is not done again", "[engine][segment]",
                        every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const run = w.engine().start<counts_to>(3);
    w.settle();
    CHECK(run.result().substr(0, 7) == "3 turns");
    CHECK(outside().all() == std::vector<std::string>{"turn 0", "turn 1", "turn 2"});
    std::set<std::string> keys;
    std::uint32_t segments = 0;
    for (auto const& e : w.journal(run.id())) {
        if (e.kind == flow::entry_kind::step) keys.insert(e.payload);
        if (e.kind == flow::entry_kind::checkpoint) CHECK(e.segment == ++segments);
    }
    CHECK(keys.size() == 3);
    CHECK(segments == 3);
    CHECK(w.view(run.id()).segment == 3);
    check_invariants(*w.store());
}

TEMPLATE_LIST_TEST_CASE("a run taken up again reads its newest segment alone, and the state it began with", "[engine][segment]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const id = w.engine().start<never_ends>().id();
    for (int i = 0; i < 5; ++i) w.pass(1h);
    auto loaded = w.store()->load(id).value().value();
    REQUIRE(loaded.entries.size() >= 3);
    CHECK(loaded.entries[0].kind == flow::entry_kind::start);
    CHECK(loaded.entries[1].kind == flow::entry_kind::checkpoint);
    CHECK(loaded.entries[1].payload == "5");
    CHECK(loaded.entries.size() < w.journal(id).size() / 3);
    CHECK(static_cast<std::size_t>(loaded.entries.back().seq) == w.journal(id).size());
    w.restart(place.again());
    w.settle();
    w.pass(1h);
    CHECK(w.view(id).segment == 6);
    CHECK(w.status(id) == flow::run_status::waiting);
    check_invariants(*w.store());
}

TEMPLATE_LIST_TEST_CASE("a token kept in the state is awaited in a later segment, hot and cold", "[engine][segment]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const run = w.engine().start<keeps_a_token>();
    w.settle();
    bool const cold = GENERATE(false, true);
    INFO(w.view(run.id()).doing << " " << (w.view(run.id()).failure ? w.view(run.id()).failure->message : ""));
    auto const token = w.open_token();
    if (cold) w.restart(place.again());
    w.settle();
    w.engine().complete_json(token, "42");
    w.settle();
    CHECK(w.engine().find(run.id()).end().result == "42");
}

TEST_CASE("only the workflow's own body can be started over; elsewhere it is an error that says so", "[engine][segment]")
{
    world w(flow::memory(), add_all);
    auto const sub = w.engine().start<checkpoints_in_a_sub_workflow>();
    auto const branch = w.engine().start<ends_in_a_branch>();
    w.settle();
    CHECK_THAT(sub.result(), Catch::Contains("usage") && Catch::Contains("the workflow's own body"));
    CHECK_THAT(branch.result(), Catch::Contains("where no branch is open") && Catch::Contains("the workflow's own body"));
}

TEMPLATE_LIST_TEST_CASE("continue_as_new begins anew under the same id: new arguments, new keys, the newest version", "[engine][segment]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const run = w.engine().start<goes_round>(1, "", {.idempotency_key = "k"});
    w.settle();
    auto const text = run.result();
    CHECK(std::count(text.begin(), text.end(), ' ') == 3);
    CHECK(text.find("same") == text.npos);
    CHECK(outside().count("round 3") == 1);
    CHECK(w.engine().find_by_key("k").id() == run.id());

    auto const other = w.engine().start<goes_round>(2, "");
    w.engine().add<goes_round_2>("goes_round", flow::version{2});
    w.settle();
    CHECK(w.engine().find(other.id()).end().result == "\"version 2 got 3\"");
    CHECK(w.view(other.id()).row.version == 2);
    check_invariants(*w.store());
}

TEST_CASE("continue_as_new with arguments the workflow does not take holds the run and loses nothing", "[engine][segment]")
{
    world w(flow::memory(), add_all);
    auto const run = w.engine().start<wrong_arguments>(1);
    w.settle();
    auto const v = w.view(run.id());
    CHECK(v.row.status.run == flow::run_status::held);
    CHECK_THAT(v.waits_for.detail, Catch::Contains("continue_as_new") && Catch::Contains("version 1"));
    CHECK(v.segment == 0);
}

TEMPLATE_LIST_TEST_CASE("a cancel that comes when a run begins anew is taken first", "[engine][segment][cancel]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const id = w.engine().start<never_ends>().id();
    w.pass(30min);
    w.engine().cancel(id, "enough", "alice");
    w.pass(1h);
    CHECK(w.status(id) == flow::run_status::cancelled);
    check_invariants(*w.store());
}
