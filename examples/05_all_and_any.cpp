// Branches side by side: a trip is booked in parallel, each place is looked up with two at once, and a person's answer races a deadline.
#include <flow/flow.hpp>

#include <algorithm>
#include <atomic>

#include "scratch.hpp"
#include "store_option.hpp"

using namespace std::chrono_literals;

std::atomic<int> looking{0}, most_at_once{0}, tidied{0};

int price_of(std::string const& place)
{
    most_at_once = std::max(most_at_once.load(), ++looking);
    std::this_thread::sleep_for(5ms);
    --looking;
    return static_cast<int>(place.size()) * 100;
}

// [all]
struct trip {
    std::string train, hotel;
    friend bool operator==(trip const&, trip const&) = default;
};

flow::workflow<std::string> reserve(std::string what)
{
    auto const number = co_await flow::step("reserve", flow::idempotent, [&] { return what + " 7"; });
    co_await flow::step("note", flow::replayable, [] {});
    co_return number;
}

flow::workflow<trip> book()
{
    // Both run at once. If one fails, the other is cancelled, and its error is thrown here.
    auto const [train, hotel] = co_await flow::all(reserve("seat"), reserve("room"));
    co_return trip{train, hotel};
}
// [/all]

// [for_each]
flow::workflow<int> cheapest(std::vector<std::string> places)
{
    auto const prices = co_await flow::for_each(
        places,
        [](std::string const& place) {
            auto look = [place] { return price_of(place); };
            return flow::step("price", flow::replayable, look);
        },
        {.concurrency = 2});
    co_return *std::min_element(prices.begin(), prices.end());
}
// [/for_each]

// [any]
flow::workflow<std::string> ask_until(std::chrono::milliseconds limit)
{
    auto const won = co_await flow::any(
        [&]() -> flow::workflow<std::string> {
            auto const answer = co_await flow::as_outcome(flow::wait_for_token<std::string>("which way"));
            if (!answer) co_await flow::shield(flow::step("tidy", flow::idempotent, [] { ++tidied; }));  // the deadline won
            co_return answer.value();
        },
        flow::sleep_for(limit));
    co_return won.index() == 0 ? std::get<0>(won) : "straight on";
}
// [/any]

int main(int argc, char** argv)
{
    flow::engine engine{flow::open_store(store_text(argc, argv, "memory")), {.threads = 4}};
    engine.add<book>("book");
    engine.add<cheapest>("cheapest");
    engine.add<ask_until>("ask_until");

    expect(engine.start<book>().result() == trip{"seat 7", "room 7"}, "two branches were booked side by side");
    expect(engine.start<cheapest>({"Rome", "Oslo", "Nice", "Bergen", "Ulm"}).result() == 300, "five prices, the cheapest of them");
    expect(most_at_once == 2, "never more than two at once");

    expect(engine.start<ask_until>(20ms).result() == "straight on", "nobody answered: the deadline won");
    expect(tidied == 1, "and the branch that lost tidied up");
    auto const asked = engine.start<ask_until>(1h);
    while (asked.view().open.empty()) asked.wait(10ms);
    engine.complete_json(asked.view().open.front().row.id, R"("left")");
    expect(asked.result() == "left", "an answer came first");
    expect(asked.view().open.empty(), "and nothing waits any more");
}
