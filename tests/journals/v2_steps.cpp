// Steps that take long: looked for again and again, and begun here to end elsewhere.
#include "journals/v2_workflows.hpp"

using namespace std::chrono_literals;

namespace flow::test::journals::v2 {

namespace {

/// What does not end a poll is noted nowhere: how often it looks is the clock's.
workflow<std::string> looks_for(std::string who, poll_options o)
{
    std::string const name = "look " + who;
    auto const n = co_await as_outcome(poll_until(name, [&]() -> std::optional<int> {
        if (who.ends_with("broken")) throw permanent_error("no such thing");
        if (!has_come.contains(who)) return std::nullopt;
        did(name);
        return 4;
    }, o));
    auto const word = co_await finish();
    co_return said(n) + ' ' + word;
}
workflow<std::string> looks_often(std::string who)
{
    auto const told = co_await looks_for(who, {.every = 1s});
    co_return told;
}
/// It stands on a timer between two looks.
workflow<std::string> looks_seldom(std::string who, int hours)
{
    auto const told = co_await looks_for(who, {.every = 30min, .backoff = 2.0F, .cap = 3h, .timeout = std::chrono::hours{hours}});
    co_return told;
}

begin_options const dies_with_us{.retry = {.max_attempts = 3, .first_delay = 1s}};
begin_options const lives_on{.outlives_engine = true, .retry = {.max_attempts = 2, .first_delay = 48h, .cap = 48h}, .strict = true};
begin_options const has_one_hour{.timeout = 1h, .outlives_engine = true, .retry = {.max_attempts = 1}};

template <class Class>
workflow<std::string> renders_as(Class cls, std::string who, begin_options o)
{
    std::string const name = "render " + who;
    auto const n = co_await as_outcome(begin_step<int>(name, cls, [&](token<int> const&) { did(name); }, o));
    auto const word = co_await finish();
    co_return said(n) + ' ' + word;
}
workflow<std::string> renders(std::string who)
{
    auto const told = co_await renders_as(idempotent, who, dies_with_us);
    co_return told;
}
workflow<std::string> renders_replayable(std::string who)
{
    auto const told = co_await renders_as(replayable, who, dies_with_us);
    co_return told;
}
workflow<std::string> renders_elsewhere(std::string who)
{
    auto const told = co_await renders_as(idempotent, who, lives_on);
    co_return told;
}
workflow<std::string> renders_once(std::string who, int hours)
{
    auto const told = co_await renders_as(non_replayable, who, {.timeout = std::chrono::hours{hours}});
    co_return told;
}
workflow<std::string> renders_in_time(std::string who)
{
    auto const told = co_await renders_as(idempotent, who, has_one_hour);
    co_return told;
}
workflow<std::string> prints_beside(std::string who)
{
    std::string const left = "print left " + who, right = "print right " + who;
    auto const [a, b] = co_await all(begin_step<void>(left, idempotent, [&](token<void> const&) { did(left); }, lives_on),
                                     begin_step<int>(right, idempotent, [&](token<int> const&) { did(right); }, lives_on));
    static_cast<void>(a);
    auto const word = co_await finish();
    co_return std::to_string(b) + ' ' + word;
}

/// A token may be failed too.
workflow<std::string> is_told_of_failure(std::string who)
{
    auto const n = co_await as_outcome(wait_for_token<int>("may fail"));
    co_await mark("told of failure " + who);
    auto const word = co_await finish();
    co_return said(n) + ' ' + word;
}

}  // namespace

void add_steps(engine& e)
{
    e.add<looks_often>("looks_often");
    e.add<looks_seldom>("looks_seldom");
    e.add<renders>("renders");
    e.add<renders_replayable>("renders_replayable");
    e.add<renders_elsewhere>("renders_elsewhere");
    e.add<renders_once>("renders_once");
    e.add<renders_in_time>("renders_in_time");
    e.add<prints_beside>("prints_beside");
    e.add<is_told_of_failure>("is_told_of_failure");
}

}  // namespace flow::test::journals::v2
