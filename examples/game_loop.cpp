// A quest inside a game: a workflow that is polled sixty times a second and waits for the player's choices. Kill the game in the
// middle of a dialogue and start it again: the same person still asks. A saved game is a copy of the file.
//
//     game_loop [--store TEXT] [--script WHO=CHOICE,...] [--legend FILE]
//
// The store is quest.db unless it is named. In a terminal it is played by keys (after kill -9 the terminal wants `stty sane`); --script
// answers instead of the player, each question by who asks it, and what it does not name waits. `examples/game_loop/kill_and_resume`
// kills it, forks a save and plays both.
#include <flow/flow.hpp>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "game_loop/terminal.hpp"
#include "store_option.hpp"

using namespace std::chrono_literals;

std::string legend = "legend.txt";  // the world outside: what is told of the hero

/// Told again under the same key, it is told once.
void tell(std::string const& deed, flow::attempt& a)
{
    std::string const key(a.key().substr(0, 16));
    std::ifstream in(legend);
    for (std::string line; std::getline(in, line);)
        if (line.starts_with(key)) return;
    std::ofstream(legend, std::ios::app) << key << ' ' << deed << '\n';
}

// What people say is the game's data; the run only knows who asks.
struct dialogue {
    char const* says;
    std::vector<std::string> choices;
};
std::map<std::string, dialogue> const dialogues{
    {"ferryman", {"The river is high. Who pays, who swims?", {"Pay three gold", "Swim"}}},
    {"troll", {"My bridge! Riddle or fight?", {"The riddle", "Fight", "Go back"}}},
    {"gatekeeper", {"Night falls. Who are you?", {"A friend", "Nobody"}}},
};

// [quest]
flow::workflow<std::string> quest(int gold)
{
    co_await flow::step("the river", flow::replayable, [] {});  // a place on the way: the scene shows the last one reached
    co_await flow::sleep_for(600ms);
    auto const crossing = co_await flow::wait_for_token<int>("ferryman");
    if (crossing == 1) gold -= 3;
    co_await flow::step("tell of the river", flow::idempotent,
                        [&](flow::attempt& a) { tell(crossing == 1 ? "paid the ferryman" : "swam the river", a); });

    co_await flow::step("the bridge", flow::replayable, [] {});
    auto const luck = co_await flow::random(1, 6);  // journaled: killing the game does not throw the dice again
    co_await flow::sleep_for(600ms);
    auto const deed = co_await flow::wait_for_token<int>("troll");
    if (deed == 3) co_return "went home with " + std::to_string(gold) + " gold";
    gold += deed == 1 ? 5 : luck;
    co_await flow::step("tell of the troll", flow::idempotent,
                        [&](flow::attempt& a) { tell(deed == 1 ? "answered the troll" : "fought the troll", a); });

    co_await flow::step("the gate", flow::replayable, [] {});
    co_await flow::sleep_for(600ms);
    auto const name = co_await flow::wait_for_token<int>("gatekeeper");
    co_return std::string(name == 1 ? "a friend" : "nobody") + " came through the gate with " + std::to_string(gold) + " gold";
}
// [/quest]

/// The scene, from what the run's journal tells: so it is the same after a restart.
scene scene_of(flow::run_view const& view, std::string const& note)
{
    std::map<std::string, int> const roads{{"the river", 20}, {"the bridge", 55}, {"the gate", 90}};
    scene s{.place = "the road", .note = note};
    for (auto const& step : view.steps)
        if (auto const at = roads.find(step.name); at != roads.end()) s.place = at->first, s.road = at->second;
    for (auto const& open : view.open) {
        auto const& d = dialogues.at(open.row.name);
        s.who = open.row.name, s.says = d.says, s.choices = d.choices;
    }
    return s;
}

struct options {
    std::string store = "sqlite:quest.db";
    std::map<std::string, int> script;
};

options read_options(int argc, char** argv)
{
    options o;
    use_every_store();
    for (int i = 1; i + 1 < argc; i += 2) {
        std::string const name = argv[i];
        if (name == "--store") o.store = argv[i + 1];
        else if (name == "--legend") legend = argv[i + 1];
        else if (name != "--script") throw std::invalid_argument("what is " + name + "?");
        std::istringstream answers(name == "--script" ? argv[i + 1] : "");
        for (std::string who, choice; std::getline(answers, who, '=') && std::getline(answers, choice, ',');)
            o.script[who] = std::atoi(choice.c_str());
    }
    if (o.store != "memory") return o;
    std::fprintf(stderr, "game_loop: not in memory: a game that is killed has to find its quest again. Name a file: --store sqlite:FILE\n");
    std::exit(2);
}

/// A saved game is a fork of the file: opened by --store, it goes on from there, whatever becomes of this one.
std::string save(std::string const& store)
try {
    auto const file = store.starts_with("sqlite:") ? store.substr(7) : store;
    std::string copy;
    for (int number = 1; copy.empty() || std::filesystem::exists(copy); ++number) copy = file + "." + std::to_string(number) + ".save.db";
    flow::backup(file, copy);
    return "saved as " + copy;
} catch (flow::error const& e) {
    return "not saved: " + e.message();
}

volatile std::sig_atomic_t interrupted = 0;  // Ctrl-C leaves as q does, and the terminal as it was

int main(int argc, char** argv)
try {
    std::signal(SIGINT, [](int) { interrupted = 1; });
    auto const o = read_options(argc, argv);
    // [loop]
    flow::engine engine{flow::open_store(o.store), {.threads = 0}};
    engine.add<quest>("quest");
    auto const run = engine.start<quest>(10, {.idempotency_key = "the hero's"});  // at every start of the game: the same quest

    std::optional<terminal> screen(std::in_place);
    keyboard const keys;
    std::string note = "the quest is in " + engine.data().name();
    auto next_frame = std::chrono::steady_clock::now();
    for (bool playing = true; playing && run.status().run != flow::run_status::succeeded;) {
        engine.poll(2ms);  // all of the quest happens in here, on this thread, for two of the frame's sixteen milliseconds

        auto const view = run.view();
        auto const now = scene_of(view, note);
        screen->draw(now);

        auto const key = keys.pressed();
        auto const scripted = o.script.find(now.who);
        int const choice = scripted != o.script.end() ? scripted->second : key - '0';
        if (!view.open.empty() && choice >= 1 && choice <= static_cast<int>(now.choices.size()))
            engine.complete(flow::token<int>{view.open.front().row.id}, choice);
        if (key == 's') note = save(o.store);
        playing = key != 'q' && interrupted == 0;

        std::this_thread::sleep_until(next_frame += 16'667us);
    }
    // [/loop]
    screen.reset();
    std::puts(run.status().run == flow::run_status::succeeded ? ("The quest is over: " + run.result() + ".").c_str() : "The quest waits for you.");
} catch (std::exception const& e) {
    std::fprintf(stderr, "game_loop: %s\n", e.what());
    return 1;
}
