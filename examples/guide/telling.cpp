// For the guide: what a run tells the outside while it runs.
#include <flow/flow.hpp>

#include "../scratch.hpp"
#include "../store_option.hpp"

using namespace std::chrono_literals;

// [publish]
struct progress {
    int done = 0;
    int of = 0;
};

flow::workflow<int> render(int pages)
{
    for (int i = 0; i < pages; ++i) {
        co_await flow::step("page", flow::idempotent, [&] { /* … */ });
        progress const now{i + 1, pages};
        co_await flow::publish("progress", now);
    }
    co_await flow::wait_for_token<bool>("accepted");
    co_return pages;
}
// [/publish]

int main(int argc, char** argv)
{
    auto const store = flow::open_store(store_text(argc, argv, "memory"));
    flow::engine engine(store);
    engine.add<render>("render");
    auto const run = engine.start<render>(3);
    while (run.status().run != flow::run_status::waiting) std::this_thread::sleep_for(1ms);

    // [look]
    flow::client anybody(store);
    auto const now = anybody.published<progress>(run.id(), "progress");  // the newest
    for (auto const& p : anybody.publications(run.id()))                 // all, in order; go on behind p.cursor
        std::printf("%s: %s\n", p.key.c_str(), p.value.c_str());
    // [/look]
    expect(now && now->done == 3, "the newest value is the third");
    expect(anybody.publications(run.id()).size() == 3, "each page was told once");

    flow::waitpoint_filter open;
    open.run = run.id();
    for (auto const& w : anybody.waitpoints(open)) anybody.complete(flow::token<bool>{w.id}, true);
    expect(run.result() == 3, "and the run went on");
}
