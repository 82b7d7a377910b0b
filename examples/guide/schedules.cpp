// For the guide: workflows that are started again and again.
#include <flow/flow.hpp>

#include <atomic>

#include "../scratch.hpp"
#include "../store_option.hpp"

using namespace std::chrono_literals;

std::atomic<int> reports{0};

flow::workflow<void> report(std::string about)
{
    co_await flow::step("write", flow::replayable, [&] { reports += about.empty() ? 0 : 1; });
}

int main(int argc, char** argv)
{
    auto const store = flow::open_store(store_text(argc, argv, "memory"));
    flow::engine engine(store);
    engine.add<report>("report");

    // [declare]
    engine.schedule<report>("weekly", flow::cron("0 9 * * MON", "Europe/Berlin"), {}, "sales");
    engine.schedule<report>("pulse", flow::every(50ms), {.overlap = flow::overlap_policy::buffer_one, .limit = 5}, "pulse");
    // [/declare]

    // [look]
    auto const weekly = engine.schedule_of("weekly");
    engine.pause(weekly.run, "holidays");  // and resume, and cancel: a schedule is a run
    // [/look]
    expect(weekly.workflow == "report", "a schedule is found by its name");

    auto const pulse = engine.find(engine.schedule_of("pulse").run);
    expect(pulse.wait(20s), "a schedule with a limit ends");
    auto const ended = engine.schedule_of("pulse");
    expect(ended.fired == 5, "it fired as often as it was told to");
    // The last run may still be at work.
    expect(engine.find(ended.last_run.value()).wait(20s) && reports == 5, "each firing is a run");

    // [again]
    engine.schedule<report>("pulse", flow::every(50ms), {.overlap = flow::overlap_policy::buffer_one, .limit = 5}, "pulse");
    // [/again]
    expect(engine.schedule_of("pulse").run == ended.run, "a program that begins again does not begin its schedules again");
    std::puts("a schedule fired five times and ended, another is paused");
}
