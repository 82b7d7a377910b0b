// A loop that runs for months: a feeder visits its stations, turn after turn. Each turn ends with a checkpoint; a crash goes on in the
// turn it met, and what is older is never read again. Then the rules change, and the run begins anew under its id.
#include <flow/flow.hpp>

#include "scratch.hpp"
#include "store_option.hpp"

using namespace std::chrono_literals;

// [loop]
struct round_trip {
    int turn = 0;
    int fed = 0;
};

flow::workflow<std::string> feeder(int turns, std::string with)
{
    auto trip = co_await flow::state<round_trip>();  // round_trip{} in the first turn
    bool const over = trip.turn == turns;
    if (over) co_return std::to_string(trip.fed) + " fed with " + with;

    auto const station = trip.turn % 3;
    trip.fed += co_await flow::step("feed", flow::idempotent, [&] { return 10 + station; });
    co_await flow::sleep_for(20ms);

    ++trip.turn;
    co_await flow::checkpoint(trip);  // does not return: the body is entered again at its top
    co_return "";
}
// [/loop]

// [anew]
flow::workflow<std::string> season(int number, std::string food)
{
    auto const next = co_await flow::step("look at the shelf", flow::replayable, [&] { return std::string(number == 1 ? "hay" : "grass"); });
    bool const changed = next != food;
    if (changed) co_await flow::continue_as_new(number + 1, next);  // as if just started so, under the same id and key
    co_return food;
}
// [/anew]

int main(int argc, char** argv)
{
    scratch_folder const here;
    auto const store = flow::open_store(store_text(argc, argv, "sqlite:" + here.file("flow.db")));
    flow::run_id id;
    {
        flow::engine engine(store);
        engine.add<feeder>("feeder");
        id = engine.start<feeder>(30, "hay", {.idempotency_key = "north-pasture"}).id();
        std::this_thread::sleep_for(150ms);
    }  // the engine goes down in some turn
    flow::engine engine(store);
    engine.add<feeder>("feeder");
    engine.add<season>("season");
    auto const again = engine.start<feeder>(30, "hay", {.idempotency_key = "north-pasture"});  // the same run
    expect(again.id() == id, "the key finds the run");
    auto const text = again.result();
    std::printf("%s, in %u turns, %ld journal entries\n", text.c_str(), engine.inspect(id).segment,
                static_cast<long>(engine.inspect(id).entries));
    expect(text == "330 fed with hay", "every turn was taken once");

    auto const food = engine.start<season>(1, "grass");
    expect(food.result() == "grass", "the last season's food");
    expect(engine.inspect(food.id()).segment == 2, "it began anew twice");
}
