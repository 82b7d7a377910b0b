// Values through the engine and back: exact, bounded, and told apart.
#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <limits>

#include "flow/flow.hpp"
#include "flow/store_reader.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

struct nothing_in_it {};
struct odd_values {
    std::vector<double> doubles;
    std::vector<std::int64_t> integers;
    std::uint64_t largest = 0;
    std::string bytes;
    std::vector<int> empty_list;
    std::string empty_text;
    std::optional<int> empty_optional;
    nothing_in_it empty;
};

odd_values make_odd()
{
    odd_values v;
    v.doubles = {1.5, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                 -std::numeric_limits<double>::infinity(), -0.0, 1e50, std::numeric_limits<double>::denorm_min(), 0.1 + 0.2};
    v.integers = {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(), (std::int64_t{1} << 53) + 1};
    v.largest = std::numeric_limits<std::uint64_t>::max();
    v.bytes = std::string("a\0b\xff\xfe", 5);
    return v;
}

bool same(odd_values const& a, odd_values const& b)
{
    bool equal = a.integers == b.integers && a.largest == b.largest && a.bytes == b.bytes && a.empty_list == b.empty_list &&
                 a.empty_text == b.empty_text && a.empty_optional == b.empty_optional && a.doubles.size() == b.doubles.size();
    for (std::size_t i = 0; equal && i < a.doubles.size(); ++i)
        equal = std::isnan(a.doubles[i]) ? std::isnan(b.doubles[i]) : std::memcmp(&a.doubles[i], &b.doubles[i], sizeof(double)) == 0;
    return equal;
}

flow::workflow<bool> keeps_values()
{
    auto const made = co_await flow::step("make", flow::idempotent, [] { return outside().note("make"), make_odd(); });
    auto const moved = co_await flow::step("move only", flow::idempotent, [] { return std::make_unique<int>(7); });
    co_await flow::step("void", flow::idempotent, [] {});
    auto const none = co_await flow::step("none", flow::idempotent, [] { return std::optional<std::string>(); });
    auto const told = co_await flow::wait_for_token<odd_values>("odd");
    co_return same(made, make_odd()) && same(told, make_odd()) && *moved == 7 && !none;
}

flow::workflow<std::size_t> makes_text(std::size_t bytes)
{
    auto const r = co_await flow::as_outcome(flow::step("big", flow::idempotent, [&] {
        outside().note("big");
        return std::string(bytes, 'x');
    }));
    co_await flow::sleep_for(1h);
    co_return r ? r->size() : 0;
}

flow::workflow<int> grows()
{
    std::vector<int> state;
    for (int i = 0; i < 1000; ++i)
        state.push_back(co_await flow::step("next", flow::replayable, [&] { return static_cast<int>(state.size()); }, {.inline_ = true}));
    co_return static_cast<int>(state.size());
}

flow::workflow<std::string> fails_with(std::string text)
{
    auto const r = co_await flow::as_outcome(flow::step("fail", flow::idempotent, [&] { throw flow::permanent_error(text); }));
    co_return r ? "" : r.error().message();
}

void add_all(flow::engine& e)
{
    e.add<keeps_values>("keeps_values");
    e.add<makes_text>("makes_text");
    e.add<grows>("grows");
    e.add<fails_with>("fails_with");
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("PL-01 PL-05 PL-06 PL-10 odd values come back exactly from output, token and replay", "[engine][codec]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const id = w.engine().start<keeps_values>().id();
    w.settle();
    w.engine().complete(flow::token<odd_values>(w.open_token("odd")), make_odd());
    w.restart();
    w.settle();
    CHECK(w.engine().find(id).end().result == "true");
    CHECK(outside().count("make") == 1);
}

TEMPLATE_LIST_TEST_CASE("PL-03 sizes up to the limit are kept, one more byte is a failure of the step that names it", "[engine][codec]", every_store)
{
    flow::engine_options o;
    o.max_payload = 300'000;
    auto const quotes = std::size_t{2};
    for (std::size_t const bytes : {std::size_t{0}, std::size_t{1}, 100'000 - quotes, 100'001 - quotes, o.max_payload - 1 - quotes, o.max_payload - quotes}) {
        CAPTURE(bytes);
        TestType place;
        world w(place.store, add_all, o);
        auto const id = w.engine().start<makes_text>(bytes).id();
        w.settle();
        w.restart();
        w.pass(1h);
        CHECK(w.engine().find(id).end().result == std::to_string(bytes));
        CHECK(outside().count("big") == 1);
        bool blob = false;
        for (auto const& e : w.journal(id)) blob = blob || (e.kind == flow::entry_kind::step && e.in_blob);
        CHECK(blob == (bytes + quotes > 100'000));  // BD-02's threshold
    }
    TestType place;
    world w(place.store, add_all, o);
    auto const id = w.engine().start<makes_text>(o.max_payload - quotes + 1).id();
    w.settle();
    // It happened, so it is never run again for it: a person gives an output (P28).
    auto const v = w.view(id);
    REQUIRE(v.waits_for.type == flow::wait_reason::kind::intervention);
    CHECK(v.steps.front().place == "big#0");
    CHECK(outside().count("big") == 1);
    w.engine().decide(w.engine().intervention_of(id), "complete", R"("short")");
    w.pass(1h);
    CHECK(w.engine().find(id).end().result == "5");
    CHECK(outside().count("big") == 1);
}

TEST_CASE("PF-09 stored bytes grow with the outputs, not with what the closure captured", "[engine]")
{
    memory_stores place;
    world w(place.store, add_all);
    auto run = w.engine().start<grows>();
    w.settle();
    CHECK(run.result() == 1000);
    std::size_t bytes = 0;
    for (auto const& e : w.journal(run.id())) bytes += e.payload.size();
    CHECK(bytes < 10'000);
}

TEMPLATE_LIST_TEST_CASE("PL-01 SX-06 error texts come back byte for byte: empty, with NUL, long ones cut at 64 KB", "[engine][codec]", every_store)
{
    for (auto const& text : {std::string(), std::string("a\0b\n\x1b[31m", 9), std::string(60'000, 'y')}) {
        TestType place;
        world w(place.store, add_all);
        auto run = w.engine().start<fails_with>(text);
        w.settle();
        CHECK(run.result() == text);
    }
    memory_stores place;
    world w(place.store, add_all);
    auto run = w.engine().start<fails_with>(std::string(1'000'000, 'z'));
    w.settle();
    CHECK(run.result().size() == 64 * 1024);
}
