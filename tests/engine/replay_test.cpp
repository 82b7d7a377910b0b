// Replay: what is recorded is given back; code that asks for something else is held, and both sides are named.
#include <catch2/catch.hpp>

#include "flow/flow.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

// Two versions of the same workflow, as a careless deploy would bring them.
namespace before {
flow::workflow<int> job()
{
    auto const a = co_await flow::step("first", flow::replayable, [] { return outside().note("first"), 1; });
    auto const b = co_await flow::step("foo", flow::idempotent, [] { return outside().note("foo"), 2; });
    co_await flow::sleep_for(1h);
    co_return a + b;
}
}  // namespace before
namespace after {
flow::workflow<int> job()
{
    auto const a = co_await flow::step("first", flow::replayable, [] { return outside().note("first"), 1; });
    try {
        auto const b = co_await flow::step("bar", flow::idempotent, [] { return outside().note("bar"), 2; });
        co_await flow::sleep_for(1h);
        co_return a + b;
    } catch (...) {
        outside().note("caught");
        throw;
    }
}
}  // namespace after
namespace shorter {
flow::workflow<int> job()
{
    co_return co_await flow::step("first", flow::replayable, [] { return 1; });
}
}  // namespace shorter
namespace other_type {
flow::workflow<int> job()
{
    auto const a = co_await flow::step("first", flow::replayable, [] { return std::string("one"); });
    co_return static_cast<int>(a.size());
}
}  // namespace other_type
namespace other_class {
flow::workflow<int> job()
{
    co_await flow::step("first", flow::idempotent, [] { return 1; });
    co_return 1;
}
}  // namespace other_class

void with_before(flow::engine& e) { e.add<before::job>("job"); }
void with_after(flow::engine& e) { e.add<after::job>("job"); }

flow::workflow<std::vector<int>> loops()
{
    std::vector<int> all;
    for (int i = 0; i < 5; ++i) all.push_back(co_await flow::step("fetch", flow::idempotent, [&] { return outside().note("fetch"), i * i; }));
    co_await flow::sleep_for(1h);
    co_return all;
}

struct odd_error : std::runtime_error {
    using runtime_error::runtime_error;
};
bool const tagged = flow::error_tag<odd_error>("odd");

flow::workflow<std::string> passes_errors_on()
{
    std::string seen;
    try {
        co_await flow::step("breaks", flow::idempotent, [] { throw odd_error("line one\nline two"); }, {.retry = {.max_attempts = 1}});
    } catch (flow::step_error const& e) {
        seen = e.tag() + "|" + e.message() + "|" + e.place() + "|" + std::to_string(static_cast<int>(e.code()));
    }
    auto const echoed = co_await flow::step("echo", flow::idempotent, [&] { return outside().note(seen), seen; });
    co_await flow::sleep_for(1h);
    co_return echoed == seen ? seen : "differs";
}

flow::workflow<int> counts_to(int n)
{
    int sum = 0;
    for (int i = 0; i < n; ++i) sum += co_await flow::step("one", flow::replayable, [] { return outside().note("one"), 1; }, {.inline_ = true});
    co_await flow::sleep_for(1h);
    co_return sum;
}

flow::workflow<std::string> draws()
{
    auto const id = co_await flow::uuid4();
    auto const t = co_await flow::now();
    auto const d = co_await flow::random<int>(1, 6);
    auto const f = co_await flow::random(0.0, 1.0);
    co_await flow::sleep_for(1h);
    auto const text = to_string(id) + flow::to_string(t) + std::to_string(d) + std::to_string(f);
    outside().note(text);
    co_return d >= 1 && d <= 6 && f >= 0 && f < 1 ? text : "out of range";
}

flow::workflow<int> sub(int x)
{
    auto const a = co_await flow::step("add", flow::replayable, [&] { return x + 1; });
    co_return a;
}
flow::workflow<int> nested()
{
    auto const a = co_await sub(1);
    auto const b = co_await sub(a);
    co_await flow::sleep_for(1h);
    co_return co_await sub(b);
}

flow::workflow<int> default_class()
{
    auto const r = co_await flow::step("x", [] { return 1; });
    co_await flow::sleep_for(1h);
    co_return r;
}

void add_all(flow::engine& e)
{
    e.add<loops>("loops");
    e.add<passes_errors_on>("passes_errors_on");
    e.add<counts_to>("counts_to");
    e.add<draws>("draws");
    e.add<nested>("nested");
    e.add<default_class>("default_class");
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("RD-01 RD-16 RS-04 another step at a recorded position holds the run and the old code lets it finish", "[engine][replay]", every_store)
{
    TestType place;
    world w(place.store, with_before);
    auto const id = w.engine().start<before::job>().id();
    w.settle();
    w.restart(nullptr, with_after);
    w.settle();
    CHECK(w.status(id) == flow::run_status::held);
    CHECK(outside().count("bar") == 0);
    CHECK(outside().count("caught") == 0);
    auto const reason = w.view(id).waits_for;
    CHECK(reason.type == flow::wait_reason::kind::code);
    CHECK(reason.id == "nondeterminism");
    // RD-16: both sides, position, branch, workflow, version, and what to do.
    for (auto const* part : {"position 1", "branch: top", "\"foo\"", "\"bar\"", "workflow job", "version 1", "the journal has", "the code asks for", "Put the old code back"})
        CHECK(reason.detail.find(part) != std::string::npos);

    auto const length = w.journal(id).size();
    w.restart(nullptr, with_after);  // the same mismatch again appends nothing (P19)
    w.settle();
    CHECK(w.journal(id).size() == length);
    CHECK(w.status(id) == flow::run_status::held);

    w.restart(nullptr, with_before);
    w.pass(1h);
    CHECK(w.engine().find(id).end().result == "3");
    CHECK(outside().count("foo") == 1);
}

TEST_CASE("a body that ends before its history, or reads another type or class, is held too", "[engine][replay]")
{
    memory_stores place;
    world w(place.store, with_before);
    auto const id = w.engine().start<before::job>().id();
    w.settle();
    auto const held_by = [&](world::registration code, std::string_view part) {
        w.restart(nullptr, std::move(code));
        w.settle();
        CHECK(w.status(id) == flow::run_status::held);
        CHECK(w.view(id).waits_for.detail.find(part) != std::string::npos);
    };
    held_by([](flow::engine& e) { e.add<shorter::job>("job"); }, "the code has ended");
    held_by([](flow::engine& e) { e.add<other_type::job>("job"); }, "shape str");
    held_by([](flow::engine& e) { e.add<other_class::job>("job"); }, "idempotent");
    w.restart(nullptr, with_before);
    w.pass(1h);
    CHECK(w.status(id) == flow::run_status::succeeded);
}

TEST_CASE("a held run can be cancelled, and ends without its clean-up", "[engine][replay][cancel]")
{
    memory_stores place;
    world w(place.store, with_before);
    auto const id = w.engine().start<before::job>().id();
    w.settle();
    w.restart(nullptr, with_after);
    w.settle();
    CHECK(w.engine().cancel(id) == flow::request_fate::taken);
    w.settle();
    CHECK(w.status(id) == flow::run_status::cancelled);
}

TEMPLATE_LIST_TEST_CASE("RD-07 a name used five times in a loop gives five outputs in order", "[engine][replay]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const id = w.engine().start<loops>().id();
    w.settle();
    w.restart();
    w.pass(1h);
    CHECK(w.engine().find(id).end().result == "[0,1,4,9,16]");
    CHECK(outside().count("fetch") == 5);
}

TEMPLATE_LIST_TEST_CASE("RD-04 a caught error is the same on replay, byte for byte", "[engine][replay]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const id = w.engine().start<passes_errors_on>().id();
    w.settle();
    w.restart();
    w.pass(1h);
    CHECK(w.engine().find(id).end().result == R"("odd|line one\nline two|breaks#0|301")");
    CHECK(outside().all() == std::vector<std::string>{"odd|line one\nline two|breaks#0|301"});
}

TEST_CASE("RD-06 runs of 9 to 1,001 steps sort their positions as numbers", "[engine][replay]")
{
    for (int const n : {9, 10, 11, 99, 100, 101, 1001}) {
        sqlite_stores place;
        world w(place.store, add_all);
        auto const id = w.engine().start<counts_to>(n).id();
        w.settle();
        w.restart();
        w.pass(1h);
        CHECK(w.engine().find(id).end().result == std::to_string(n));
        CHECK(outside().count("one") == n);
    }
}

TEMPLATE_LIST_TEST_CASE("RS-02 now, uuid and random give the same again", "[engine][replay]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const id = w.engine().start<draws>().id();
    w.settle();
    w.restart();
    w.pass(1h);
    REQUIRE(outside().all().size() == 1);
    CHECK(w.engine().find(id).end().result == '"' + outside().all().front() + '"');
}

TEST_CASE("sub-workflows have positions and places of their own", "[engine][replay]")
{
    memory_stores place;
    world w(place.store, add_all);
    auto const id = w.engine().start<nested>().id();
    w.settle();
    w.restart();
    w.pass(1h);
    CHECK(w.engine().find(id).end().result == "4");
    std::vector<std::string> places;
    for (auto const& e : w.journal(id))
        if (e.kind == flow::entry_kind::step) places.push_back(e.path + " " + e.place);
    CHECK(places == std::vector<std::string>{"0.0 workflow#0/add#0", "1.0 workflow#1/add#0", "3.0 workflow#2/add#0"});
}

TEST_CASE("a class taken by default is recorded, and the recorded one counts on replay", "[engine][replay]")
{
    memory_stores place;
    world w(place.store, add_all);
    auto const id = w.engine().start<default_class>().id();
    w.settle();
    for (auto const& e : w.journal(id))
        if (e.kind == flow::entry_kind::step) CHECK(e.cls == flow::effect::non_replayable);
    w.restart(nullptr, [](flow::engine& e) {
        flow::workflow_options o;
        o.default_effect = flow::effect::replayable;
        e.add<default_class>("default_class", o);
    });
    w.pass(1h);
    CHECK(w.status(id) == flow::run_status::succeeded);
}
