// Protocol P8 with a failing file layer, at every write and sync there is.
#include <catch2/catch.hpp>

#include "flow/store_reader.hpp"
#include "support/fault_vfs.hpp"
#include "support/runs.hpp"
#include "support/stores.hpp"

using namespace flow;
using namespace flow::test;

namespace {

struct rig {
    fault_vfs vfs;
    temp_dir dir;
    std::string const file = dir.file("flow.db");

    store_ptr open()
    {
        sqlite_options options;
        options.vfs = vfs.name();
        options.busy_timeout = std::chrono::milliseconds{300};
        return flow::sqlite(file, options);
    }
};

}  // namespace

TEST_CASE("after any one failed write or sync a group is applied once, or not at all and told so", "[store][sqlite][fault]")
{
    auto const fault = GENERATE(fault_vfs::what::io_error, fault_vfs::what::full, fault_vfs::what::sync_error);
    bool reached = true;
    int n = 1;
    for (; reached; ++n) {
        rig r;
        auto store = r.open();
        auto run = start_and_claim(*store, some_owner(*store));
        auto const g = run.steps(40, "\"" + std::string(2000, 'x') + "\"");
        r.vfs.plan(n, fault);
        auto const first = store->apply({&g, 1}, std::chrono::seconds{2});
        reached = r.vfs.reached();
        r.vfs.heal();
        auto const there = store->load(run.id()).value()->entries.size();
        if (first) {
            CHECK(first->front().kind == answer_kind::applied);
            CHECK(there == 43);
        } else if (first.error().code() != errc::commit_unknown) {
            CHECK(there == 3);
        }
        // The same group again, whatever was told.
        CHECK(apply(*store, g).kind == answer_kind::applied);
        run.advance(g);
        applied(*store, run, run.steps());
        store.reset();
        auto const again = r.open();
        auto const loaded = again->load(run.id()).value();
        REQUIRE(loaded->entries.size() == 44);
        for (auto const& e : loaded->entries) CHECK(e.checksum == checksum_of(e, run.id()));
    }
    CHECK(n > 3);
}

TEST_CASE("after a power cut at any write what was told as applied is there", "[store][sqlite][fault]")
{
    bool reached = true;
    int n = 1;
    for (; reached; ++n) {
        rig r;
        auto store = r.open();
        auto run = start_and_claim(*store, some_owner(*store));
        r.vfs.plan(n, fault_vfs::what::power_cut);
        std::size_t told = 3;
        for (int i = 0; i < 4; ++i) {
            auto const g = run.steps(3, "\"" + std::string(3000, 'x') + "\"");
            auto const a = store->apply({&g, 1}, std::chrono::milliseconds{100});
            if (!a) break;
            REQUIRE(a->front().kind == answer_kind::applied);
            run.advance(g);
            told += 3;
        }
        reached = r.vfs.reached();
        store.reset();
        r.vfs.lose_unsynced(static_cast<std::size_t>(n * 977 % 9000));
        r.vfs.heal();
        auto const again = r.open();
        auto const loaded = again->load(run.id()).value();
        REQUIRE(loaded);
        CHECK(loaded->entries.size() >= told);
        CHECK(loaded->entries.size() % 3 == 0);
        for (auto const& e : loaded->entries) CHECK(e.checksum == checksum_of(e, run.id()));
    }
    CHECK(n > 8);
}

TEST_CASE("starts, completions, requests and claims survive any one failed write", "[store][sqlite][fault]")
{
    auto const fault = GENERATE(fault_vfs::what::io_error, fault_vfs::what::sync_error);
    auto const call = GENERATE(0, 1, 2, 3, 4);
    for (int n = 1, reached = 1; reached; ++n) {
        rig r;
        auto store = r.open();
        auto const owner = some_owner(*store);
        auto run = start_and_claim(*store, owner);
        auto const token = park(*store, run);
        auto const what = some_run("greeting", "key");
        auto const asked = some_request(run.id());
        if (call == 3) REQUIRE(store->start(what).has_value());
        workflow_version const w{"greeting", 1};
        auto const attempt = [&]() -> bool {
            switch (call) {
            case 0: return store->start(what).has_value();
            case 1: return store->complete(some_completion(token.id)).has_value();
            case 2: return store->ask(asked).has_value();
            case 4: return store->complete_and_claim(some_completion(token.id), {owner, {&w, 1}, 10, at(3)}).has_value();
            default: {
                auto const c = store->claim({owner, {&w, 1}, 10, at(3)});
                if (c) CHECK(c->size() == 1);
                return c.has_value();
            }
            }
        };
        r.vfs.plan(n, fault);
        bool const first = attempt();
        reached = r.vfs.reached();
        r.vfs.heal();
        if (!first) REQUIRE(attempt());
        switch (call) {
        case 0: CHECK(store->reader().runs({}).value().size() == 2); break;
        case 1:
            REQUIRE(store->scan(at(9), 10).has_value());
            CHECK(row_of(*store, run.id()).status.execution == execution_status::queued);
            break;
        case 2: CHECK(store->ask(asked).value() == request_fate::taken); break;
        case 4:
            CHECK(row_of(*store, run.id()).owner == owner);
            CHECK(row_of(*store, run.id()).status.execution == execution_status::executing);
            break;
        default: CHECK(row_of(*store, what.id).epoch == epoch_no{1}); break;
        }
    }
}
