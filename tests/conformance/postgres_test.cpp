// What only a server has: leases, lost connections, keys that lie elsewhere, transactions that truly run at once.
#if FLOW_POSTGRES
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <random>
#include <thread>

#include <catch2/catch.hpp>

#include "flow/store_reader.hpp"
#include "runtime/store/postgres/values.hpp"
#include "support/eventually.hpp"
#include "support/invariants.hpp"
#include "support/postgres.hpp"
#include "support/runs.hpp"
#include "support/stores.hpp"

using namespace flow;
using namespace flow::test;
using namespace std::chrono_literals;

namespace {

postgres_options options_on(postgres_schema const& schema)
{
    postgres_options o;
    o.schema = schema.name();
    return o;
}

/// A connection that keeps an owner's row locked, so that its lease cannot be renewed.
class held_row {
public:
    held_row(std::string const& schema, owner_id owner)
        : thread_([schema, owner] {
              ask_postgres(schema, "begin; select 1 from owners where id = " + std::to_string(static_cast<std::int64_t>(owner)) +
                                       " for update; select pg_sleep(1.2)");
          })
    {
    }
    ~held_row() { thread_.join(); }

private:
    std::thread thread_;
};

/// Ends the connection that stands in a transaction of this schema's store just now.
void cut(std::string const& schema)
{
    ask_postgres(schema, "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and state = 'idle in transaction'");
}

}  // namespace

TEST_CASE("texts that PostgreSQL cannot hold are escaped, and no two become one", "[store][postgres]")
{
    using namespace flow::postgres_detail;
    for (auto const& text : {std::string("plain \xf0\x9f\xa6\x8a \\ \x01"), std::string("a\0b", 3), std::string("\x1a"), std::string("\x1a" "00"),
                             std::string("\xff\xc0\x80\xed\xa0\x80"), std::string("\xe2\x82")}) {
        CHECK(unescaped(escaped(text)) == text);
        CHECK(escaped(text).find('\0') == std::string::npos);
    }
    CHECK(escaped("plain \xf0\x9f\xa6\x8a \\") == "plain \xf0\x9f\xa6\x8a \\");
    CHECK(escaped("\x1a" "00") != escaped(std::string("\0", 1)));
}

TEST_CASE("an owner whose lease cannot be renewed writes nothing more until it is", "[store][postgres][owner]")
{
    postgres_schema schema;
    auto o = options_on(schema);
    o.lease = 500ms;
    o.renew_every = 100ms;
    auto const store = flow::postgres(postgres_server(), o);
    auto const owner = some_owner(*store);
    auto run = start_and_claim(*store, owner);
    applied(*store, run, run.steps());
    {
        held_row const held(schema.name(), owner);
        REQUIRE(eventually([&] {
            auto const told = store->apply(std::vector{run.steps()}, 1s);
            if (told) run.advance(run.steps());
            return !told && told.error().code() == errc::store_unavailable;
        }));
        CHECK_FALSE(store->may_act(owner));  // and is not asked to call anything
        CHECK(store->load(run.id()).value()->entries.back().seq == run.last);
    }
    // Nobody has taken its runs over: renewed, it goes on.
    REQUIRE(eventually([&] { return store->apply(std::vector{run.steps()}, 1s).has_value(); }));
    CHECK(store->may_act(owner));
}

TEST_CASE("what another store object commits is told, and asked for more often while it cannot be", "[store][postgres][news]")
{
    postgres_schema schema;
    auto const store = flow::postgres(postgres_server(), options_on(schema)), other = flow::postgres(postgres_server(), options_on(schema));
    auto const owner = some_owner(*store);
    CHECK(store->ask_every() == 10ms);
    std::atomic<int> told{0};
    store->when_changed(owner, [&] { ++told; });
    REQUIRE(eventually([&] { return store->ask_every() == 50ms && told > 0; }));

    auto const is_told = [&](auto const& change) {
        std::this_thread::sleep_for(20ms);
        told = 0;
        change();
        return eventually([&] { return told > 0; });
    };
    auto run = start_and_claim(*store, owner);
    auto const token = park(*store, run);
    CHECK(is_told([&] { REQUIRE(other->start(some_run()).value().answer == start_answer::started); }));
    CHECK(is_told([&] { REQUIRE(other->complete(some_completion(token.id)).value() == completion_answer::completed); }));
    CHECK(is_told([&] { REQUIRE(other->ask(some_request(run.id())).has_value()); }));

    SECTION("what concerns nobody is not told")
    {
        auto const bob = some_owner(*other);
        auto theirs = hold(*other, claim_all(*other, bob).at(0));
        std::this_thread::sleep_for(50ms);
        told = 0;
        applied(*other, theirs, theirs.steps(3));
        std::this_thread::sleep_for(50ms);
        CHECK(told == 0);
    }
    SECTION("after a connection that is lost")
    {
        told = 0;
        REQUIRE(store->start(some_run()).value().answer == start_answer::started);
        auto const ours = "from pg_stat_activity where query = 'notify \"" + schema.name() + "\"'";
        REQUIRE(eventually([&] { return ask_postgres(schema.name(), "select count(*) " + ours) == "2"; }));
        ask_postgres(schema.name(), "select pg_terminate_backend(pid) " + ours);
        REQUIRE(eventually([&] { return told > 0 && store->ask_every() == 50ms; }));
        CHECK(is_told([&] { REQUIRE(other->start(some_run()).value().answer == start_answer::started); }));
    }
    SECTION("nobody is called any more once it is over")
    {
        store->when_changed(owner, nullptr);
        told = 0;
        REQUIRE(other->start(some_run()).value().answer == start_answer::started);
        std::this_thread::sleep_for(50ms);
        CHECK(told == 0);
    }
}

TEST_CASE("runs of an owner that says nothing any more are taken over when its lease has ended", "[store][postgres][owner]")
{
    postgres_schema schema;
    auto o = options_on(schema);
    o.lease = 600ms;
    o.renew_every = 200ms;
    auto const store = flow::postgres(postgres_server(), o);
    auto const bob = some_owner(*store);
    auto run = start_and_claim(*store, bob);
    ask_postgres(schema.name(), "insert into owners(id, name, pid, started_at, pings, lease_until) values (77, 'gone', 1, 0, 0,"
                                " (extract(epoch from clock_timestamp()) * 1000000)::bigint + 700000)");
    ask_postgres(schema.name(), "update runs set owner = 77");
    CHECK(claim_all(*store, bob).empty());
    std::vector<claimed> taken;
    REQUIRE(eventually([&] { return !(taken = claim_all(*store, bob)).empty(); }));
    CHECK(taken[0].taken_over);
    CHECK(taken[0].row.epoch == next(run.row.epoch));
    CHECK(store->reader().owners().value().size() == 1);
    CHECK(apply(*store, run.steps()).kind == answer_kind::fenced);
    // Its own has been renewed all the while.
    std::this_thread::sleep_for(800ms);
    CHECK(store->reader().owners().value()[0].alive);
    auto mine = hold(*store, taken[0]);
    applied(*store, mine, mine.steps());
}

TEST_CASE("an owner that was buried while it was cut off takes new runs under its number", "[store][postgres][owner]")
{
    postgres_schema schema;
    auto o = options_on(schema);
    o.lease = 500ms;
    o.renew_every = 100ms;
    auto const store = flow::postgres(postgres_server(), o);
    auto const owner = some_owner(*store);
    ask_postgres(schema.name(), "delete from owners");
    REQUIRE(store->start(some_run()).value().answer == start_answer::started);
    REQUIRE(eventually([&] {
        auto const taken = store->claim({owner, std::vector<workflow_version>{{"greeting", 1}}, 10, at(1)});
        return taken && taken->size() == 1;
    }));
}

TEST_CASE("PR-04 a connection that is lost at COMMIT: the same again, once", "[store][postgres][fencing]")
{
    postgres_schema schema;
    std::string cut_in;
    auto o = options_on(schema);
    o.probe = [&](std::string_view call, probe_point point) {
        if (point != probe_point::before_commit || call != cut_in) return;
        cut_in.clear();
        cut(schema.name());
    };
    auto const store = flow::postgres(postgres_server(), o);
    auto const owner = some_owner(*store);
    auto run = start_and_claim(*store, owner);

    cut_in = "apply";
    auto const g = run.steps(2);
    applied(*store, run, g);
    CHECK(store->load(run.id()).value()->entries.size() == 5);
    CHECK(apply(*store, g).kind == answer_kind::applied);

    cut_in = "start";
    auto const other = some_run("greeting", "monday");
    CHECK(store->start(other).value().answer == start_answer::started);
    cut_in = "claim";
    auto const taken = claim_all(*store, owner);
    REQUIRE(taken.size() == 1);
    CHECK(row_of(*store, other.id).epoch == epoch_no{1});

    auto const token = some_token();
    auto making = run.steps();
    making.effects.push_back(insert_waitpoint{token});
    applied(*store, run, making);
    cut_in = "complete";
    CHECK(store->complete(some_completion(token.id)).value() == completion_answer::completed);
    cut_in = "ask";
    CHECK(store->ask(some_request(run.id())).value() == request_fate::left_to_holder);
    CHECK(store->load(run.id()).value()->mailbox.size() == 1);
    CHECK(cut_in.empty());
    check_invariants(*store);
}

TEST_CASE("a lock that somebody keeps is store_busy within the limit, and nothing is written", "[store][postgres]")
{
    postgres_stores place;
    auto& store = *place.store;
    auto run = start_and_claim(store, some_owner(store));
    auto const waiting = place.again([&](std::string_view call, probe_point point) {
        if (call != "apply" || point != probe_point::locked) return;
        auto const other = store.apply(std::vector{run.steps()}, 30ms);
        REQUIRE(!other);
        CHECK(other.error().code() == errc::store_busy);
        auto const none = store.apply(std::vector{run.steps()}, 0ms);
        REQUIRE(!none);
        CHECK(none.error().code() == errc::store_busy);
    });
    CHECK(waiting->apply(std::vector{run.steps()}, 5s).value()[0].kind == answer_kind::applied);
    CHECK(store.load(run.id()).value()->entries.size() == 4);
}

TEST_CASE("a schema is opened only with its own key, and only if it is flow's", "[store][postgres]")
{
    postgres_schema schema;
    temp_dir dir;
    auto o = options_on(schema);
    auto const code_of = [](auto const& f) {
        try {
            f();
        } catch (error const& e) {
            return e.code();
        }
        return errc{};
    };
    auto const opening = [&] { return code_of([&] { flow::postgres(postgres_server(), o); }); };
    SECTION("no schema where one must be")
    {
        o.must_exist = true;
        CHECK(opening() == errc::store_foreign);
    }
    SECTION("another program's tables")
    {
        ask_postgres("public", "create schema " + schema.name() + "; create table " + schema.name() + ".meta(name text, value text)");
        CHECK(opening() == errc::store_foreign);
    }
    SECTION("a newer schema")
    {
        CHECK(opening() == errc{});
        ask_postgres(schema.name(), "update meta set number = 99 where name = 'schema_version'");
        CHECK(opening() == errc::store_newer);
    }
    SECTION("a schema of version 2: the queue has another index since")
    {
        CHECK(opening() == errc{});
        ask_postgres(schema.name(), "drop index runs_queued; create index runs_queued on runs(workflow, version, priority desc, num) where execution = 2;"
                                    " update meta set number = 2 where name = 'schema_version'");
        CHECK(opening() == errc{});
        CHECK_THAT(ask_postgres(schema.name(), "select indexdef from pg_indexes where schemaname = current_schema() and indexname = 'runs_queued'"), Catch::Contains("due_at"));
        CHECK(ask_postgres(schema.name(), "select number from meta where name = 'schema_version'") == "3");
    }
    SECTION("a name that is none")
    {
        o.schema = "a\"; drop table x; --";
        CHECK(opening() == errc::usage);
    }
    SECTION("no server") { CHECK(code_of([&] { flow::postgres("host=/nowhere dbname=x", o); }) == errc::store_unavailable); }
    SECTION("no key, the first key, another key")
    {
        ::unsetenv("FLOW_STORE_KEY");
        waitpoint_id const id{fresh_uuid()};
        CHECK(flow::postgres(postgres_server(), o)->secret_of(id).error().code() == errc::store_key);
        ::setenv("FLOW_STORE_KEY", std::string(64, 'a').c_str(), 1);
        CHECK(flow::postgres(postgres_server(), o)->secret_of(id).value().size() == 64);
        ::setenv("FLOW_STORE_KEY", std::string(64, 'b').c_str(), 1);
        CHECK(flow::postgres(postgres_server(), o)->secret_of(id).error().code() == errc::store_key);
        ::unsetenv("FLOW_STORE_KEY");
    }
}

TEST_CASE("everybody at once, on two store objects: no run is lost, nothing is done twice", "[store][postgres][race]")
{
    postgres_stores place;
    auto const other = place.again();
    constexpr int runs = 40;
    std::mutex mutex;
    std::vector<std::pair<run_id, waitpoint_id>> open;
    std::atomic<int> ended{0}, failed{0};
    for (int i = 0; i < runs; ++i) REQUIRE(place.store->start(some_run()).value().answer == start_answer::started);

    // Each takes what it finds: a fresh run is parked on a token, a woken one takes the answer and ends.
    auto const work = [&](flow::store& s) {
        auto const owner = s.add_owner({"worker", 1, at(0)}).value();
        workflow_version const w{"greeting", 1};
        auto const end = std::chrono::steady_clock::now() + 60s;
        while (ended < runs && std::chrono::steady_clock::now() < end) {
            auto const taken = s.claim({owner, {&w, 1}, 5, at(3)});
            if (!taken) continue;
            for (auto const& c : *taken) {
                auto const loaded = s.load(c.row.id).value();
                held_run run(c.row, loaded->entries.back().seq);
                if (loaded->waitpoints.empty()) {
                    auto const token = some_token();
                    auto g = run.change(status_event::block);
                    g.effects = {insert_waitpoint{token}, add_edge{token.id, "1", "approve#0"}};
                    auto second = run;
                    second.advance(g);
                    auto const park = second.change(status_event::suspend, true);
                    auto const told = s.apply(std::vector{g, park}, 20s).value();
                    if (told[0].kind != answer_kind::applied || told[1].kind != answer_kind::applied) ++failed;
                    std::scoped_lock lock(mutex);
                    open.emplace_back(c.row.id, token.id);
                } else {
                    auto g = run.change(status_event::succeed);
                    g.effects = {take_waitpoint{loaded->waitpoints[0].id}};
                    if (s.apply(std::vector{g}, 20s).value()[0].kind != answer_kind::applied) ++failed;
                    ++ended;
                }
            }
        }
    };
    auto const answer_all = [&](flow::store& s) {
        auto const end = std::chrono::steady_clock::now() + 60s;
        while (ended < runs && std::chrono::steady_clock::now() < end) {
            std::vector<std::pair<run_id, waitpoint_id>> now_open;
            {
                std::scoped_lock lock(mutex);
                now_open.swap(open);
            }
            for (auto const& [run, token] : now_open)
                if (s.complete(some_completion(token)).value() != completion_answer::completed) ++failed;
            if (!s.scan(at(9), 10)) ++failed;
        }
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) {
        auto& s = i == 0 ? *place.store : *other;
        threads.emplace_back([&] { work(s); });
        threads.emplace_back([&] { work(s); });
        threads.emplace_back([&] { answer_all(s); });
    }
    for (auto& t : threads) t.join();
    CHECK(ended == runs);
    CHECK(failed == 0);
    check_invariants(*place.store);
    run_filter which;
    which.status = run_status::succeeded;
    CHECK(place.store->reader().runs(which).value().size() == runs);
    CHECK(ask_postgres(place.schema(), "select count(*) from wakes") == "0");
    CHECK(ask_postgres(place.schema(), "select count(*) from edges") == "0");
}
#endif
