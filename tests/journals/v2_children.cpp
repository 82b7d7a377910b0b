// Runs that start others. A child's tags are its name in expected.tsv.
#include "journals/v2_workflows.hpp"

using namespace std::chrono_literals;

namespace flow::test::journals::v2 {

namespace {

workflow<int> doubles(std::string who, int x)
{
    std::string const name = "double " + who;
    co_return co_await step(name, idempotent, [&] { return did(name), 2 * x; });
}
workflow<int> answers(std::string who)
{
    auto const n = co_await wait_for_token<int>("answer");
    co_await mark("answered " + who);
    co_return n;
}
workflow<int> breaks(std::string who)
{
    std::string const name = "break " + who;
    co_return co_await step(name, idempotent, [&]() -> int { did(name); throw permanent_error("card declined"); });
}
workflow<int> passes_on(std::string who)
{
    std::string const below = who + "-below";
    auto const c = co_await start_run<breaks>(below, {.tags = below});
    co_return co_await c;
}
workflow<int> sleeps_long(std::string who)
{
    co_await sleep_for(480h);
    co_await mark("slept " + who);
    co_return 480;
}

workflow<std::string> takes_result(std::string who)
{
    std::string const name = who + "-child";
    auto const c = co_await start_run<doubles>(name, 21, {.priority = 2, .tags = name});
    auto const first = co_await c;
    auto const again = co_await c;
    auto const word = co_await finish();
    co_return std::to_string(first + again) + ' ' + word;
}

/// What it is given by others lies in blobs.
workflow<std::string> long_text(std::string who)
{
    co_await mark("write " + who);
    co_return std::string(2100, 'c');
}
workflow<std::string> takes_long_values(std::string who)
{
    std::string const name = who + "-child";
    auto const c = co_await start_run<long_text>(name, {.tags = name});
    auto const written = co_await c;
    auto const told = co_await wait_for_event<std::string>("long", who);
    auto const v = co_await ask<std::string>("long", question("What shall we say?").subject(ask_subject::input));
    auto const word = co_await finish();
    co_return std::to_string(written.size()) + ' ' + std::to_string(told.size()) + ' ' + std::to_string(v.value->size()) + ' ' + word;
}

workflow<std::string> takes_failure(std::string who)
{
    std::string const name = who + "-child";
    auto const c = co_await start_run<passes_on>(name, {.tags = name});
    auto const r = co_await as_outcome(wait_for_run(c));
    auto const word = co_await finish();
    co_return said(r) + ' ' + word;
}
workflow<std::string> takes_answer(std::string who, close_policy on_close)
{
    std::string const name = who + "-child";
    auto const c = co_await start_run<answers>(name, {.on_close = on_close, .tags = name});
    auto const n = co_await c;
    co_await mark("took answer " + who);
    auto const word = co_await finish();
    co_return std::to_string(n) + ' ' + word;
}
/// Its first wait ends by its time, the child goes on.
workflow<std::string> waits_so_long(std::string who)
{
    std::string const name = who + "-child";
    auto const c = co_await start_run<answers>(name, {.tags = name});
    auto const first = co_await as_outcome(wait_for_run(c, {.timeout = 1h}));
    auto const second = co_await c;
    co_return said(first) + ' ' + std::to_string(second);
}
/// The child's time is over before anybody answers.
workflow<std::string> gives_deadline(std::string who)
{
    std::string const name = who + "-child";
    auto const c = co_await start_run<sleeps_long>(name, {.deadline = 240h, .tags = name});
    auto const r = co_await as_outcome(wait_for_run(c));
    co_return said(r);
}
workflow<std::string> waits_for_what_begins_later(std::string who)
{
    std::string const name = who + "-child";
    auto const c = co_await start_run<doubles>(name, 5, {.delay = 240h, .tags = name});
    auto const n = co_await c;
    co_return std::to_string(n);
}

workflow<std::string> fans_out(std::string who)
{
    std::vector<int> const numbers{1, 2, 3, 4};
    auto const each = [&](int x) -> workflow<int> {
        std::string const name = who + "-child-" + std::to_string(x);
        auto const c = co_await start_run<answers>(name, {.tags = name});
        auto const n = co_await c;
        co_return n + 10 * x;
    };
    auto const all = co_await for_each(numbers, each, {.concurrency = 3});
    std::string text;
    for (auto const n : all) text += std::to_string(n) + ' ';
    auto const word = co_await finish();
    co_return text + word;
}
/// The slow child goes with the branch that started it.
workflow<std::string> first_of_two(std::string who, close_policy on_close)
{
    std::string const one = who + "-slow", two = who + "-fast";
    auto const slow = [&]() -> workflow<int> {
        auto const c = co_await start_run<sleeps_long>(one, {.on_close = on_close, .tags = one});
        co_return co_await c;
    };
    auto const fast = [&]() -> workflow<int> {
        auto const c = co_await start_run<doubles>(two, 4, {.tags = two});
        co_return co_await c;
    };
    auto const won = co_await any(slow, fast);
    auto const word = co_await finish();
    co_return std::to_string(won.index()) + ' ' + word;
}

workflow<std::string> takes_key(std::string who, std::string key)
{
    std::string told;
    std::string const name = who + "-child";
    try {
        auto const c = co_await start_run<doubles>(name, 3, {.idempotency_key = key});
        auto const n = co_await c;
        told = std::to_string(n);
    } catch (error const& e) {
        told = e.what();
    }
    auto const word = co_await finish();
    co_return told + ' ' + word;
}
workflow<std::string> detaches(std::string who)
{
    std::string const name = who + "-child";
    auto const c = co_await start_run<answers>(name, {.on_close = close_policy::detached, .tags = name});
    auto const r = co_await as_outcome(wait_for_run(c));
    co_return said(r);
}

struct kept {
    child<int> c;
    int turn = 0;
};
workflow<std::string> keeps_over_checkpoint(std::string who)
{
    auto s = co_await state<kept>();
    std::string const name = who + "-child";
    bool const first = s.turn == 0;
    if (first) {
        s.c = co_await start_run<answers>(name, {.tags = name});
        s.turn = 1;
        co_await checkpoint(s);
    }
    auto const n = co_await s.c;
    co_return std::to_string(n);
}
/// What it starts is begun by another process than the one that recorded it, under an id that every version of the library makes alike.
workflow<std::string> starts_later(std::string who)
{
    auto const word = co_await finish();
    std::string const name = who + "-child";
    auto const c = co_await start_run<doubles>(name, 50, {.tags = name});
    auto const n = co_await c;
    co_return to_string(c.id()) + ' ' + std::to_string(n) + ' ' + word;
}
workflow<std::string> cleans_up_with_a_child(std::string who)
{
    std::string const name = who + "-child";
    auto const got = co_await as_outcome(wait_for_token<int>("nobody answers"));
    if (got) co_return "answered";
    auto const c = co_await shield(start_run<answers>(name, {.tags = name}));
    auto const n = co_await shield(wait_for_run(c));
    co_await shield(mark("cleaned up with " + std::to_string(n)));
    raise(got.error());
}

}  // namespace

void add_children(engine& e)
{
    e.add<doubles>("doubles");
    e.add<answers>("answers");
    e.add<breaks>("breaks");
    e.add<passes_on>("passes_on");
    e.add<sleeps_long>("sleeps_long");
    e.add<takes_result>("takes_result");
    e.add<long_text>("long_text");
    e.add<takes_long_values>("takes_long_values");
    e.add<takes_failure>("takes_failure");
    e.add<takes_answer>("takes_answer");
    e.add<waits_so_long>("waits_so_long");
    e.add<gives_deadline>("gives_deadline");
    e.add<waits_for_what_begins_later>("waits_for_what_begins_later");
    e.add<fans_out>("fans_out");
    e.add<first_of_two>("first_of_two");
    e.add<takes_key>("takes_key");
    e.add<detaches>("detaches");
    e.add<keeps_over_checkpoint>("keeps_over_checkpoint");
    e.add<starts_later>("starts_later");
    e.add<cleans_up_with_a_child>("cleans_up_with_a_child");
}

}  // namespace flow::test::journals::v2
