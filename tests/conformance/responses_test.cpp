// Answers of people: once a person, decided in the transaction of the answer that decides (field cases SE-08, AT-25, AT-48, AT-49).
#include <atomic>
#include <thread>

#include <catch2/catch.hpp>

#include "flow/store_reader.hpp"
#include "src/asking.hpp"
#include "src/question_secrets.hpp"
#include "support/runs.hpp"
#include "support/stores.hpp"

using namespace flow;
using namespace flow::test;

namespace {

waitpoint_row some_question(std::vector<std::string> assignees, std::uint32_t needed, std::string shape = "void")
{
    question_terms t;
    t.text = "Refund?";
    t.assignees = std::move(assignees);
    t.needed = needed;
    t.about = "{\"cents\":1}";
    t.about_hash = to_string(sha256(t.about));
    auto w = some_token("refund");
    w.purpose = waitpoint_purpose::approval;
    w.shape = std::move(shape);
    w.options = detail::write_terms(t);
    return w;
}

response some_response(waitpoint_id to, std::string by, bool approves = true)
{
    response r;
    r.to = to;
    r.by = std::move(by);
    r.approves = approves;
    r.why = "a test";
    r.at = at(7);
    return r;
}

template <class Place>
waitpoint_row asked(Place& place, waitpoint_row const& row)
{
    auto run = start_and_claim(*place.store, some_owner(*place.store));
    return park_on(*place.store, run, row);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("two of three decide, and their run is woken by the second", "[store][people]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto const q = asked(place, some_question({"ann", "bob", "cy"}, 2));
    auto told = store.respond(some_response(q.id, "bob")).value();
    CHECK(told.answer == response_answer::counted);
    CHECK(told.needed == 1);
    CHECK(store.respond(some_response(q.id, "bob")).value().answer == response_answer::already_same);
    CHECK(store.respond(some_response(q.id, "bob", false)).value().answer == response_answer::already_other);
    CHECK(store.respond(some_response(q.id, "eve")).value().answer == response_answer::not_asked);
    CHECK(store.respond(some_response(q.id, "")).value().answer == response_answer::not_asked);
    CHECK(store.waitpoint(q.id).value()->status == waitpoint_status::pending);
    told = store.respond(some_response(q.id, "ann")).value();
    CHECK(told.answer == response_answer::decided);
    CHECK(told.approved);
    CHECK(store.respond(some_response(q.id, "cy")).value().answer == response_answer::decided_before);
    CHECK(store.respond(some_response(q.id, "ann")).value().answer == response_answer::already_same);

    auto const row = *store.waitpoint(q.id).value();
    CHECK(row.status == waitpoint_status::completed);
    CHECK(row.by == "ann");
    CHECK_THAT(row.output, Catch::Contains("\"approved\":true") && Catch::Contains("\"bob\"") && Catch::Contains("\"ann\""));
    auto const all = store.reader().responses(q.id).value();
    REQUIRE(all.size() == 2);
    CHECK(all[0].by == "bob");
    CHECK(all[0].why == "a test");
    CHECK(all[0].at == at(7));
    CHECK(all[1].to == q.id);
    (void)store.scan(at(9), 10).value();
    CHECK(claim_all(store, some_owner(store)).size() == 1);
}

TEMPLATE_LIST_TEST_CASE("one who rejects decides", "[store][people]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto const q = asked(place, some_question({"ann", "bob", "cy"}, 3));
    CHECK(store.respond(some_response(q.id, "ann")).value().answer == response_answer::counted);
    auto const told = store.respond(some_response(q.id, "cy", false)).value();
    CHECK(told.answer == response_answer::decided);
    CHECK_FALSE(told.approved);
    CHECK_THAT(store.waitpoint(q.id).value()->output, Catch::Contains("\"approved\":false"));
}

TEMPLATE_LIST_TEST_CASE("an answer to other arguments, of another shape, or too late does not count", "[store][people]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto q = some_question({}, 1, "i32");
    q.due_at = at(8);
    q = asked(place, q);
    auto r = some_response(q.id, "ann");
    CHECK(store.respond(r).value().answer == response_answer::not_a_choice);
    r.value = "\"x\"";
    CHECK(store.respond(r).value().answer == response_answer::not_a_choice);
    r.value = "4";
    r.about = sha256("something else");
    CHECK(store.respond(r).value().answer == response_answer::other_arguments);
    r.secret_hash = sha256("a guess");
    CHECK(store.respond(r).value().answer == response_answer::wrong_secret);
    r.secret_hash = q.secret_hash;
    r.about = sha256("{\"cents\":1}");
    CHECK(store.respond(some_response({fresh_uuid()}, "ann")).value().answer == response_answer::unknown);
    CHECK(store.complete(some_completion(q.id, "4")).value() == completion_answer::not_permitted);
    CHECK(store.reader().responses(q.id).value().empty());
    bool const late = GENERATE(false, true);
    if (late) CHECK(store.scan(at(8), 10).value() == 1);
    CHECK(store.respond(r).value().answer == (late ? response_answer::timed_out : response_answer::decided));
    if (!late) CHECK_THAT(store.waitpoint(q.id).value()->output, Catch::Contains("\"value\":4"));
}

TEMPLATE_LIST_TEST_CASE("SE-03 an answer with a secret counts for the person whose secret it is", "[store][people][secrets]", every_store)
{
    TestType place;
    auto& store = *place.store;
    auto q = some_question({"ann", "bob", "cy"}, 2), other = some_question({}, 1);
    auto const with_secrets = [&](waitpoint_row& w) {
        auto t = *detail::read_terms(w.options);
        w.secret_hash = {};
        auto const secret = store.secret_of(w.id).value();
        detail::keep_secret_hashes(w, t, secret);
        w.options = detail::write_terms(t);
        return secret;
    };
    auto const root = with_secrets(q), everybodys = with_secrets(other);
    asked(place, q);
    asked(place, other);
    auto const respond = [&](waitpoint_row const& to, std::string by, std::string const& secret) {
        auto r = some_response(to.id, std::move(by));
        r.secret_hash = sha256(secret);
        return store.respond(r).value().answer;
    };
    auto const of = [&](std::string_view person) { return detail::secret_of_person(root, person); };
    CHECK(respond(q, "ann", of("ann")) == response_answer::counted);
    CHECK(respond(q, "bob", of("ann")) == response_answer::wrong_secret);
    CHECK(respond(q, "ann", of("bob")) == response_answer::wrong_secret);
    CHECK(respond(q, "bob", root) == response_answer::wrong_secret);
    CHECK(respond(q, "eve", of("eve")) == response_answer::wrong_secret);
    CHECK(respond(q, "bob", everybodys) == response_answer::wrong_secret);
    CHECK(respond(other, "bob", of("bob")) == response_answer::wrong_secret);
    CHECK(store.reader().responses(q.id).value().size() == 1);
    CHECK(respond(q, "bob", of("bob")) == response_answer::decided);
    CHECK(respond(q, "cy", of("cy")) == response_answer::decided_before);
    CHECK(respond(q, "cy", of("bob")) == response_answer::wrong_secret);
    CHECK(store.waitpoint(q.id).value()->by == "bob");
    CHECK(respond(other, "dora", everybodys) == response_answer::decided);
}

TEMPLATE_LIST_TEST_CASE("ten people answer at once, from two stores: exactly one answer decides", "[store][people][race]", every_store)
{
    TestType place;
    auto const other = place.again();
    std::vector<std::string> people;
    for (int i = 0; i < 10; ++i) people.push_back("p" + std::to_string(i));
    auto const q = asked(place, some_question(people, 5));
    std::atomic<int> decided{0}, counted{0}, late{0};
    std::vector<std::thread> threads;
    for (int half = 0; half < 2; ++half)
        threads.emplace_back([&, half] {
            for (int i = half; i < 10; i += 2) {
                auto const a = (half == 0 ? *place.store : *other).respond(some_response(q.id, people[static_cast<std::size_t>(i)])).value().answer;
                ++(a == response_answer::decided ? decided : a == response_answer::counted ? counted : late);
            }
        });
    for (auto& t : threads) t.join();
    CHECK(decided == 1);
    CHECK(counted == 4);
    CHECK(late == 5);
    CHECK(place.store->reader().responses(q.id).value().size() == 5);
}
