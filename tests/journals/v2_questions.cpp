// Questions to people: of every subject, for one, for some and for all of those asked, with every end of a deadline.
#include "journals/v2_workflows.hpp"

using namespace std::chrono_literals;

namespace flow::test::journals::v2 {

namespace {

struct payback {
    std::string to;
    int cents = 0;
};

template <class T>
std::string decided(verdict<T> const& v)
{
    std::string text = v.approved ? "approved" : "rejected";
    if constexpr (!std::is_void_v<T>)
        if (v.value) text += ' ' + said(outcome<T>(*v.value));
    if (v.by_default) text += " by default";
    for (auto const& one : v.votes) text += (text.empty() ? "" : ", ") + one.by + (one.approved ? " yes" : " no") + (one.why.empty() ? "" : " (" + one.why + ")");
    return text;
}

/// Two of three, about something exact.
workflow<std::string> refunds(std::string who, int cents)
{
    payback const what{who, cents};
    auto const v = co_await ask("refund", question("Pay back?").about(what).to("ann", "bob", "cy").quorum(2));
    if (v.approved) co_await mark("pay back " + who);
    auto const word = co_await finish();
    co_return decided(v) + ' ' + word;
}
workflow<std::string> asks_all(std::string who)
{
    auto const v = co_await ask("all agree", question("Do all agree?").to("ann", "bob").all().channel("desk").sla(1h));
    co_await mark("all agreed " + who);
    co_return decided(v);
}
workflow<std::string> asks_anybody(std::string who)
{
    auto const v = co_await ask("confirm", question("Is it so?").subject(ask_subject::confirmation).any());
    co_await mark("confirmed " + who);
    auto const word = co_await finish();
    co_return decided(v) + ' ' + word;
}
workflow<std::string> chooses(std::string topic, int hours)
{
    auto const v = co_await ask<std::string>(
        topic, question("Left or right?").choices("left", "right").to("ann", "bob").deadline(std::chrono::hours{hours}).otherwise(true, "left"));
    auto const word = co_await finish();
    co_return decided(v) + ' ' + word;
}
workflow<std::string> asks_number(std::string topic, int hours)
{
    auto const v = co_await as_outcome(ask<int>(topic, question("How many?").subject(ask_subject::input).deadline(std::chrono::hours{hours}).sla(10min)));
    auto const word = co_await finish();
    co_return (v ? decided(*v) : std::string(row_of(v.error().code()).name)) + ' ' + word;
}
workflow<std::string> expires(std::string topic, int hours)
{
    auto const v = co_await ask(topic, question("Go?").deadline(std::chrono::hours{hours}).expires());
    co_return decided(v);
}
workflow<std::string> same_thrice(std::string who)
{
    auto const one = [&](int branch) -> workflow<bool> {
        auto const v = co_await ask("prompt", question("The same prompt").to("ann"));
        co_await mark("said " + std::to_string(branch) + ' ' + who);
        co_return v.approved;
    };
    auto const [a, b, c] = co_await all(one(0), one(1), one(2));
    auto const word = co_await finish();
    co_return std::to_string((a ? 100 : 0) + (b ? 10 : 0) + (c ? 1 : 0)) + ' ' + word;
}
/// A question that nobody answers loses to a sleep.
workflow<std::string> asks_in_vain(std::string who)
{
    auto const first = co_await any(ask("nobody says", question("Anybody?").to("ann")), sleep_for(2h));
    co_await mark("asked in vain " + who);
    auto const word = co_await finish();
    co_return std::to_string(first.index()) + ' ' + word;
}

}  // namespace

void add_questions(engine& e)
{
    e.add<refunds>("refunds");
    e.add<asks_all>("asks_all");
    e.add<asks_anybody>("asks_anybody");
    e.add<chooses>("chooses");
    e.add<asks_number>("asks_number");
    e.add<expires>("expires");
    e.add<same_thrice>("same_thrice");
    e.add<asks_in_vain>("asks_in_vain");
}

}  // namespace flow::test::journals::v2
