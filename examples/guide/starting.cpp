// For the guide: starting runs, finding them again, waiting for many.
#include <flow/flow.hpp>

#include "../scratch.hpp"
#include "../store_option.hpp"

using namespace std::chrono_literals;

flow::workflow<int> convert(std::string file)
{
    co_return co_await flow::step("convert", flow::idempotent, [&] { return static_cast<int>(file.size()); });
}

flow::workflow<void> waits_too_long() { co_await flow::sleep_for(24h); }

int main(int argc, char** argv)
{
    auto const store = flow::open_store(store_text(argc, argv, "memory"));
    flow::engine engine(store);
    engine.add<convert>("convert");
    engine.add<waits_too_long>("waits_too_long");

    // [options]
    auto const first = engine.start<convert>("a.png", {.idempotency_key = "a.png/2026-W48",  // twice is once
                                                       .tags = "images nightly",
                                                       .deadline = 1h,       // else it is cancelled and ends `expired`
                                                       .priority = 10});     // before others that stand in the queue
    auto const later = engine.start<convert>("b.png", {.tags = "images", .delay = 50ms});
    // [/options]

    // [many]
    std::vector<flow::any_run_handle> const both{first, later};
    bool const all_done = engine.wait_for_all(both, 10s);
    auto const soonest = engine.wait_for_any(both, 10s);  // an index into `both`
    // [/many]
    expect(all_done && soonest == 0u, "both have ended, and the first in the list is named");

    // [find]
    auto const nightly = engine.find_by_key("a.png/2026-W48");
    auto const recent = engine.runs({.status = flow::run_status::succeeded, .workflow = "convert", .tag = "images", .limit = 100});
    // [/find]
    expect(nightly.id() == first.id() && recent.size() >= 2, "found by key, and by tag");

    auto const late = engine.start<waits_too_long>({.deadline = 50ms});
    expect(late.try_result().error().code() == flow::errc::run_expired, "a deadline ends a run");
}
