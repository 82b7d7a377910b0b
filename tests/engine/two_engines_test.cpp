// Two engines on one store, and people who ask for things all the while: every run ends once, every request is answered.
#include <catch2/catch.hpp>

#include <atomic>
#include <map>
#include <thread>

#include "flow/flow.hpp"
#include "flow/store_reader.hpp"
#include "support/invariants.hpp"
#include "support/stores.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

std::mutex guard;
std::map<std::string, int> calls;  // by key: what a step did twice would have the same

flow::workflow<int> works(int n)
{
    int sum = 0;
    for (int i = 0; i < 5; ++i)
        sum += co_await flow::step("add", flow::idempotent, [&](flow::attempt& a) {
            std::lock_guard const lock(guard);
            ++calls[std::string(a.key())];
            return n;
        });
    auto const answer = co_await flow::as_outcome(flow::wait_for_token<int>("answer"));
    if (!answer) co_await flow::shield(flow::step("tidy", flow::idempotent, [] {}));
    co_return sum + answer.value();
}

flow::engine_options quiet()
{
    flow::engine_options o;
    o.threads = 2;
    o.evict_after = 1ms;  // so that runs change hands
    o.log = nullptr;
    return o;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("two engines on one store under load: no run, no answer and no request is lost", "[engine][client]", every_store)
{
    constexpr int runs = 60;
    calls.clear();
    TestType place;
    flow::engine one(place.store, quiet());
    one.add<works>("works");
    flow::engine two(place.again(), quiet());
    two.add<works>("works");
    flow::client people(place.again(), "alice");

    std::vector<flow::any_run_handle> all;
    for (int n = 0; n < runs; ++n) all.push_back(people.start("works", flow::args(n)));
    // A third is answered, a third cancelled, a third paused, resumed and answered.
    std::atomic<int> asked{0};
    auto const ask = [&](int n) {
        auto const id = all[static_cast<std::size_t>(n)].id();
        if (n % 3 == 1) asked += people.cancel(id) != flow::request_fate::refused;
        if (n % 3 == 2) asked += people.pause(id) != flow::request_fate::refused;
    };
    std::thread other([&] {
        for (int n = 0; n < runs; n += 2) ask(n);
    });
    for (int n = 1; n < runs; n += 2) ask(n);
    other.join();
    CHECK(asked == runs / 3 * 2);

    auto const end = std::chrono::steady_clock::now() + 120s;
    flow::waitpoint_filter open;
    open.status = flow::waitpoint_status::pending;
    open.purpose = flow::waitpoint_purpose::token;
    open.limit = runs;
    auto const finished = [&] { return std::all_of(all.begin(), all.end(), [](auto const& r) { return is_terminal(r.status().run); }); };
    while (!finished() && std::chrono::steady_clock::now() < end) {
        for (auto const& r : all)
            if (r.status().run == flow::run_status::paused) people.resume(r.id());
        for (auto const& w : people.waitpoints(open)) {
            try {
                people.complete_json(w.id, "1");
            } catch (flow::error const& e) {
                CHECK(e.code() == flow::errc::token_ended);  // its run was cancelled meanwhile
            }
        }
        std::this_thread::sleep_for(5ms);
    }
    REQUIRE(finished());
    for (int n = 0; n < runs; ++n) {
        CAPTURE(n);
        auto const e = all[static_cast<std::size_t>(n)].end();
        auto const requests = place.store->reader().requests(e.row.id).value();
        for (auto const& r : requests) CHECK((r.fate == flow::request_fate::taken || r.fate == flow::request_fate::ended_before));
        // Answered before its holder took the cancel, a run ends with its answer, and the cancel is told so.
        bool const too_late = n % 3 == 1 && requests.at(0).fate == flow::request_fate::ended_before;
        if (n % 3 == 1 && !too_late) CHECK(e.row.status.run == flow::run_status::cancelled);
        else CHECK(e.result == std::to_string(5 * n + 1));
    }
    for (auto const& [key, count] : calls) CHECK(count == 1);
    check_invariants(*place.store);
}
