// For the guide: what happens outside, told to whoever waits for it.
#include <flow/flow.hpp>

#include "../scratch.hpp"
#include "../store_option.hpp"

using namespace std::chrono_literals;

// [wait]
struct payment {
    int cents = 0;
};

flow::workflow<std::string> order(std::string number)
{
    try {
        auto const paid = co_await flow::wait_for_event<payment>("payment", number, {.timeout = 72h});
        co_await flow::step("ship", flow::idempotent, [&] { /* … */ });
        co_return number + " paid: " + std::to_string(paid.cents);
    } catch (flow::wait_timeout const&) {
        co_return number + " was never paid";
    }
}
// [/wait]

// [own]
flow::workflow<int> chat()
{
    int lines = 0;
    for (;;) {
        auto const line = co_await flow::wait_for_event<std::string>("line");
        if (line == "bye") co_return lines;
        ++lines;
    }
}
// [/own]

int main(int argc, char** argv)
{
    auto const store = flow::open_store(store_text(argc, argv, "memory"));
    flow::engine engine(store);
    engine.add<order>("order");
    engine.add<chat>("chat");

    // [send]
    flow::client shop(store, "shop");
    payment const paid{1999};
    auto const told = shop.send_event("payment", "order-17", paid, {.id = "evt_8d21"});  // a webhook may come three times
    // [/send]
    expect(told.answer == flow::delivery_answer::kept, "nobody waits for it yet: it is kept");
    auto const again = shop.send_event("payment", "order-17", paid, {.id = "evt_8d21"});
    expect(again.answer == flow::delivery_answer::duplicate, "told twice it is one event");
    expect(engine.start<order>("order-17").result() == "order-17 paid: 1999", "who comes later finds it");

    // [one]
    auto const talk = engine.start<chat>({.idempotency_key = "alice", .event = {.topic = "line", .json = R"("hello")"}});
    shop.send(talk.id(), "line", "how are you?");
    shop.send(talk.id(), "line", "bye");
    // [/one]
    expect(talk.result() == 2, "the events of one run come in the order in which they were sent");
    try {
        shop.send(talk.id(), "line", "still there?");
        expect(false, "a run that has ended takes nothing");
    } catch (flow::error const& e) {
        expect(e.code() == flow::errc::run_ended, "and the sender is told");
    }
}
