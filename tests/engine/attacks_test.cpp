// Found by people who tried to break it: each was once a way to lose a process, a run or an answer.
#include <catch2/catch.hpp>

#include <filesystem>
#include <thread>

#include "flow/flow.hpp"
#include "support/eventually.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

/// A type whose reader throws instead of saying no.
struct cents {
    int value = 0;
};
template <>
struct flow::codec_traits<cents> {
    static constexpr std::string_view shape = "cents";
    static std::string to_text(cents const& c) { return std::to_string(c.value); }
    static bool from_text(std::string_view text, cents& into) { return into.value = std::stoi(std::string(text)), true; }
};

namespace {

flow::workflow<int> refused_by_the_bank(int undo)
{
    auto fn = [] {
        outside().note("pay");
        throw std::runtime_error("refused");
        return 0;
    };
    flow::step_options const policy{.retry = {.max_attempts = 3, .first_delay = 1s}};
    if (undo != 0) co_return co_await flow::step("pay", flow::non_replayable, fn, policy).compensate([] {});
    co_return co_await flow::step("pay", flow::non_replayable, fn, policy).reconcile([] { return flow::reconciled<int>::not_done(); });
}

flow::workflow<int> takes_cents(cents c) { co_return c.value; }

flow::workflow<int> asks_for_cents()
{
    auto const c = co_await flow::wait_for_token<cents>("how much");
    co_return c.value;
}

flow::workflow<int> asks_for_a_token()
{
    auto const t = co_await flow::wait_for_token<flow::token<int>>("which");
    co_return t == flow::token<int>() ? 0 : 1;
}

flow::workflow<std::string> waits_for_nothing()
{
    flow::token<int> const none;
    auto const r = co_await flow::as_outcome(flow::wait_for_token(none));
    co_return r ? "answered" : std::string(flow::row_of(r.error().code()).name);
}

flow::workflow<int> waits()
{
    co_return co_await flow::wait_for_token<int>("answer");
}

int high = 5;
flow::workflow<int> rolls()
{
    auto const n = co_await flow::random<int>(0, high);
    co_await flow::sleep_for(1h);
    co_return n;
}

struct silent : std::exception {
    char const* what() const noexcept override { return nullptr; }
};
flow::workflow<int> throws_silence()
{
    co_return co_await flow::step("quiet", flow::replayable, []() -> int { throw silent(); }, {.retry = {.max_attempts = 1}});
}

void add_all(flow::engine& e)
{
    e.add<refused_by_the_bank>("refused_by_the_bank");
    e.add<takes_cents>("takes_cents");
    e.add<asks_for_cents>("asks_for_cents");
    e.add<asks_for_a_token>("asks_for_a_token");
    e.add<waits_for_nothing>("waits_for_nothing");
    e.add<waits>("waits");
    e.add<rolls>("rolls");
    e.add<throws_silence>("throws_silence");
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a step that is found not to have happened keeps to its retry policy", "[engine][step]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const undo = GENERATE(0, 1);
    auto const id = w.engine().start<refused_by_the_bank>(undo).id();
    w.settle();
    CHECK(outside().count("pay") == 1);
    if (GENERATE(false, true)) w.restart();
    w.pass(10min);
    CHECK(outside().count("pay") == 3);
    auto const e = w.engine().find(id).end();
    REQUIRE(e.failure);
    CHECK(e.failure->code() == flow::errc::step_failed);
    CHECK(e.failure->message() == "refused");
    CHECK(e.failure->attempts() == 3);
}

TEMPLATE_LIST_TEST_CASE("a type's reader that throws costs no process: its run is held and says why", "[engine][faults]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const by_argument = flow::client(place.store).start("takes_cents", flow::args::json(R"(["abc"])")).id();
    auto const by_answer = w.engine().start<asks_for_cents>().id();
    w.settle();
    w.engine().complete_json(w.open_token("how much"), R"("abc")");
    w.settle();
    for (auto const id : {by_argument, by_answer}) {
        CHECK(w.status(id) == flow::run_status::held);
        CHECK(w.view(id).waits_for.id == "undecodable");
        CHECK_THAT(w.view(id).doing, Catch::Contains("stoi"));
    }
}

TEST_CASE("a token's own text is checked before it counts as an answer", "[engine][wait]")
{
    memory_stores place;
    world w(place.store, add_all);
    auto run = w.engine().start<asks_for_a_token>();
    w.settle();
    auto const id = w.open_token("which");
    CHECK_THROWS_WITH(w.engine().complete_json(id, R"("abc")"), Catch::Contains("wrong_shape"));
    w.engine().complete_json(id, '"' + to_string(id) + '"');
    w.settle();
    CHECK(run.result() == 1);
}

TEMPLATE_LIST_TEST_CASE("a wait for a token that nobody made ends at once", "[engine][wait]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const id = w.engine().start<waits_for_nothing>().id();
    w.settle();
    CHECK(w.engine().find(id).end().result == R"("unknown_token")");
    CHECK(w.log.empty());
}

TEST_CASE("whoever waits for a run is told when its engine stops", "[engine][lifetime]")
{
    memory_stores place;
    flow::engine_options o;
    o.threads = 1;
    std::optional<flow::engine> engine;
    engine.emplace(place.store, o);
    add_all(*engine);
    auto const run = engine->start<waits>();
    std::string told;
    std::thread waiter([&] {
        try {
            run.result();
        } catch (flow::error const& e) {
            told = flow::row_of(e.code()).name;
        }
    });
    REQUIRE(eventually([&] { return run.status().run == flow::run_status::waiting; }));
    engine.reset();
    waiter.join();
    CHECK(told == "engine_stopped");
    CHECK_FALSE(run.wait(1h));
}

TEST_CASE("other bounds of a random number are noticed on replay, and bounds that are not finite are refused", "[engine][replay]")
{
    memory_stores place;
    world w(place.store, add_all);
    high = 5;
    auto const id = w.engine().start<rolls>().id();
    w.settle();
    high = 500;
    w.restart();
    w.settle();
    CHECK(w.status(id) == flow::run_status::held);
    high = 5;
    w.restart();
    w.pass(2h);
    CHECK(w.status(id) == flow::run_status::succeeded);
    CHECK_THROWS_WITH(flow::random(0.0, std::numeric_limits<double>::infinity()), Catch::Contains("finite"));
    CHECK(flow::detail::scaled(~0ULL, -1.7e308, 1.7e308) < 1.7e308);
}

TEST_CASE("an exception without words is a failure like any other", "[engine][step]")
{
    memory_stores place;
    world w(place.store, add_all);
    auto run = w.engine().start<throws_silence>();
    w.settle();
    CHECK(run.try_result().error().code() == flow::errc::step_failed);
}

TEST_CASE("arguments keep to the limit of payloads", "[engine]")
{
    memory_stores place;
    flow::engine_options o;
    o.max_payload = 1000;
    world w(place.store, add_all, o);
    CHECK_THROWS_WITH(w.engine().start("takes_cents", flow::args(std::string(2000, '1'))), Catch::Contains("the limit is 1000"));
}

TEST_CASE("a database file that goes away under an engine is told", "[engine][sqlite]")
{
    sqlite_stores place;
    world w(place.store, add_all);
    w.settle();
    CHECK(w.engine().health().healthy());
    std::filesystem::rename(place.file, place.file + ".gone");
    auto const findings = w.engine().health().findings;
    REQUIRE(findings.size() == 1);
    CHECK_THAT(findings[0].text, Catch::Contains("was deleted, moved or replaced"));
    std::filesystem::rename(place.file + ".gone", place.file);
    CHECK(w.engine().health().healthy());
    CHECK_THROWS_WITH(flow::sqlite(""), Catch::Contains("name the database file"));
    CHECK_THROWS_WITH(flow::sqlite(":memory:"), Catch::Contains("flow::memory()"));
}
