// Three classes of steps, by what happens when they run twice; and two doubts, one settled by asking, one by a person.
#include <flow/flow.hpp>

#include <map>
#include <set>

#include "scratch.hpp"
#include "store_option.hpp"

using namespace std::chrono_literals;

// The world outside. Its functions run on the engine's threads, one after the other here.
int looked_up = 0, letters = 0, failures = 0;
std::set<std::string> reserved;             // a shelf that knows keys
std::map<std::string, std::string> bank;    // payments by key

void fail_once() { if (failures++ == 0) throw std::runtime_error("try again"); }

// [workflow]
flow::workflow<std::string> buy(std::string item)
{
    flow::step_options const soon{.retry = {.max_attempts = 3, .first_delay = 10ms}};

    // No effect outside: may run at any time, any number of times.
    auto const cents = co_await flow::step("price", flow::replayable, [&] { return ++looked_up, item == "book" ? 1200 : 0; });

    // Repeating with the same key does no harm: tried again until it works.
    co_await flow::step("reserve", flow::idempotent,
                        [&](flow::attempt& a) { reserved.insert(std::string(a.key())), fail_once(); }, soon);

    // Repeating does harm, and an exception does not tell whether it happened. The bank can be asked.
    auto const receipt = co_await flow::step("pay", flow::non_replayable, [&](flow::attempt& a) -> std::string {
        bank[std::string(a.key())] = "receipt for " + std::to_string(cents);
        throw std::runtime_error("connection lost");
    }).reconcile([&](flow::attempt& a) {
        auto const found = bank.find(std::string(a.step_key()));
        return found == bank.end() ? flow::reconciled<std::string>::not_done() : flow::reconciled<std::string>::done(found->second);
    });

    // The same, but nobody can be asked: a person has to decide. The class left out is non_replayable.
    auto const letter = co_await flow::step("post", [&]() -> std::string {
        ++letters;
        throw std::runtime_error("the printer does not answer");
    });
    co_return receipt + ", " + letter;
}
// [/workflow]

int main(int argc, char** argv)
{
    flow::engine engine{flow::open_store(store_text(argc, argv, "memory")), {.threads = 2, .log = nullptr}};
    engine.add<buy>("buy");
    auto const run = engine.start<buy>("book");

    while (run.view().open.empty()) run.wait(10ms);
    auto const open = run.view().open.front();
    std::printf("       %s\n", open.question.c_str());
    expect(letters == 1, "the letter in doubt was not sent again");
    // [decide]
    auto const question = engine.intervention_of(run.id());
    engine.decide(question, "complete", R"("letter 7")", "saw it in the tray", "alice");
    // [/decide]
    expect(run.result() == "receipt for 1200, letter 7", "the run went on with what the bank and the person said");
    expect(looked_up == 1 && letters == 1 && bank.size() == 1, "each of them happened once");
    expect(failures == 2 && reserved.size() == 1, "'reserve' was called twice, with one key");
}
