// SE-03, SE-08: questions answered by people who have a secret and not the store.
#include <catch2/catch.hpp>

#include <cstdio>
#include <fstream>
#include <set>

#include "flow/flow.hpp"
#include "flow/store_reader.hpp"
#include "src/question_secrets.hpp"
#include "support/invariants.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace std::chrono_literals;
using namespace flow::test;
using Catch::Contains;
using flow::response_answer;

namespace {

template <class Verdict>
std::string told(Verdict const& v)
{
    std::string text = v.approved ? "approved" : "rejected";
    for (auto const& one : v.votes) text += " " + one.by;
    return text;
}

flow::workflow<std::string> two_of_three()
{
    auto const v = co_await flow::ask("refund", flow::question("Refund?").to("ann", "bob", "cy").quorum(2).secrets());
    co_return told(v);
}
flow::workflow<std::string> everybody()
{
    auto const v = co_await flow::ask<int>("number", flow::question("How many?").subject(flow::ask_subject::input).secrets());
    co_return told(v) + " " + std::to_string(v.value.value_or(-1));
}
flow::workflow<std::string> without_secrets()
{
    auto const v = co_await flow::ask("plain", flow::question("Well?").to("ann"));
    co_return told(v);
}
flow::workflow<std::string> within_an_hour()
{
    auto const v = co_await flow::ask("soon", flow::question("Now?").to("ann").deadline(1h).otherwise(false).secrets());
    co_return told(v);
}
flow::workflow<int> waits_for_a_token()
{
    auto const reply = co_await flow::make_token<int>("reply");
    co_return co_await flow::wait_for_token(reply);
}

namespace changed {
flow::workflow<std::string> two_of_three()
{
    auto const v = co_await flow::ask("refund", flow::question("Refund?").to("ann", "bob", "cy").quorum(2));
    co_return told(v);
}
flow::workflow<std::string> without_secrets()
{
    auto const v = co_await flow::ask("plain", flow::question("Well?").to("ann").secrets());
    co_return told(v);
}
}  // namespace changed

void add_all(flow::engine& e)
{
    e.add<two_of_three>("two_of_three");
    e.add<everybody>("everybody");
    e.add<without_secrets>("without_secrets");
    e.add<within_an_hour>("within_an_hour");
    e.add<waits_for_a_token>("waits_for_a_token");
}

flow::waitpoint_id question_of(world& w, flow::run_id run)
{
    auto const open = w.view(run).open;
    REQUIRE(open.size() == 1);
    return open[0].row.id;
}

std::string result_of(world& w, flow::run_id id)
{
    REQUIRE(is_terminal(w.status(id)));
    return flow::run_handle<std::string>(w.engine().find(id)).result();
}

struct asked {
    flow::run_id run;
    flow::waitpoint_id question;
};
template <auto F>
asked ask_by(world& w)
{
    auto const run = w.engine().start<F>().id();
    w.settle();
    return {run, question_of(w, run)};
}

/// The data of a place as a process meets it that has not the store's key. It has it again afterwards.
class without_key {
public:
    explicit without_key(sqlite_stores& place) : key_(place.file + ".key")
    {
        REQUIRE(std::rename(key_.c_str(), (key_ + ".aside").c_str()) == 0);
        store = place.again();
    }
#if FLOW_POSTGRES
    explicit without_key(postgres_stores& place)
    {
        flow::postgres_options options;
        options.schema = place.schema();
        store = flow::postgres(postgres_server(), options);
    }
#endif
    ~without_key()
    {
        if (!key_.empty()) std::rename((key_ + ".aside").c_str(), key_.c_str());
    }
    without_key(without_key const&) = delete;

    flow::store_ptr store;

private:
    std::string key_;
};

#if FLOW_POSTGRES
using stores_with_a_key = std::tuple<sqlite_stores, postgres_stores>;
#else
using stores_with_a_key = std::tuple<sqlite_stores>;
#endif

}  // namespace

TEMPLATE_LIST_TEST_CASE("SE-08 two of three decide by their secrets, whoever hands these in, over restarts", "[engine][people][secrets]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const [run, q] = ask_by<two_of_three>(w);
    auto const of_ann = w.engine().secret_for(q, "ann"), of_bob = w.engine().secret_for(q, "bob");
    CHECK(of_ann.text().size() == 64);
    CHECK(of_ann.text() != of_bob.text());
    flow::client desk(place.again(), "desk");
    CHECK(desk.respond(q, true, {.why = "a good customer", .secret = of_bob.text()}).answer == response_answer::counted);
    w.restart();
    w.settle();
    CHECK(w.engine().secret_for(q, "ann").text() == of_ann.text());
    CHECK(desk.secret_for(q, "bob").text() == of_bob.text());
    CHECK(desk.respond(q, true, {.secret = of_bob.text()}).answer == response_answer::already_same);
    CHECK_THROWS_WITH(desk.respond(q, false, {.secret = of_bob.text()}), Contains("token_conflict") && Contains("bob answered"));
    CHECK(desk.respond(q, true, {.by = "ann", .secret = of_ann.text()}).answer == response_answer::decided);
    w.settle();
    CHECK(result_of(w, run) == "approved bob ann");
    auto const all = desk.responses(q);
    REQUIRE(all.size() == 2);
    CHECK(all[0].by == "bob");
    CHECK(all[0].why == "a good customer");
    CHECK(desk.waitpoint(q).by == "ann");
    CHECK_THROWS_WITH(desk.respond(q, true, {.secret = desk.secret_for(q, "cy").text()}), Contains("token_conflict") && Contains("decided before, by ann"));
    check_invariants(*place.store);
}

TEMPLATE_LIST_TEST_CASE("SE-03 one answer for whoever has not the secret of a question: it does not tell what exists", "[engine][people][secrets]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const a = ask_by<two_of_three>(w), b = ask_by<two_of_three>(w), all = ask_by<everybody>(w), plain = ask_by<without_secrets>(w);
    auto const decided = ask_by<two_of_three>(w), late = ask_by<within_an_hour>(w), gone = ask_by<within_an_hour>(w);
    auto const token = ask_by<waits_for_a_token>(w).question;
    auto& e = w.engine();
    auto const of = [&](asked const& s, std::string_view person) { return e.secret_for(s.question, person).text(); };
    auto const key_of = [&](flow::waitpoint_id id) { return place.store->secret_of(id).value(); };
    e.respond(decided.question, false, {.secret = of(decided, "ann")});
    e.cancel(gone.run);
    w.pass(2h);
    REQUIRE(w.status(decided.run) == flow::run_status::succeeded);
    REQUIRE(w.status(late.run) == flow::run_status::succeeded);
    REQUIRE(w.status(gone.run) == flow::run_status::cancelled);
    flow::waitpoint_id const nobodys{*flow::parse_uuid("6f1d3a52-0c4e-4a6b-9d7e-1b2c3d4e5f60")};

    struct attempt {
        flow::waitpoint_id to;
        std::string secret, by;
    };
    std::vector<attempt> const attempts = {
        {nobodys, of(a, "ann"), ""},
        {nobodys, key_of(nobodys), ""},
        {flow::waitpoint_id{}, of(a, "ann"), ""},
        {flow::waitpoint_id{a.run.value}, of(a, "ann"), ""},
        {a.question, of(b, "ann"), ""},  // of another question
        {a.question, of(all, ""), ""},
        {a.question, of(a, "ann"), "bob"},  // of another person
        {a.question, of(a, "bob"), "ann"},
        {a.question, of(a, "ann"), "eve"},
        {a.question, key_of(a.question), ""},
        {a.question, flow::detail::secret_of_person(key_of(a.question), "eve"), ""},  // who is not asked
        {a.question, "wrong", ""},
        {a.question, "", ""},
        {a.question, "", "ann"},
        {a.question, of(a, "ann") + "0", ""},
        {a.question, to_string(flow::sha256(of(a, "ann"))), ""},  // what is stored
        {all.question, of(a, "ann"), ""},
        {all.question, flow::detail::secret_of_person(key_of(all.question), "ann"), "ann"},
        {all.question, to_string(flow::sha256(of(all, ""))), ""},
        {plain.question, key_of(plain.question), "ann"},
        {plain.question, flow::detail::secret_of_person(key_of(plain.question), "ann"), ""},
        {decided.question, "wrong", "ann"},
        {decided.question, of(a, "ann"), ""},
        {late.question, "wrong", ""},
        {gone.question, "wrong", "ann"},
        {gone.question, of(late, "ann"), ""},
        {token, key_of(token), ""},
    };
    std::set<std::string> answers;
    for (auto const& t : attempts)
        for (auto const* value : {"", "1", "[1,"})
            for (auto const* about : {"", "no hash"}) {
                CAPTURE(to_string(t.to), t.secret, t.by, value);
                try {
                    e.respond(t.to, true, {.value = value, .by = t.by, .about = about, .secret = t.secret});
                    FAIL_CHECK("it was answered");
                } catch (flow::error const& error) {
                    CHECK(error.code() == flow::errc::unknown_request);
                    answers.insert(error.what());
                }
            }
    CHECK(answers.size() == 1);
    for (auto const& q : {a, b, all, plain}) CHECK(e.responses(q.question).empty());

    // With it, the usual ones.
    CHECK(e.respond(decided.question, false, {.secret = of(decided, "ann")}).answer == response_answer::already_same);
    CHECK_THROWS_WITH(e.respond(decided.question, true, {.secret = of(decided, "bob")}), Contains("token_conflict"));
    CHECK_THROWS_WITH(e.respond(late.question, true, {.secret = of(late, "ann")}), Contains("token_ended") && Contains("in time"));
    CHECK_THROWS_WITH(e.respond(gone.question, true, {.secret = of(gone, "ann")}), Contains("token_ended") && Contains("withdrawn"));
    CHECK_THROWS_WITH(e.respond(a.question, true, {.value = "1", .secret = of(a, "ann")}), Contains("wrong_shape"));
    CHECK_THROWS_WITH(e.respond(a.question, true, {.value = "[1,", .secret = of(a, "ann")}), Contains("bad_payload"));
    CHECK(e.respond(a.question, true, {.secret = of(a, "ann")}).answer == response_answer::counted);
    // A secret of a question completes nothing.
    CHECK_THROWS_WITH(e.complete_json(all.question, "1", of(all, "")), Contains("no such token, or not its secret"));
}

TEMPLATE_LIST_TEST_CASE("a question to everybody has one secret; who shows it says who they are", "[engine][people][secrets]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const first = ask_by<everybody>(w), second = ask_by<everybody>(w);
    auto const secret = w.engine().secret_for(first.question);
    CHECK(w.engine().secret_for(first.question, "whoever").text() == secret.text());
    flow::client desk(place.again(), "desk");
    CHECK(desk.respond(first.question, true, {.value = "7", .by = "dora", .secret = secret.text()}).answer == response_answer::decided);
    CHECK(desk.respond(second.question, true, {.value = "8", .secret = w.engine().secret_for(second.question).text()}).answer == response_answer::decided);
    w.settle();
    CHECK(result_of(w, first.run) == "approved dora 7");
    CHECK(result_of(w, second.run) == "approved desk 8");
}

TEMPLATE_LIST_TEST_CASE("who sends secrets out is told why there is none", "[engine][people][secrets]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const asked = ask_by<two_of_three>(w), plain = ask_by<without_secrets>(w);
    auto const token = ask_by<waits_for_a_token>(w).question;
    auto& e = w.engine();
    CHECK_THROWS_WITH(e.secret_for({}, "ann"), Contains("unknown_request"));
    CHECK_THROWS_WITH(e.secret_for(token, "ann"), Contains("unknown_request"));
    CHECK_THROWS_WITH(e.secret_for(plain.question, "ann"), Contains("usage") && Contains("without secrets") && Contains("secrets()"));
    CHECK_THROWS_WITH(e.secret_for(asked.question, "e\nve"), Contains("not_asked") && Contains("e\\nve is none of those"));
    CHECK_THROWS_WITH(e.secret_for(asked.question), Contains("not_asked") && Contains("say for whom"));
    // Operators answer by name as ever.
    CHECK(e.respond(asked.question, true, {.by = "ann"}).answer == response_answer::counted);
}

TEMPLATE_LIST_TEST_CASE("SE-03 of a question's secrets hashes are stored, and nothing else", "[engine][people][secrets]", every_store)
{
    TestType place;
    std::optional<world> w(std::in_place, place.store, add_all);
    auto const asked = ask_by<two_of_three>(*w), all = ask_by<everybody>(*w);
    std::vector<std::string> secrets = {w->engine().secret_for(all.question).text(), place.store->secret_of(asked.question).value()};
    for (auto const* person : {"ann", "bob", "cy"}) secrets.push_back(w->engine().secret_for(asked.question, person).text());
    auto const hash = to_string(flow::sha256(secrets.back()));
    auto answered = w->engine().respond(asked.question, true, {.secret = secrets.back()});
    CHECK(answered.answer == response_answer::counted);
    answered = w->engine().respond(all.question, true, {.value = "1", .secret = secrets.front()});
    CHECK(answered.answer == response_answer::decided);
    w->settle();

    std::string stored;
    for (auto const& row : w->engine().waitpoints({})) stored += row.options + row.output + to_string(row.secret_hash) + row.by + row.why;
    for (auto const run : {asked.run, all.run})
        for (auto const& e : w->journal(run)) stored += e.payload + e.why + e.by;
    for (auto const& line : w->log) stored += line;
    CHECK(stored.find(hash) != std::string::npos);
    if constexpr (TestType::on_disk) {
        w.reset();
        for (auto const* end : {"", "-wal"}) {
            std::ifstream in(place.file + end, std::ios::binary);
            stored.append(std::istreambuf_iterator<char>(in), {});
        }
        CHECK(stored.find(hash, stored.find("SQLite format 3")) != std::string::npos);  // this is how a secret would be found
    }
    for (auto const& s : secrets) {
        CHECK(stored.find(s) == std::string::npos);
        std::string bytes;
        for (std::size_t i = 0; i < s.size(); i += 2) bytes += static_cast<char>(std::stoi(s.substr(i, 2), nullptr, 16));
        CHECK(stored.find(bytes) == std::string::npos);
    }
}

TEMPLATE_LIST_TEST_CASE("a question keeps the secrets it was asked with, whatever the code says later", "[engine][people][secrets]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const asked = ask_by<two_of_three>(w), plain = ask_by<without_secrets>(w);
    auto const of_ann = w.engine().secret_for(asked.question, "ann").text();
    w.restart(nullptr, [](flow::engine& e) {
        e.add<changed::two_of_three>("two_of_three");
        e.add<changed::without_secrets>("without_secrets");
    });
    w.settle();
    CHECK(w.engine().respond(asked.question, true, {.secret = of_ann}).answer == response_answer::counted);
    CHECK(w.engine().respond(asked.question, true, {.secret = w.engine().secret_for(asked.question, "cy").text()}).answer == response_answer::decided);
    CHECK_THROWS_WITH(w.engine().secret_for(plain.question, "ann"), Contains("without secrets"));
    CHECK(w.engine().respond(plain.question, true, {.by = "ann"}).answer == response_answer::decided);
    w.settle();
    CHECK(result_of(w, asked.run) == "approved ann cy");
    CHECK(result_of(w, plain.run) == "approved ann");
}

TEMPLATE_LIST_TEST_CASE("without the store's key a run that asks with secrets is held, and what was sent still answers", "[engine][people][secrets]",
                        stores_with_a_key)
{
    TestType place;
    world w(place.store, add_all);
    auto const before = ask_by<two_of_three>(w);
    auto const of_ann = w.engine().secret_for(before.question, "ann").text(), of_bob = w.engine().secret_for(before.question, "bob").text();
    w.stop();
    flow::run_id later;
    {
        without_key const place_without(place);
        w.restart(place_without.store);
        flow::client desk(place_without.store, "desk");
        CHECK(desk.respond(before.question, true, {.secret = of_ann}).answer == response_answer::counted);
        CHECK_THROWS_WITH(desk.respond(before.question, true, {.secret = "wrong"}), Contains("not its secret"));
        CHECK_THROWS_WITH(desk.secret_for(before.question, "cy"), Contains("store_key"));
        CHECK(desk.respond(before.question, true, {.secret = of_bob}).answer == response_answer::decided);
        w.settle();
        CHECK(result_of(w, before.run) == "approved ann bob");

        auto const plain = ask_by<without_secrets>(w);  // needs none
        CHECK(w.status(plain.run) == flow::run_status::waiting);
        later = w.engine().template start<two_of_three>().id();
        w.settle();
        CHECK(w.status(later) == flow::run_status::held);
        CHECK(w.view(later).waits_for.id == "store_key");
        CHECK(w.view(later).open.empty());
        w.stop();
    }
    w.restart(place.again());
    w.settle();
    auto const q = question_of(w, later);
    CHECK(w.engine().respond(q, false, {.secret = w.engine().secret_for(q, "cy").text()}).answer == response_answer::decided);
    w.settle();
    CHECK(result_of(w, later) == "rejected cy");
}
