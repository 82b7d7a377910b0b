#include <catch2/catch.hpp>

#include "flow/store_reader.hpp"
#include "support/runs.hpp"
#include "support/stores.hpp"

using namespace flow;
using namespace flow::test;

TEMPLATE_LIST_TEST_CASE("SE-01: every text is data, whatever it holds", "[store][security]", every_store)
{
    auto const text = GENERATE(as<std::string>{}, "'", "\"", ";drop table runs;--", "/*", "%", "_", "[a]", "\\", "a\nb", "\xf0\x9f\xa6\x8a",
                               "\xff\xfe", std::string("a\0b", 3), std::string(10'000, '\''));
    TestType place;
    auto& store = *place.store;
    auto const owner = store.add_owner({text, 1, at(0)}).value();
    auto what = some_run(text, text);
    what.tenant = what.queue = what.tags = what.arguments_shape = what.by = what.why = text;
    REQUIRE(store.start(what).value().answer == start_answer::started);
    CHECK(store.start(some_run(text, text)).value().answer == start_answer::started);  // of another tenant
    auto twice = what;
    twice.id = {fresh_uuid()};
    CHECK(store.start(twice).value().answer == start_answer::existing);

    auto const taken = claim_all(store, owner, {{text, 1}});
    REQUIRE(taken.size() == 2);
    auto run = hold(store, taken[0].row.id == what.id ? taken[0] : taken[1]);
    auto token = some_token(text);
    token.idempotency_key = token.shape = token.options = text;
    auto g = run.change(status_event::block);
    for (auto& e : g.entries) e.place = e.path = e.commit_ref = e.why = e.by = text;
    held_run::seal(g);
    g.effects = {insert_waitpoint{token}, add_edge{token.id, text, text}};
    g.change->reason = g.change->terminal_reason = text;
    applied(store, run, g);

    auto asked = some_request(run.id());
    asked.payload = asked.by = asked.why = text;
    CHECK(store.ask(asked).value() == request_fate::left_to_holder);
    auto done = some_completion(token.id, text);
    done.by = done.why = text;
    CHECK(store.complete(done).value() == completion_answer::completed);
    CHECK(store.complete(done).value() == completion_answer::already_same);

    auto const loaded = store.load(run.id()).value();
    CHECK(loaded->row.workflow == text);
    CHECK(loaded->row.tags == text);
    CHECK(loaded->row.reason == text);
    CHECK(loaded->entries[0].by == text);
    CHECK(loaded->entries.back() == g.entries.back());
    REQUIRE(loaded->waitpoints.size() == 1);
    CHECK(loaded->waitpoints[0].name == text);
    CHECK(loaded->waitpoints[0].output == text);
    REQUIRE(loaded->mailbox.size() == 1);
    CHECK(loaded->mailbox[0].payload == text);
    CHECK(store.reader().owners().value()[0].name == text);
    run_filter filter;
    filter.workflow = filter.tenant = text;
    CHECK(store.reader().runs(filter).value().size() == 1);
    filter.workflow = text + "x";
    CHECK(store.reader().runs(filter).value().empty());
    CHECK(store.reader().run_by_key(text, text).value()->id == what.id);
    CHECK(store.reader().runs_like(text).value().empty());
}
