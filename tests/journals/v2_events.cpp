// Waits for events, by topic and correlation and told to one run alone; runs that tell others.
#include "journals/v2_workflows.hpp"

using namespace std::chrono_literals;

namespace flow::test::journals::v2 {

namespace {

workflow<std::string> pays(std::string order)
{
    auto const paid = co_await wait_for_event<int>("payment", order);
    co_await mark("ship " + order);
    auto const word = co_await finish();
    co_return std::to_string(paid) + ' ' + word;
}

workflow<std::string> pays_in_time(std::string order, int hours)
{
    auto const paid = co_await as_outcome(wait_for_event<int>("nobody pays", order, {.timeout = std::chrono::hours{hours}}));
    co_await mark("remind " + order);
    auto const word = co_await finish();
    co_return said(paid) + ' ' + word;
}

/// The first of two. What came for the other wait is there for another taker.
workflow<std::string> races(std::string order)
{
    auto const first = co_await any(wait_for_event<int>("payment", order), wait_for_event<int>("refund", order));
    auto const n = first.index() == 0 ? std::get<0>(first) : std::get<1>(first);
    auto const word = co_await finish();
    co_return std::to_string(first.index()) + ": " + std::to_string(n) + ' ' + word;
}

workflow<std::string> collects(std::string who, std::string topic)
{
    std::string all;
    for (int i = 0; i < 3; ++i) {
        auto const next = co_await wait_for_event<std::string>(topic);
        all += next;
    }
    co_await mark("collected " + who);
    auto const word = co_await finish();
    co_return all + ' ' + word;
}

/// What a robot's loop looks like: a loser of the group gives its event back, and the next turn has it.
workflow<std::string> obeys(std::string who)
{
    std::string all;
    for (int turn = 0;; ++turn) {
        auto const next = co_await any(wait_for_event<std::string>("command"), wait_for_event<int>("stop"));
        bool const stop = next.index() == 1;
        if (stop) break;
        all += std::get<0>(next);
        co_await mark("turn " + std::to_string(turn) + " of " + who);
    }
    auto const word = co_await finish();
    co_return all + ' ' + word;
}

workflow<int> three_at_once()
{
    auto const [a, b, c] = co_await all(wait_for_event<int>("same"), wait_for_event<int>("same"), wait_for_event<int>("same"));
    co_return 100 * a + 10 * b + c;
}

workflow<std::string> tells(run_id to, std::string topic, int hours)
{
    std::string text;
    auto const first = co_await as_outcome(send(to, topic, "x"));
    auto const second = co_await as_outcome(send(to, topic, "y"));
    co_await sleep_for(std::chrono::hours{hours});
    auto const third = co_await as_outcome(send(to, topic, "z"));
    for (auto const* o : {&first, &second, &third}) text += (*o ? std::to_string(static_cast<int>(**o)) : said(*o)) + ' ';
    auto const word = co_await finish();
    co_return text + word;
}

}  // namespace

void add_events(engine& e)
{
    e.add<pays>("pays");
    e.add<pays_in_time>("pays_in_time");
    e.add<races>("races");
    e.add<collects>("collects");
    e.add<obeys>("obeys");
    e.add<three_at_once>("three_at_once");
    e.add<tells>("tells");
}

}  // namespace flow::test::journals::v2
