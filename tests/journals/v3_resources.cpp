// Runs that hold a resource: with a snapshot, small and in a blob, and without; in branches, over a checkpoint, in clean-up; and those that
// cannot be opened, read or brought back.
#include "journals/v2_workflows.hpp"
#include "journals/v3_workflows.hpp"

namespace flow::test::journals::v3 {

using v2::did, v2::finish, v2::mark, v2::said;

namespace {

struct grip {
    int width = 0;
    std::string serial, seen;
};

/// What its serial says goes wrong with it does. How often it is closed and restored is the engine's affair, and noted nowhere; opened it is once.
class gripper {
public:
    static std::unique_ptr<gripper> open(std::string const& serial)
    {
        if (serial.starts_with("absent")) throw std::runtime_error("no answer from " + serial);
        did("open " + serial);
        return std::make_unique<gripper>(grip{10, serial, {}});
    }
    static std::unique_ptr<gripper> restore(grip as)
    {
        if (as.serial.starts_with("moved")) throw std::runtime_error("it was moved by hand");
        return std::make_unique<gripper>(std::move(as));
    }
    explicit gripper(grip as) : now(std::move(as)) {}
    grip snapshot() const
    {
        if (now.serial.starts_with("moving") && now.width < 10) throw std::runtime_error("it moves");
        return now;
    }

    grip now;
};

/// Lives and dies with its process.
class session {
public:
    static std::unique_ptr<session> open() { return std::make_unique<session>(); }
    int uses = 0;
};

/// `seen`: so much that a snapshot may lie in a blob.
workflow<std::string> picks(std::string who, int seen)
{
    int width = 0;
    {
        auto hand = co_await open_resource<gripper>("hand", who);
        co_await step("squeeze " + who, idempotent, [&] {
            did("squeeze " + who);
            hand->now.width = 3;
            hand->now.seen.assign(static_cast<std::size_t>(seen), 's');
        });
        auto const by = co_await wait_for_token<int>("squeeze by");
        co_await step("squeeze more " + who, idempotent, [&] {
            did("squeeze more " + who);
            hand->now.width -= by;
        });
        auto const go = co_await as_outcome(wait_for_token<int>("let go"));
        if (!go) co_await shield(step("park " + who, idempotent, [&] { did("park " + who + " at " + std::to_string(hand->now.width)); }));
        width = co_await step("look " + who, replayable, [&] { return hand->now.width; });
    }
    auto const word = co_await finish();
    co_return std::to_string(width) + ' ' + word;
}

workflow<std::string> tries(std::string who)
{
    std::string why;
    try {
        auto const hand = co_await open_resource<gripper>("hand", who);
        why = "it opened";
    } catch (step_error const& e) {
        why = e.what();
    }
    co_await mark("tried " + who);
    auto const word = co_await finish();
    co_return why + ' ' + word;
}

workflow<std::string> talks(std::string who)
{
    auto line = co_await open_resource<session>("line");
    co_await step("say " + who, idempotent, [&] { did("say " + who), ++line->uses; });
    auto const word = co_await finish();
    auto const uses = co_await step("say more " + who, idempotent, [&] { return did("say more " + who), ++line->uses; });
    co_return std::to_string(uses) + ' ' + word;
}

workflow<int> sets(std::string who, int width)
{
    auto hand = co_await open_resource<gripper>("hand", who);
    co_await step("set " + who, idempotent, [&] { did("set " + who), hand->now.width = width; });
    auto const by = co_await wait_for_token<int>("squeeze by");
    co_return co_await step("measure " + who, replayable, [&] { return hand->now.width * by; });
}
workflow<std::string> sets_two(std::string who)
{
    auto const [left, right] = co_await all(sets("left " + who, 2), sets("right " + who, 3));
    auto const word = co_await finish();
    co_return std::to_string(left) + ' ' + std::to_string(right) + ' ' + word;
}

/// What is held is closed by the checkpoint, and opened anew behind it. The second of two is closed before the end of its scope.
workflow<std::string> turns(std::string who)
{
    auto const turn = co_await state<int>();
    auto const key = who + ' ' + std::to_string(turn);
    auto hand = co_await open_resource<gripper>("hand", key);
    co_await step("turn " + key, idempotent, [&] { did("turn " + key), hand->now.width = turn; });
    auto const by = co_await wait_for_token<int>("squeeze by");
    if (turn == 0) co_await checkpoint(1);
    hand.close();
    auto const word = co_await finish();
    co_return std::to_string(by) + ' ' + word;
}

}  // namespace

void add_all(engine& e)
{
    e.add<picks>("picks");
    e.add<tries>("tries");
    e.add<talks>("talks");
    e.add<sets_two>("sets_two");
    e.add<turns>("turns");
}

}  // namespace flow::test::journals::v3
