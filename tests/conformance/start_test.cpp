#include <atomic>

#include <catch2/catch.hpp>

#include "flow/store_reader.hpp"
#include "src/plans.hpp"
#include "support/runs.hpp"
#include "support/stores.hpp"

using namespace flow;
using namespace flow::test;

TEMPLATE_LIST_TEST_CASE("a start writes its row, its start entry and its first snapshot", "[store][start]", every_store)
{
    TestType place;
    auto what = some_run("greeting", "monday");
    what.tenant = "acme";
    what.tags = "a,b";
    what.priority = 7;
    auto const s = place.store->start(what).value();
    CHECK(s.answer == start_answer::started);
    CHECK(s.id == what.id);

    auto const run = place.store->load(what.id).value();
    REQUIRE(run);
    CHECK(run->row.status == status_pair{execution_status::queued, run_status::queued});
    CHECK(run->row.epoch == epoch_no{});
    CHECK(run->row.owner == owner_id::nobody);
    CHECK(run->row.priority == 7);
    CHECK(run->row.snapshot == seq_no{2});
    CHECK(parse_wait_reason(run->row.reason).type == wait_reason::kind::queue);
    REQUIRE(run->entries.size() == 2);
    CHECK(run->entries[0].kind == entry_kind::start);
    CHECK(run->entries[0].payload == what.arguments);
    CHECK(run->entries[0].shape_in == "(str)");
    CHECK(run->entries[1].kind == entry_kind::snapshot);
    CHECK(run->entries[1].name == "enqueue");
    for (auto const& e : run->entries) CHECK(e.checksum == checksum_of(e, what.id));
    CHECK(place.store->reader().run_by_key("acme", "monday").value()->id == what.id);
}

TEMPLATE_LIST_TEST_CASE("the same start under one key is the same run, another is a conflict", "[store][start]", every_store)
{
    TestType place;
    auto const first = some_run("greeting", "monday");
    REQUIRE(place.store->start(first).value().answer == start_answer::started);

    SECTION("the same id again") { CHECK(place.store->start(first).value().answer == start_answer::existing); }
    SECTION("another id, the same start")
    {
        auto const s = place.store->start(some_run("greeting", "monday")).value();
        CHECK(s.answer == start_answer::existing);
        CHECK(s.id == first.id);
    }
    SECTION("other arguments")
    {
        auto other = some_run("greeting", "monday");
        other.arguments = R"(["bob"])";
        CHECK(place.store->start(other).value().answer == start_answer::conflict);
    }
    SECTION("another workflow") { CHECK(place.store->start(some_run("farewell", "monday")).value().answer == start_answer::conflict); }
    SECTION("another version counts only if it was given")
    {
        auto other = some_run("greeting", "monday");
        other.version = 2;
        CHECK(place.store->start(other).value().answer == start_answer::existing);
        other.version_given = true;
        CHECK(place.store->start(other).value().answer == start_answer::conflict);
    }
    SECTION("another tenant has keys of its own")
    {
        auto other = some_run("farewell", "monday");
        other.tenant = "acme";
        CHECK(place.store->start(other).value().answer == start_answer::started);
    }
    SECTION("no key is no key")
    {
        CHECK(place.store->start(some_run()).value().answer == start_answer::started);
        CHECK(place.store->start(some_run()).value().answer == start_answer::started);
    }
}

TEMPLATE_LIST_TEST_CASE("a hundred starts under one key from many threads make one run", "[store][start]", every_store)
{
    TestType place;
    auto const other = place.again();
    std::atomic<int> started{0}, existing{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 10; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 10; ++i) {
                auto& s = t % 2 ? *place.store : *other;
                auto const answer = s.start(some_run("greeting", "one")).value().answer;
                ++(answer == start_answer::started ? started : existing);
            }
        });
    for (auto& t : threads) t.join();
    CHECK(started == 1);
    CHECK(existing == 99);
    CHECK(place.store->reader().runs({}).value().size() == 1);
}

TEMPLATE_LIST_TEST_CASE("a run with a later due instant is delayed until a scan finds it due", "[store][start]", every_store)
{
    TestType place;
    auto what = some_run();
    what.due_at = at(100);
    REQUIRE(place.store->start(what).value().row.status == status_pair{execution_status::delayed, run_status::created});
    auto const owner = some_owner(*place.store);
    CHECK(claim_all(*place.store, owner).empty());
    CHECK(place.store->next_due().value() == at(100));
    CHECK(place.store->scan(at(99), 10).value() == 0);
    CHECK(place.store->scan(at(100), 10).value() == 1);
    CHECK(place.store->next_due().value() == never);
    CHECK(claim_all(*place.store, owner).size() == 1);
}

TEMPLATE_LIST_TEST_CASE("large arguments lie in a blob", "[store][blob]", every_store)
{
    TestType place;
    auto what = some_run();
    what.arguments = "[\"" + std::string(detail::blob_threshold, 'x') + "\"]";
    REQUIRE(place.store->start(what).value().answer == start_answer::started);
    auto const run = place.store->load(what.id).value();
    REQUIRE(run->entries[0].in_blob);
    CHECK(run->entries[0].payload.empty());
    CHECK(run->entries[0].checksum == checksum_of(run->entries[0], what.id));
    CHECK(place.store->load_blob(run->entries[0].hash).value() == what.arguments);
    CHECK(place.store->load_blob(run->entries[0].hash).value() == what.arguments);
    CHECK(place.store->load_blob(sha256("never stored")).error().code() == errc::store_corrupt);
}
