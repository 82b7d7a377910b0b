#include <catch2/catch.hpp>

#include "support/fault_store.hpp"
#include "support/runs.hpp"
#include "support/stores.hpp"

using namespace flow;
using namespace flow::test;

TEMPLATE_LIST_TEST_CASE("the faulty store spoils the planned call and only what follows from it", "[store][rig]", every_store)
{
    TestType place;
    fault_store faulty(place.store);
    auto const before = some_run();
    REQUIRE(faulty.start(before).has_value());
    auto const what = some_run();
    faulty.plan(1, fault::fail, errc::store_full);
    CHECK(faulty.start(what).error().code() == errc::store_full);
    CHECK(faulty.reached());
    CHECK_FALSE(place.store->load(what.id).value());
    faulty.plan(1, fault::doubt);
    CHECK(faulty.start(what).error().code() == errc::commit_unknown);
    CHECK(faulty.start(what).value().answer == start_answer::existing);
    CHECK(faulty.writes() == 4);

    auto const lost = some_run();
    bool const written = GENERATE(false, true);
    faulty.plan(1, written ? fault::crash : fault::lose);
    CHECK(faulty.start(lost).error().code() == errc::store_unavailable);
    CHECK(faulty.load(before.id).error().code() == errc::store_unavailable);
    CHECK(place.store->load(lost.id).value().has_value() == written);
}
