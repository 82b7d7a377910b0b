// Starting: keys, conflicts, wrong arguments, unknown workflows; nothing is lost and nothing runs twice.
#include <catch2/catch.hpp>

#include <filesystem>

#include "flow/flow.hpp"
#include "flow/store_reader.hpp"
#include "support/fault_store.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

flow::workflow<int> adds(int a, int b)
{
    co_return co_await flow::step("add", flow::replayable, [&] { return outside().note("add"), a + b; });
}
flow::workflow<int> multiplies(int a, int b)
{
    co_return co_await flow::step("multiply", flow::replayable, [&] { return a * b; });
}

void add_all(flow::engine& e)
{
    e.add<adds>("adds");
    e.add<multiplies>("multiplies");
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("SX-11 SX-12 a used key finds the same start and refuses every other", "[engine][start]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto first = w.engine().start<adds>(1, 2, {.idempotency_key = "7"});
    CHECK(w.engine().start<adds>(1, 2, {.idempotency_key = "7"}).id() == first.id());
    CHECK_THROWS_WITH(w.engine().start<adds>(1, 3, {.idempotency_key = "7"}), Catch::Contains("start_conflict") && Catch::Contains("\"7\""));
    CHECK_THROWS_WITH(w.engine().start<multiplies>(1, 2, {.idempotency_key = "7"}), Catch::Contains("start_conflict"));
    CHECK(w.engine().start<adds>(1, 3, {.idempotency_key = "7", .tenant = "other"}).id() != first.id());
    w.settle();
    CHECK(first.result() == 3);
    w.restart();
    w.settle();
    CHECK(w.engine().find_by_key("7").end().result == "3");
    CHECK(w.engine().start<adds>(1, 2, {.idempotency_key = "7"}).result() == 3);
}

TEST_CASE("SX-14 the key travels with every internal retry of a start", "[engine][start]")
{
    auto const data = flow::memory();
    auto faulty = std::make_shared<fault_store>(data);
    world w(faulty, add_all);
    faulty->plan(1, fault::fail, flow::errc::store_busy);
    auto const a = w.engine().start<adds>(1, 2, {.idempotency_key = "k"});
    faulty->plan(1, fault::doubt);
    auto const b = w.engine().start<adds>(1, 2, {.idempotency_key = "l"});
    w.settle();
    CHECK(w.engine().runs().size() == 2);
    CHECK(a.result() + b.result() == 6);
    CHECK(outside().count("add") == 2);
}

TEST_CASE("by name: wrong arguments and unknown workflows are refused with what is wrong", "[engine][start]")
{
    memory_stores place;
    world w(place.store, add_all);
    auto run = w.engine().start("adds", flow::args(2, 3));
    w.settle();
    CHECK(run.end().result == "5");
    CHECK_THROWS_WITH(w.engine().start("adds", flow::args(2, "three")), Catch::Contains("bad_argument") && Catch::Contains("(i32,i32)"));
    CHECK_THROWS_WITH(w.engine().start("adds", flow::args(2)), Catch::Contains("bad_argument"));
    CHECK_THROWS_WITH(w.engine().start("adds", flow::args::json("[1,")), Catch::Contains("bad_payload"));
    CHECK_THROWS_WITH(w.engine().start("subtracts", flow::args(2, 3)), Catch::Contains("subtracts") && Catch::Contains("adds"));
    CHECK(w.engine().runs().size() == 1);
}

TEST_CASE("a name and version is registered once, and names are checked", "[engine][start]")
{
    memory_stores place;
    world w(place.store, add_all);
    CHECK_THROWS_WITH(w.engine().add<adds>("adds"), Catch::Contains("registered already"));
    CHECK_THROWS_WITH(w.engine().add<adds>("two\nlines"), Catch::Contains("bad_name"));
    CHECK_THROWS_WITH(w.engine().add<adds>(""), Catch::Contains("bad_name"));
    CHECK_NOTHROW(w.engine().add<adds>("adds", flow::version{2}));
}

TEST_CASE("TS-02 an engine may require a key for every start", "[engine][start]")
{
    memory_stores place;
    flow::engine_options o;
    o.require_idempotency_key = true;
    world w(place.store, add_all, o);
    CHECK_THROWS_WITH(w.engine().start<adds>(1, 2), Catch::Contains("idempotency_key"));
    CHECK_NOTHROW(w.engine().start<adds>(1, 2, {.idempotency_key = "k"}));
}

TEST_CASE("a run of a workflow that nobody registered waits, and says for whom", "[engine][start]")
{
    memory_stores place;
    world w(place.store, add_all);
    auto const run = w.engine().client::start("elsewhere", flow::args(1));
    w.settle();
    auto const v = w.view(run.id());
    CHECK(v.row.status.run == flow::run_status::queued);
    CHECK(v.unblocked_by.find("\"elsewhere\"") != std::string::npos);
}

TEMPLATE_LIST_TEST_CASE("SE-01 SE-10 hostile strings are data everywhere", "[engine][start]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    for (std::string const text : {"'; drop table runs; --", "\"quoted\"", "100%_[a-z]\\", "\xF0\x9F\x98\x80", "-- comment"}) {
        flow::start_options o;
        o.idempotency_key = text;
        o.tenant = text;
        o.tags = text;
        o.by = text;
        auto run = w.engine().start<adds>(1, 1, o);
        w.settle();
        CHECK(run.result() == 2);
        CHECK(w.engine().find_by_key(text, text).id() == run.id());
        flow::run_filter f;
        f.tenant = text;
        CHECK(w.engine().runs(f).size() == 1);
    }
}

TEST_CASE("RG-01 everything is driven by poll, and no thread is made", "[engine][poll]")
{
    memory_stores place;
    auto const threads_now = [] {
        int n = 0;
        for ([[maybe_unused]] auto const& t : std::filesystem::directory_iterator("/proc/self/task")) ++n;
        return n;
    };
    auto const before = threads_now();
    world w(place.store, add_all);
    auto run = w.engine().start<adds>(20, 22);
    int frames = 0;
    while (run.status().run != flow::run_status::succeeded && ++frames < 100) {
        auto const left = w.engine().poll(2ms);
        CHECK(left.next_due >= flow::duration::zero());
    }
    CHECK(run.result() == 42);
    CHECK(threads_now() == before);
    CHECK_THROWS_WITH(
        [&] {
            flow::engine_options o;
            o.threads = 1;
            flow::engine own(flow::memory(), o);
            own.poll(1ms);
        }(),
        Catch::Contains("threads = 0"));
}

namespace {

flow::workflow<std::string> greets_1()
{
    auto const name = co_await flow::wait_for_token<std::string>("name");
    co_return "hello " + name;
}
flow::workflow<std::string> greets_2()
{
    auto const polite = co_await flow::step("look up", flow::replayable, [] { return std::string("good day "); });
    auto const name = co_await flow::wait_for_token<std::string>("name");
    co_return polite + name;
}
flow::workflow<int> notes(std::string what)
{
    co_await flow::step("note", flow::idempotent, [&] { outside().note(what); });
    co_return 1;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("two versions stand side by side: a run keeps the one it began with, a new one takes the newest", "[engine]", every_store)
{
    TestType place;
    world w(place.store, [](flow::engine& e) { e.add<greets_1>("greets"); });
    auto const old = w.engine().start<greets_1>().id();
    w.pass(1h);
    w.restart(nullptr, [](flow::engine& e) {
        e.add<greets_1>("greets");
        e.add<greets_2>("greets", flow::version{2});
    });
    w.settle();
    auto const fresh = w.engine().start("greets", flow::args()).id();
    auto const asked = w.engine().start("greets", flow::args(), {.version = flow::version{1}}).id();
    CHECK_THROWS_WITH(w.engine().start("greets", flow::args(), {.version = flow::version{7}}), Catch::Contains("version 7"));
    w.settle();
    CHECK(w.view(fresh).row.version == 2);
    for (auto const id : {old, fresh, asked}) w.engine().complete_json(w.view(id).open.at(0).row.id, R"("Ada")");
    w.settle();
    CHECK(w.engine().find(old).end().result == R"("hello Ada")");
    CHECK(w.engine().find(asked).end().result == R"("hello Ada")");
    CHECK(w.engine().find(fresh).end().result == R"("good day Ada")");
}

TEMPLATE_LIST_TEST_CASE("TD-40 a delayed start begins at its time, also when no engine ran then; priority goes before age", "[engine]", every_store)
{
    TestType place;
    world w(place.store, [](flow::engine& e) { e.add<notes>("notes"); });
    auto const later = w.engine().start<notes>("later", {.delay = 1h});
    w.pass(59min);
    CHECK(later.status().execution == flow::execution_status::delayed);
    CHECK(w.view(later.id()).doing == "It waits for its start time.");
    if (GENERATE(false, true)) {
        w.stop();
        w.clock().advance(2min);
        w.restart();
    }
    w.pass(1min);
    CHECK(outside().count("later") == 1);
    w.stop();
    flow::client client(place.again());
    for (int priority : {0, 5, 1, 5}) client.start("notes", flow::args(std::to_string(priority)), {.priority = priority});
    w.restart();
    w.settle();
    CHECK(outside().all() == std::vector<std::string>{"later", "5", "5", "1", "0"});
}
