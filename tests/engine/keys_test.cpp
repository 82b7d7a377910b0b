// SX-03: the key that an outside service tells repetitions by.
#include <catch2/catch.hpp>

#include <set>
#include <utility>

#include "engine/dying.hpp"
#include "flow/flow.hpp"
#include "support/stores.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

// A function can read its key and nothing else.
using key_type = decltype(std::declval<flow::attempt&>().key());
static_assert(std::is_same_v<key_type, std::string_view>);
static_assert(!std::is_assignable_v<decltype(std::declval<key_type>()[0]), char>);
static_assert(!std::is_copy_assignable_v<flow::attempt> && !std::is_copy_constructible_v<flow::attempt>);

std::map<std::string, std::vector<std::string>> keys;  ///< shown outside, by who called
int troubles = 0;
std::function<void()> before_effect;

int show_key(std::string const& who, flow::attempt& a)
{
    keys[who].emplace_back(a.key());
    return a.number();
}

int charge(flow::attempt& a)
{
    show_key("charge", a);
    a.commit_ref("another " + std::string(a.key()));
    show_key("charge", a);
    switch (++troubles) {
    case 1: throw std::runtime_error("first failure");
    case 2: before_effect(); return 0;  // K2: it dies before it has done anything
    case 3: throw std::runtime_error("second failure");
    default: outside().note("charged"); return a.number();
    }
}

flow::workflow<int> charges_inside()
{
    co_return co_await flow::step("charge", flow::idempotent, [](flow::attempt& a) { return show_key("inside", a); });
}

flow::workflow<int> charges(bool with_trouble)
{
    int n = 0;
    if (with_trouble) n = co_await flow::step("charge", flow::idempotent, charge);
    for (int turn = 0; turn < 3; ++turn)
        co_await flow::step("charge", flow::idempotent, [](flow::attempt& a) { return show_key("turn", a); });
    co_await charges_inside();
    co_await charges_inside();
    auto const [left, right] =
        co_await flow::all(flow::step("charge", flow::idempotent, [](flow::attempt& a) { return show_key("branch", a); }),
                           flow::step("charge", flow::idempotent, [](flow::attempt& a) { return show_key("branch", a); }));
    co_return n + left + right;
}

void add_all(flow::engine& e) { e.add<charges>("charges"); }

std::set<std::string> distinct(std::vector<std::string> const& all) { return {all.begin(), all.end()}; }

}  // namespace

TEMPLATE_LIST_TEST_CASE("SX-03 a step has one key over all attempts and restarts, and shares it with no other", "[engine][step]",
                        every_store)
{
    keys.clear();
    troubles = 0;
    dying_place<TestType> place;
    before_effect = [&] { place.cut_off(); };
    world w(place.open(), add_all);
    auto const id = w.engine().template start<charges>(true).id();
    w.pass(1h);
    REQUIRE(troubles == 2);
    place.die(w);
    w.pass(1h);
    REQUIRE(troubles == 4);
    CHECK(outside().count("charged") == 1);
    CHECK(w.entries(id, flow::entry_kind::attempt_failed) == 2);
    REQUIRE(w.status(id) == flow::run_status::succeeded);

    CHECK(keys["charge"].size() == 8);
    CHECK(distinct(keys["charge"]).size() == 1);
    CHECK(distinct(keys["turn"]).size() == 3);
    CHECK(distinct(keys["inside"]).size() == 2);
    CHECK(distinct(keys["branch"]).size() == 2);

    w.engine().template start<charges>(false);
    w.settle();
    std::vector<std::string> all = {keys["charge"].front()};
    for (auto const* who : {"turn", "inside", "branch"}) all.insert(all.end(), keys[who].begin(), keys[who].end());
    CHECK(all.size() == 1 + 2 * (3 + 2 + 2));
    CHECK(distinct(all).size() == all.size());  // of another turn, sub-workflow, branch and run, another key each
    for (auto const& key : all) {
        CHECK(key.size() <= 64);
        CHECK(key.find_first_not_of("0123456789abcdef") == key.npos);
    }
}
