#include <catch2/catch.hpp>

#include "flow/store_reader.hpp"
#include "support/runs.hpp"
#include "support/stores.hpp"

using namespace flow;
using namespace flow::test;

TEMPLATE_LIST_TEST_CASE("lists are filtered and paged, newest first", "[store][reader]", every_store)
{
    TestType place;
    auto& store = *place.store;
    std::vector<run_id> ids;
    for (int i = 0; i < 10; ++i) {
        auto r = some_run(i % 2 ? "greeting" : "farewell");
        r.at = r.due_at = at(i);
        if (i >= 8) r.tenant = "acme";
        ids.push_back(r.id);
        REQUIRE(store.start(r).value().answer == start_answer::started);
    }
    auto& reader = store.reader();
    run_filter filter;
    filter.limit = 4;
    auto page = reader.runs(filter).value();
    REQUIRE(page.size() == 4);
    CHECK(page[0].id == ids[9]);
    CHECK(page[3].id == ids[6]);
    filter.before = page.back().id;
    page = reader.runs(filter).value();
    CHECK(page[0].id == ids[5]);

    filter = {};
    filter.workflow = "greeting";
    CHECK(reader.runs(filter).value().size() == 5);
    filter.tenant = "acme";
    CHECK(reader.runs(filter).value().size() == 1);
    filter = {};
    filter.since = at(7);
    CHECK(reader.runs(filter).value().size() == 3);
    filter = {};
    filter.status = run_status::running;
    CHECK(reader.runs(filter).value().empty());
    auto run = hold(store, claim_all(store, some_owner(store), {{"greeting", 1}}, 1).at(0));
    CHECK(reader.runs(filter).value().size() == 1);

    auto const token = park(store, run);
    CHECK(reader.waitpoints({}).value().size() == 1);
    waitpoint_filter waits;
    waits.run = run.id();
    waits.status = waitpoint_status::pending;
    waits.purpose = waitpoint_purpose::token;
    CHECK(reader.waitpoints(waits).value().size() == 1);
    waits.purpose = waitpoint_purpose::timer;
    CHECK(reader.waitpoints(waits).value().empty());
    CHECK(store.waitpoint(token.id).value()->run == run.id());
    CHECK_FALSE(store.waitpoint({fresh_uuid()}).value());
    CHECK_FALSE(store.run({fresh_uuid()}).value());
    CHECK_FALSE(store.load({fresh_uuid()}).value());
}

TEMPLATE_LIST_TEST_CASE("a run is found by the beginning of its id", "[store][reader]", every_store)
{
    TestType place;
    auto a = some_run(), b = some_run();
    a.id = {*parse_uuid("01900000-0000-7000-8000-0000000000aa")};
    b.id = {*parse_uuid("01900000-0000-7000-8000-0000000000ab")};
    REQUIRE(place.store->start(a).value().answer == start_answer::started);
    REQUIRE(place.store->start(b).value().answer == start_answer::started);
    auto& reader = place.store->reader();
    CHECK(reader.runs_like("0190").value().size() == 2);
    CHECK(reader.runs_like("01900000-0000-7000-8000-0000000000ab").value().size() == 1);
    CHECK(reader.runs_like("01900000-0000-7000-8000-0000000000AA").value().size() == 1);
    CHECK(reader.runs_like("02").value().empty());
    CHECK(reader.runs_like("").value().empty());
    CHECK(reader.runs_like("%").value().empty());
}

TEMPLATE_LIST_TEST_CASE("runs loaded together are what each is alone, in the order asked for", "[store][load]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto const owner = some_owner(store);
    auto waits = start_and_claim(store, owner), has_mail = start_and_claim(store, owner), goes_on = start_and_claim(store, owner);
    auto const token = park(store, waits);
    applied(store, goes_on, goes_on.steps(3));
    REQUIRE(store.ask(some_request(has_mail.id())).value() == request_fate::left_to_holder);

    auto const ids = std::vector<run_id>{has_mail.id(), {fresh_uuid()}, waits.id(), goes_on.id()};
    auto const together = store.load_all(ids);
    REQUIRE(together.size() == ids.size());
    CHECK_FALSE(together[1].value());
    for (auto const i : {0u, 2u, 3u}) {
        auto const &found = *together[i].value(), alone = *store.load(ids[i]).value();
        CHECK(found.row.id == ids[i]);
        CHECK(found.row.epoch == alone.row.epoch);
        REQUIRE(found.entries.size() == alone.entries.size());
        for (std::size_t n = 0; n < found.entries.size(); ++n) CHECK(found.entries[n].checksum == alone.entries[n].checksum);
        CHECK(found.waitpoints.size() == (i == 2 ? 1 : 0));
        CHECK(found.mailbox.size() == (i == 0 ? 1 : 0));
    }
    CHECK(together[2].value()->waitpoints.front().id == token.id);
    CHECK(store.load_all({}).empty());
}

TEMPLATE_LIST_TEST_CASE("a long journal is appended and loaded in time linear in its length", "[store][load][slow]", every_store)
{
    TestType place;
    auto run = start_and_claim(*place.store, some_owner(*place.store));
    auto const append = [&](int groups) {
        auto const begin = std::chrono::steady_clock::now();
        for (int i = 0; i < groups; ++i) applied(*place.store, run, run.steps(1000));
        return std::chrono::steady_clock::now() - begin;
    };
    auto const first = append(20);
    append(60);
    auto const last = append(20);
    CHECK(last < 5 * first + std::chrono::milliseconds{200});
    CHECK(place.store->load(run.id()).value()->entries.size() == 100'003);
}

TEMPLATE_LIST_TEST_CASE("what a run has published: the newest of each key, and all in order", "[store][reading]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto run = start_and_claim(store, some_owner(store));
    auto const publish = [&](std::vector<std::pair<std::string, std::string>> const& values) {
        auto g = run.steps(values.size());
        for (std::size_t i = 0; i < values.size(); ++i) {
            auto& e = g.entries[i];
            e.kind = entry_kind::published;
            e.name = values[i].first;
            e.payload = values[i].second;
            e.in_blob = e.payload.size() > 1000;
            seal(e, run.id());
        }
        applied(store, run, g);
    };
    auto& reader = store.reader();
    CHECK(reader.published(run.id()).value().empty());
    publish({{"b", "1"}, {"a", "2"}, {"b", "3"}});
    applied(store, run, run.steps(2));
    publish({{"b", "4"}, {"\xc3\xa4", '"' + std::string(2000, 'x') + '"'}});

    auto const newest = reader.published(run.id()).value();
    REQUIRE(newest.size() == 3);
    CHECK(newest[0].name == "a");
    CHECK(newest[0].payload == "2");
    CHECK(newest[1].name == "b");
    CHECK(newest[1].payload == "4");
    CHECK(newest[2].in_blob);
    CHECK(store.load_blob(newest[2].hash).value().size() == 2002);

    auto const all = reader.publications(run.id(), seq_no::none, 3).value();
    REQUIRE(all.size() == 3);
    CHECK(all[2].payload == "3");
    auto const rest = reader.publications(run.id(), all[2].seq, 100).value();
    REQUIRE(rest.size() == 2);
    CHECK(rest[0].payload == "4");
    CHECK(reader.published({fresh_uuid()}).value().empty());
    CHECK(reader.publications({fresh_uuid()}, seq_no::none, 10).value().empty());
}
