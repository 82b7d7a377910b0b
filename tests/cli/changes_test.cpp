// flow complete, decide, cancel, resume: what changes something, and every way it may be refused.
#include "calls.hpp"
#include "samples.hpp"
#include "support/stores.hpp"

using namespace std::chrono_literals;
using namespace flow::test;
using Catch::Contains;

namespace {

flow::workflow<int> draws()
{
    co_return co_await flow::begin_step<int>("draw", flow::idempotent, [](flow::token<int> const&) {}, {.retry = {.max_attempts = 1}});
}

std::string error_name(said const& r) { return std::string(r.json().at("error").at("name").as_string()); }

}  // namespace

TEMPLATE_LIST_TEST_CASE("a token is found by its id, a beginning of it, its run, and its run's key", "[cli]", every_store)
{
    TestType place;
    world w(place.store, add_samples);
    auto const run = w.engine().start<asks_for_number>({.idempotency_key = "n-1"});
    w.settle();
    auto const token = to_string(w.open_token());
    auto const which = GENERATE_COPY(values<std::string>({"id", "beginning", "upper case", "run", "beginning of run", "key"}));
    INFO(which);
    std::string word = token;
    if (which == "beginning") word = token.substr(0, 6);
    if (which == "upper case")
        std::transform(word.begin(), word.end(), word.begin(), [](char c) { return static_cast<char>(std::toupper(c)); });
    if (which == "run") word = to_string(run.id());
    if (which == "beginning of run") word = to_string(run.id()).substr(0, 20);
    if (which == "key") word = "key:n-1";
    auto const r = call(w.engine(), {"complete", word, "42", "--by", "alice", "--why", "counted"});
    CHECK(r.code == 0);
    CHECK_THAT(r.out, Contains("number#0 of run " + to_string(run.id()) + " is completed."));
    w.settle();
    CHECK(run.result() == 42);
    auto const entries = w.journal(run.id());
    auto const waited =
        std::find_if(entries.begin(), entries.end(), [](auto const& e) { return e.kind == flow::entry_kind::waited; });
    REQUIRE(waited != entries.end());
    CHECK(waited->by == "alice");
    CHECK(waited->why == "counted");
}

TEST_CASE("a negative number and a list are JSON, not options", "[cli]")
{
    memory_stores place;
    world w(place.store, add_samples);
    auto const number = w.engine().start<asks_for_number>();
    auto const list = w.engine().start<asks_for_list>();
    w.settle();
    CHECK(call(w.engine(), {"complete", to_string(number.id()), "-5"}).code == 0);
    CHECK(call(w.engine(), {"complete", to_string(list.id()), "[1, -2]"}).code == 0);
    w.settle();
    CHECK(number.result() == -5);
    CHECK(list.result() == std::vector<int>{1, -2});
}

TEST_CASE("fail ends the attempt of a step that ends elsewhere, or the wait for a token, with the sentence given", "[cli]")
{
    memory_stores place;
    world w(place.store, [](flow::engine& e) { add_samples(e), e.add<draws>("draws"); });
    auto const picture = w.engine().start<draws>();
    auto const number = w.engine().start<asks_for_number>();
    w.settle();
    auto const told = call(w.engine(), {"fail", to_string(picture.id()), "the screen is black", "--by", "ann"});
    CHECK_THAT(told.out, Contains("draw#0") && Contains("has failed."));
    CHECK_THAT(call(w.engine(), {"fail", to_string(number.id()), "nobody counts", "--json"}).out, Contains("\"counted\":true"));
    w.settle();
    w.pass(1min);
    CHECK(w.status(picture.id()) == flow::run_status::failed);
    CHECK_THAT(call(w.engine(), {"show", to_string(picture.id())}).out, Contains("the screen is black"));
    CHECK_THAT(call(w.engine(), {"show", to_string(number.id())}).out, Contains("nobody counts"));
    CHECK(call(w.engine(), {"fail", to_string(picture.id()), "again"}).code == 1);  // nothing is open any more
}

TEMPLATE_LIST_TEST_CASE("complete says what became of it", "[cli]", every_store)
{
    TestType place;
    world w(place.store, add_samples);
    auto const run = w.engine().start<asks_twice>();
    w.settle();
    auto const first = to_string(w.open_token("first"));
    auto& e = w.engine();

    auto const several = call(e, {"complete", to_string(run.id()), "1"});
    CHECK(several.code == 1);
    CHECK_THAT(several.err, Contains("has 2 open tokens, name one of them") && Contains(first));

    auto const shape = call(e, {"complete", first, "\"one\"", "--json"});
    CHECK(shape.code == 3);
    CHECK(error_name(shape) == "wrong_shape");
    auto const text = call(e, {"complete", first, "{one", "--json"});
    CHECK(text.code == 2);
    CHECK(error_name(text) == "bad_payload");

    auto const done = call(e, {"complete", first, "1", "--json"});
    CHECK(done.code == 0);
    CHECK(done.json().at("counted").as_bool());
    CHECK(done.json().at("token").as_string() == first.c_str());
    CHECK(done.json().at("run").as_string() == to_string(run.id()).c_str());
    auto const again = call(e, {"complete", first, "1"});
    CHECK(again.code == 0);
    CHECK_THAT(again.out, Contains("completed before with the same value"));
    auto const other = call(e, {"complete", first.substr(0, 12), "2", "--json"});
    CHECK(other.code == 3);
    CHECK(error_name(other) == "token_conflict");
    CHECK(other.json().at("error").at("code").as_int64() == 408);
    CHECK(other.json().at("error").at("next").as_string() == "look_first");
}

TEMPLATE_LIST_TEST_CASE("a token that was withdrawn is refused", "[cli]", every_store)
{
    TestType place;
    world w(place.store, add_samples);
    auto const run = w.engine().start<asks_for_number>();
    w.settle();
    auto const token = to_string(w.open_token());
    w.engine().cancel(run.id());
    w.settle();
    auto const r = call(w.engine(), {"complete", token, "1", "--json"});
    CHECK(r.code == 3);
    CHECK(error_name(r) == "token_ended");
    CHECK(call(w.engine(), {"complete", to_string(run.id()), "1"}).code == 1);
}

TEMPLATE_LIST_TEST_CASE("decide takes a choice that is offered, once", "[cli]", every_store)
{
    TestType place;
    world w(place.store, add_samples);
    auto const run = w.engine().start<pays>();
    w.settle();
    auto const id = to_string(run.id());
    auto& e = w.engine();

    auto const unknown = call(e, {"decide", id, "explode", "--json"});
    CHECK(unknown.code == 3);
    CHECK(error_name(unknown) == "bad_choice");
    CHECK(call(e, {"decide", id, "complete", "--output", "7"}).code == 3);
    CHECK(call(e, {"decide", id, "complete"}).code == 3);

    auto const which = to_string(e.intervention_of(run.id()));
    auto const done = call(e, {"decide", which.substr(0, 10), "complete", "--output", R"("r-1")", "--json"});
    CHECK(done.code == 0);
    CHECK(done.json().at("intervention").as_string() == which.c_str());
    CHECK(done.json().at("choice").as_string() == "complete");
    auto const otherwise = call(e, {"decide", which, "skip", "--json"});
    CHECK(otherwise.code == 3);
    CHECK(error_name(otherwise) == "token_conflict");
    w.settle();
    CHECK(run.result() == "r-1");
    auto const none = call(e, {"decide", id, "skip", "--json"});
    CHECK(none.code == 1);
    CHECK(error_name(none) == "unknown_intervention");
}

TEST_CASE("a choice that is also a verb's name is a choice", "[cli]")
{
    memory_stores place;
    world w(place.store, add_samples);
    auto const run = w.engine().start<pays>({.idempotency_key = "runs", .tenant = "acme"});
    w.settle();
    CHECK(call(w.engine(), {"decide", "key:runs", "cancel"}).code == 1);  // another tenant's
    CHECK(call(w.engine(), {"decide", "key:runs", "cancel", "--tenant", "acme"}).code == 0);
    w.settle();
    CHECK(w.status(run.id()) == flow::run_status::cancelled);
}

TEMPLATE_LIST_TEST_CASE("cancel tells whether it was taken, left to the holder, or too late", "[cli]", every_store)
{
    TestType place;
    world w(place.store, add_samples);
    auto& e = w.engine();

    auto const held = e.start<sleeps_and_cleans_up>();
    w.settle();
    auto const left = call(e, {"cancel", to_string(held.id()), "--by", "alice", "--why", "not needed", "--json"});
    CHECK(left.code == 0);
    CHECK(left.json().at("fate").as_string() == "left_to_holder");
    CHECK(left.json().at("request").as_string() == "cancel");
    auto const shown = call(e, {"show", to_string(held.id())}, {.width = 200});
    CHECK_THAT(shown.out, Contains("asked         cancel by alice") && Contains("not needed; left to the holder"));
    w.settle();
    CHECK(w.status(held.id()) == flow::run_status::cancelled);
    CHECK(outside().count("clean up") == 1);
    CHECK_THAT(call(e, {"show", to_string(held.id())}, {.width = 200}).out,
               Contains("It was asked to cancel.  by alice: not needed"));

    auto const late = call(e, {"cancel", to_string(held.id())});
    CHECK(late.code == 3);
    CHECK_THAT(late.err, Contains("run_ended") && Contains("has ended before: cancelled"));

    auto const unclaimed = e.start<ends>();
    auto const taken = call(e, {"cancel", to_string(unclaimed.id())});
    CHECK(taken.code == 0);
    CHECK_THAT(taken.out, Contains("taken: it had not begun and is cancelled"));
    CHECK(w.status(unclaimed.id()) == flow::run_status::cancelled);
}

TEMPLATE_LIST_TEST_CASE("resume lets a held run go on and refuses one that is not held", "[cli]", every_store)
{
    TestType place;
    world w(place.store, [](flow::engine& e) { e.add<before_change>("w"); });
    auto const run = w.engine().start<before_change>();
    w.settle();
    auto const id = to_string(run.id());
    auto const refused = call(w.engine(), {"resume", id, "--json"});
    CHECK(refused.code == 3);
    CHECK_THAT(std::string(refused.json().at("error").at("message").as_string()), Contains("not held"));

    w.restart(nullptr, [](flow::engine& e) { e.add<after_change>("w"); });
    w.settle();
    REQUIRE(w.status(run.id()) == flow::run_status::held);
    auto const shown = call(w.engine(), {"show", id}, {.width = 300}).out;
    CHECK_THAT(shown, Contains("It is held: nondeterminism") &&
                          Contains("unblocked by  prog resume " + id + ", once its cause is gone"));
    w.stop();
    flow::client client(place.store, "test");
    auto const resumed = call(client, {"resume", id, "--by", "bob"});
    CHECK(resumed.code == 0);
    CHECK_THAT(resumed.out, Contains("taken: the next engine"));
    w.restart(nullptr, [](flow::engine& e) { e.add<before_change>("w"); });
    w.settle();
    CHECK(call(w.engine(), {"complete", id, "3"}).code == 0);
    w.settle();
    CHECK(w.engine().find(run.id()).end().result == "10");
    CHECK(call(w.engine(), {"resume", id}).code == 3);
}
