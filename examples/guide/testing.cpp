// For docs/guide/tests_of_your_own.md: a wait of thirty days, tested in a moment.
#include <flow/flow.hpp>

#include <atomic>

#include "../scratch.hpp"

using namespace std::chrono_literals;

std::atomic<int> mails{0};

// [workflow]
flow::workflow<int> trial(std::string user)
{
    co_await flow::sleep_for(24h * 30);
    co_await flow::step("mail", flow::idempotent, [&] { mails += user.empty() ? 0 : 1; });
    co_return 30;
}
// [/workflow]

// [clock]
class test_clock final : public flow::clock {
public:
    flow::time_point now() const override { return flow::time_point{} + passed_; }
    flow::duration steady() const override { return passed_; }
    void advance(flow::duration d) { passed_ += d; }

private:
    flow::duration passed_ = 24h * 365 * 50;  // 2019 or so; only poll() reads it, on this thread
};
// [/clock]

int main()
{
    // [test]
    test_clock clock;
    auto const store = flow::memory();
    flow::engine_options const by_hand{.threads = 0, .clock = &clock};  // no thread is made: poll() does everything, here

    auto const settle = [](flow::engine& e) {
        while (e.poll(10ms).work_left) {}
    };

    flow::run_id id;
    {
        flow::engine engine{store, by_hand};
        engine.add<trial>("trial");
        id = engine.start<trial>("ada").id();
        settle(engine);
        clock.advance(24h * 29);
        settle(engine);
        expect(mails == 0, "after 29 days there is no mail yet");
    }  // the engine is gone: what a restart of the process does to a run, in an orderly way
    flow::engine engine{store, by_hand};
    engine.add<trial>("trial");
    clock.advance(24h);
    settle(engine);
    expect(mails == 1, "after 30 days there is one");
    expect(engine.find(id).status().run == flow::run_status::succeeded, "and the run has ended");
    // [/test]
}
