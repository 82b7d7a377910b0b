#include "journals/workflows.hpp"

#include <array>
#include <deque>
#include <limits>
#include <list>
#include <map>
#include <set>
#include <unordered_map>
#include <variant>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "flow/asio.hpp"
#include "flow/flow.hpp"

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace flow::test::journals {

namespace {

void did(std::string what) { outside().note(std::move(what)); }

/// A value in a run's result: as JSON, whatever the payload was.
template <class T>
void say(std::string& text, T const& value)
{
    if (!text.empty()) text += ' ';
    flow::detail::encode(encoding::json, value, text);
}

template <class T>
void say_outcome(std::string& text, outcome<T> const& o)
{
    if (!o) return say(text, std::string(row_of(o.error().code()).name) + ": " + o.error().message());
    if constexpr (std::is_void_v<T>) say(text, std::string("void"));
    else say(text, *o);
}

auto finish() { return wait_for_token<std::string>("finish"); }

// ---- values ---------------------------------------------------------------------------------------------------------------------

enum class colour : std::uint8_t { red, green, blue };
struct line {
    std::string item;
    std::int32_t count = 0;
    double price = 0;
};
struct order {
    std::string id;
    std::vector<line> lines;
    std::optional<std::string> note;
};
using choice = std::variant<std::int32_t, std::string, line>;

struct every_type {
    bool yes = true;
    std::int8_t small = -128;
    std::int64_t lowest = std::numeric_limits<std::int64_t>::min(), beyond_double = (std::int64_t{1} << 53) + 1;
    std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
    float half = 0.5F;
    std::vector<double> doubles;
    std::string text, empty;
    std::vector<std::byte> bytes;
    std::optional<std::int32_t> some = 5, none;
    std::vector<choice> choices;
    colour paint = colour::green;
    std::tuple<std::int32_t, std::string> both{1, "one"};
    std::pair<std::string, bool> two{"two", false};
    std::map<std::string, std::int32_t> by_name;
    std::map<std::int32_t, line> by_number;
    std::unordered_map<std::string, double> unordered;
    std::set<std::string> names;
    std::array<std::int16_t, 3> three{1, -2, 3};
    std::deque<std::int32_t> queue;
    std::list<colour> colours;
    time_point when{};
    std::chrono::milliseconds length{1500};
    uuid id{};
};
struct packed {
    every_type all;
};

every_type make_every_type()
{
    every_type v;
    v.doubles = {1.5, -0.0, 1e50, 0.1 + 0.2, std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::infinity(),
                 std::numeric_limits<double>::quiet_NaN()};
    v.text = std::string("caf\xc3\xa9 \"quoted\" \\ \n nul ") + '\0' + " end";
    for (int const b : {0, 1, 127, 128, 255}) v.bytes.push_back(static_cast<std::byte>(b));
    v.choices = {choice(7), choice(std::string("seven")), choice(line{"bolt", 7, 0.07})};
    v.by_name = {{"a", 1}, {"b", 2}};
    v.by_number = {{-1, line{"nut", 1, 0.01}}, {2, line{}}};
    v.unordered = {{"x", 0.5}, {"y", -0.5}, {"z", 3.0}};
    v.names = {"alice", "bob"};
    v.queue = {3, 2, 1};
    v.colours = {colour::blue, colour::red};
    v.when = time_point(duration(1'796'000'000'123'456));
    v.id = uuid{*parse_uuid("01900000-0000-7000-8000-000000000001")};
    return v;
}

struct no_funds : std::runtime_error {
    using std::runtime_error::runtime_error;
};
[[maybe_unused]] bool const tagged = error_tag<no_funds>("no_funds");

}  // namespace

}  // namespace flow::test::journals

template <>
inline constexpr flow::encoding flow::encoding_for<flow::test::journals::packed> = flow::encoding::binary;
template <>
inline constexpr flow::encoding flow::encoding_for<std::vector<std::byte>> = flow::encoding::bytes;

namespace flow::test::journals {

namespace {

workflow<std::string> json_types(every_type given)
{
    std::string text;
    auto const all = co_await step("all json", idempotent, [] { return did("all json"), make_every_type(); });
    auto const one = co_await step("json choice", replayable, [] { return did("json choice"), choice(line{"pin", 2, 2.5}); });
    auto const none = co_await step("json none", replayable, [] { return did("json none"), std::optional<order>(); });
    auto const owner = co_await step("json pointer", replayable, [] { return did("json pointer"), std::make_unique<line>(line{"cog", 1, 9}); });
    auto const paint = co_await step("json enum", replayable, [] { return did("json enum"), colour::blue; });
    auto const largest = co_await step("json number", replayable, [] { return did("json number"), std::numeric_limits<std::uint64_t>::max(); });
    auto const told = co_await wait_for_token<every_type>("every type");
    say(text, given);
    say(text, all);
    say(text, one);
    say(text, none);
    say(text, *owner);
    say(text, paint);
    say(text, largest);
    say(text, told);
    auto const word = co_await finish();
    co_return text + ' ' + word;
}

workflow<std::string> binary_types()
{
    std::string text;
    auto const all = co_await step("all binary", idempotent, [] {
        did("all binary");
        packed p;
        p.all = make_every_type();
        return p;
    });
    auto const raw = co_await step("raw bytes", idempotent, [] { return did("raw bytes"), make_every_type().bytes; });
    say(text, all);
    say(text, raw);
    auto const word = co_await finish();
    co_return text + ' ' + word;
}
/// Its result is binary, and lies in a blob.
workflow<packed> binary_result()
{
    co_return co_await step("binary result", replayable, [] {
        did("binary result");
        packed p;
        p.all.text = std::string(2500, 'r');
        return p;
    });
}

workflow<std::string> blobs(std::string given)
{
    std::string text;
    auto const json = co_await step("json blob", idempotent, [] { return did("json blob"), std::string(3000, 'j'); });
    auto const same = co_await step("same blob", idempotent, [] { return did("same blob"), std::string(3000, 'j'); });
    auto const binary = co_await step("binary blob", replayable, [] {
        did("binary blob");
        packed p;
        p.all.text = std::string(3000, 'b');
        return p;
    });
    auto const raw = co_await step("raw blob", non_replayable, [] { return did("raw blob"), std::vector<std::byte>(3000, std::byte{255}); });
    auto const told = co_await wait_for_token<std::string>("long answer");
    auto const ends = [&](std::string const& s) { say(text, s.substr(0, 2) + std::to_string(s.size()) + s.substr(s.size() - 2)); };
    for (auto const& s : {given, json, same, binary.all.text, told}) ends(s);
    say(text, raw.size());
    say(text, raw.back());
    auto const word = co_await finish();
    co_return text + ' ' + word;
}

workflow<std::string> draws()
{
    std::string text;
    auto const began = co_await now();
    auto const id = co_await uuid4();
    auto const dice = co_await flow::random<int>(1, 6);
    auto const share = co_await flow::random<double>(0.0, 1.0);
    auto const any = co_await flow::random<std::uint64_t>();
    say(text, began);
    say(text, id);
    say(text, dice);
    say(text, share);
    say(text, any);
    auto const word = co_await finish();
    co_return text + ' ' + word;
}

// ---- steps ----------------------------------------------------------------------------------------------------------------------

workflow<std::string> three_classes(order o, std::int32_t factor)
{
    std::string text;
    auto const sum = co_await step("add up", replayable, [&] {
        did("add up");
        double all = 0;
        for (auto const& l : o.lines) all += l.count * l.price;
        return all * factor;
    });
    auto const key = co_await step("reserve", idempotent, [](attempt& a) { return did("reserve"), std::string(a.key()); });
    auto const paid = co_await step("charge", non_replayable, [&](attempt& a) {
        did("charge");
        a.commit_ref("bank-7");
        return line{o.id, a.number(), sum};
    });
    co_await step("log", replayable, [] { did("log"); });
    say(text, sum);
    say(text, key);
    say(text, paid);
    say(text, o.note);
    auto const word = co_await finish();
    // A key is made from the run, the place and the segment: the same by every version of the library.
    auto const last = co_await step("ship", idempotent, [](attempt& a) { return did("ship"), std::string(a.key()); });
    co_return text + ' ' + last + ' ' + word;
}
workflow<std::string> changed_classes(order o, std::int32_t)
{
    auto const key = co_await step("book", idempotent, [](attempt& a) { return did("book"), std::string(a.key()); });
    auto const word = co_await finish();
    co_return o.id + key + word;
}

workflow<std::string> retries()
{
    std::string text;
    auto const refused = co_await as_outcome(step("refused", idempotent, []() -> std::int32_t { did("refused"); throw permanent_error("no such account"); }));
    auto const poor = co_await as_outcome(step(
        "poor", idempotent, []() -> std::int32_t { did("poor"); throw no_funds("empty"); }, {.retry = {.max_attempts = 2, .first_delay = 1s}}));
    auto const closed = co_await step(
        "closed", non_replayable,
        [](attempt& a) {
            did("closed");
            if (a.number() == 1) throw not_started("the bank is closed");
            return a.number();
        },
        {.retry = {.first_delay = 1min}});
    say_outcome(text, refused);
    say_outcome(text, poor);
    say(text, poor ? std::string() : std::string(poor.error().tag()));
    say(text, closed);
    auto const flaky = co_await step(
        "flaky", idempotent,
        [](attempt& a) {
            did("flaky, attempt " + std::to_string(a.number()));
            if (a.number() < 3) throw std::runtime_error("not yet");
            return a.number();
        },
        {.retry = {.max_attempts = 4, .first_delay = 48h, .factor = 1, .cap = 48h}});
    say(text, flaky);
    auto const word = co_await finish();
    co_return text + ' ' + word;
}

workflow<std::string> fails()
{
    co_return co_await step("fails", idempotent, []() -> std::string { did("fails"); throw no_funds("not a cent"); });
}

/// In doubt at its first attempt, whose name is `who`'s own.
workflow<std::string> paying(std::string who)
{
    std::string text;
    std::string const name = "pay " + who;
    auto const paid = co_await as_outcome(step(name, non_replayable, [&](attempt& a) {
        did(name);
        if (auto const dies = std::exchange(inside_the_call, nullptr)) dies();
        else if (a.number() == 1) throw std::runtime_error("connection lost");
        return "paid " + who;
    }));
    say_outcome(text, paid);
    auto const word = co_await finish();
    co_return text + ' ' + word;
}
workflow<std::string> paying_void()
{
    std::string text;
    auto const done = co_await as_outcome(step("mail it", non_replayable, [] { did("mail it"); throw std::runtime_error("lost"); }));
    say_outcome(text, done);
    auto const word = co_await finish();
    co_return text + ' ' + word;
}

workflow<std::string> reconciles()
{
    std::string text;
    auto const found = co_await step("pay once", non_replayable, []() -> std::string { did("pay once"); throw std::runtime_error("lost"); })
                           .reconcile([] { return did("ask once"), reconciled<std::string>::done("found"); });
    auto const again = co_await step("pay again", non_replayable, [](attempt& a) {
        did("pay again");
        if (a.number() == 1) throw std::runtime_error("lost");
        return a.number();
    }).reconcile([] { return did("ask again"), reconciled<int>::not_done(); });
    auto const undone = co_await step("pay undone", non_replayable, [](attempt& a) {
        did("pay undone");
        if (a.number() == 1) throw std::runtime_error("lost");
        return a.number();
    }).reconcile([] { return did("ask undone"), reconciled<int>::unknown(); }).compensate([] { did("undo"); });
    say(text, found);
    say(text, again);
    say(text, undone);
    auto const word = co_await finish();
    co_return text + ' ' + word;
}

workflow<std::string> returns_too_much()
{
    std::string text;
    auto const big = co_await step("too big", idempotent, [](attempt& a) {
        did("too big");
        a.commit_ref("file-3");
        return std::string(300'000, 'x');
    });
    say(text, big);
    auto const word = co_await finish();
    co_return text + ' ' + word;
}

asio::steady_timer* slow_timer = nullptr;

workflow<std::string> slow()
{
    std::string text;
    auto const took = co_await step("slow", idempotent, []() -> asio::awaitable<int> {
        did("slow");
        asio::steady_timer timer{co_await asio::this_coro::executor, 1h};
        slow_timer = &timer;
        boost::system::error_code ignored;
        co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
        slow_timer = nullptr;
        co_return 2;
    });
    say(text, took);
    auto const word = co_await finish();
    co_return text + ' ' + word;
}

/// Its process dies while the next attempt is pending.
workflow<std::string> fragile(std::string who)
{
    std::string text;
    std::string const name = "fragile " + who;
    auto const n = co_await step(
        name, replayable,
        [&](attempt& a) {
            did(name);
            if (a.number() == 1) throw std::runtime_error("not yet");
            return a.number();
        },
        {.retry = {.first_delay = 10min}});
    say(text, n);
    auto const word = co_await finish();
    co_return text + ' ' + word;
}

/// Its step's output is damaged: made again as it was, made again differently, set by a person.
workflow<std::string> heals()
{
    std::string text;
    auto const n = co_await step("heal", replayable, [] { return did("heal"), 41; });
    co_await sleep_for(6h);
    say(text, n);
    auto const word = co_await finish();
    co_return text + ' ' + word;
}
workflow<std::string> forecasts()
{
    std::string text;
    auto const n = co_await step("forecast", replayable, [] { return did("forecast"), tomorrow; });
    auto const dice = co_await flow::random<int>(1, 1'000'000);
    co_await sleep_for(6h);
    say(text, n);
    say(text, dice);
    auto const word = co_await finish();
    co_return text + ' ' + word;
}
workflow<std::string> overridden()
{
    std::string text;
    auto const n = co_await step("override", non_replayable, [] { return did("override"), 43; });
    co_await sleep_for(6h);
    say(text, n);
    auto const word = co_await finish();
    co_return text + ' ' + word;
}

// ---- waits ----------------------------------------------------------------------------------------------------------------------

workflow<std::string> sleeps()
{
    co_await sleep_for(1s);
    co_await sleep_for(0s);
    co_await sleep_for(1h);
    auto const at = co_await now();
    co_await sleep_until(at + 2h);
    co_await sleep_for(240h);
    auto const word = co_await finish();
    std::string text;
    say(text, at);
    co_return text + ' ' + word;
}
workflow<std::string> naps()
{
    co_await sleep_for(4s);
    auto const word = co_await finish();
    co_return word;
}

workflow<std::string> tokens()
{
    std::string text;
    auto const early = co_await make_token<std::int32_t>("early", {.lifetime = 48h, .strict = true, .description = "comes before it is awaited"});
    auto const keyed = co_await make_token<std::int32_t>("keyed", {.idempotency_key = "order-7", .idempotency_key_ttl = 1h});
    auto const cached = co_await make_token<std::int32_t>("keyed", {.idempotency_key = "order-7", .idempotency_key_ttl = 1h});
    auto const shared = co_await make_token<std::string>("shared");
    co_await step("send", idempotent, [&] { did("send"); });
    auto const limited = co_await as_outcome(wait_for_token(shared, {.timeout = 1h}));
    auto const later = co_await make_token<std::int32_t>("keyed", {.idempotency_key = "order-7"});
    auto const took_early = co_await wait_for_token(early);
    auto const nobody = co_await as_outcome(wait_for_token<std::int32_t>("nobody", {.timeout = 2h}));
    auto const typed = co_await wait_for_token<order>("typed");
    co_await wait_for_token<void>("nothing");
    auto const told = co_await wait_for_token(shared);
    say(text, early);
    say(text, cached == keyed);
    say(text, cached.is_cached());
    say(text, later == keyed);
    say(text, took_early);
    say_outcome(text, limited);
    say_outcome(text, nobody);
    say(text, typed);
    say(text, told);
    auto const word = co_await wait_for_token<std::string>("finish", {.timeout = 2400h});
    co_return text + ' ' + word;
}

/// Recorded while both its limits run; nobody answers.
workflow<std::string> limits()
{
    std::string text;
    auto const long_lived = co_await make_token<std::int32_t>("long lived");
    auto const short_lived = co_await make_token<std::int32_t>("short lived", {.lifetime = 120h});
    auto const first = co_await as_outcome(wait_for_token(long_lived, {.timeout = 96h}));
    auto const second = co_await as_outcome(wait_for_token(short_lived));
    say_outcome(text, first);
    say_outcome(text, second);
    auto const word = co_await finish();
    co_return text + ' ' + word;
}

workflow<int> counts_aloud(int n)
{
    for (int i = 0; i < n; ++i) {
        co_await publish("count", i);
        co_await step("turn", replayable, [] { did("turn"); });
    }
    co_return n;
}

workflow<std::string> tells()
{
    std::string const large(2500, 'p');
    co_await publish("large", large);
    co_await publish("phase", "counting");
    auto [a, b] = co_await all(counts_aloud(3), counts_aloud(2));
    co_await publish("phase", "done");
    auto const word = co_await finish();
    co_return std::to_string(a + b) + ' ' + word;
}

// ---- side by side -----------------------------------------------------------------------------------------------------------------

workflow<int> subtotal(int factor)
{
    auto const base = co_await step("base", replayable, [] { return did("base"), 7; });
    co_return co_await step("times", idempotent, [&] { return did("times"), base * factor; });
}

workflow<std::string> groups()
{
    std::string text;
    auto const [left, right, nothing] = co_await all(
        step("left", idempotent, [] { return did("left"), 1; }),
        []() -> workflow<std::string> {
            co_await sleep_for(1h);
            co_return co_await step("right", non_replayable, [] { return did("right"), std::string("right"); });
        },
        sleep_for(2s));
    static_cast<void>(nothing);
    auto const won = co_await any(
        sleep_for(2h),
        [&]() -> workflow<> {
            auto const got = co_await as_outcome(wait_for_token<std::int32_t>("loser"));
            if (!got) co_await shield(step("tidy", idempotent, [] { did("tidy"); }));
        },
        step(
            "loses too", idempotent, []() -> int { did("loses too"); throw std::runtime_error("later"); },
            {.retry = {.first_delay = 5h, .cap = 5h}}));
    auto const [bad, good] = co_await all_settled(step("bad", idempotent, []() -> int { did("bad"); throw permanent_error("broken"); }), subtotal(3));
    auto const failed = co_await as_outcome(all(step("worse", idempotent, []() -> int { did("worse"); throw permanent_error("worse"); }), sleep_for(100h)));
    std::vector<std::int32_t> const range{1, 2, 3, 4, 5};
    auto const squares = co_await for_each(
        range,
        [](int n) -> workflow<int> {
            auto const name = "square " + std::to_string(n);
            auto const squared = co_await step(name, replayable, [&] { return did(name), n * n; });
            co_await sleep_for(std::chrono::minutes{n % 3});
            co_return squared;
        },
        {.concurrency = 2});
    say(text, left);
    say(text, right);
    say(text, won.index());
    say_outcome(text, bad);
    say_outcome(text, good);
    say(text, failed ? std::string("fine") : failed.error().message());
    say(text, squares);
    auto const word = co_await finish();
    co_return text + ' ' + word;
}

/// Recorded in the middle: a branch has ended, others wait, and of some it is not yet their turn.
workflow<std::string> groups_midway()
{
    std::string text;
    std::vector<std::int32_t> const range{1, 2, 3, 4, 5};
    auto const [turns, nested] = co_await all(
        [&]() -> workflow<std::vector<std::int32_t>> {
            co_return co_await for_each(
                range,
                [](int n) -> workflow<std::int32_t> {
                    auto const name = "turn " + std::to_string(n);
                    auto const begun = co_await step(name, idempotent, [&] { return did(name), 10 * n; });
                    auto const told = co_await wait_for_token<std::int32_t>(name);
                    co_return begun + told;
                },
                {.concurrency = 2});
        },
        []() -> workflow<std::int32_t> {
            auto const won = co_await any(sleep_for(72h), wait_for_token<std::int32_t>("loser"), [&]() -> workflow<std::int32_t> {
                auto const [x, y] = co_await all(subtotal(4), wait_for_token<std::int32_t>("nobody"));
                co_return x + y;
            });
            co_return static_cast<std::int32_t>(won.index());
        });
    say(text, turns);
    say(text, nested);
    auto const word = co_await finish();
    co_return text + ' ' + word;
}

// ---- segments and versions ----------------------------------------------------------------------------------------------------------

struct progress {
    std::int32_t done = 0;
    std::vector<std::string> keys;
    token<std::string> kept;
};
workflow<std::string> counts()
{
    auto at = co_await state<progress>();
    if (at.done == 0) {
        auto const kept = co_await make_token<std::string>("finish");
        at.kept = kept;
    }
    if (at.done < 3) {
        auto const key = co_await step("count", idempotent, [&](attempt& a) { return did("count"), std::string(a.key()); });
        at.keys.push_back(key);
        ++at.done;
        co_await checkpoint(at);
    }
    auto const last = co_await step("count last", idempotent, [&](attempt& a) { return did("count last"), std::string(a.key()); });
    std::string text;
    say(text, at.keys);
    say(text, last);
    auto const word = co_await wait_for_token(at.kept);
    co_return text + ' ' + word;
}

workflow<std::string> rounds(std::int32_t n, std::string text)
{
    auto const key = co_await step("round", idempotent, [](attempt& a) { return did("round"), std::string(a.key()); });
    say(text, key);
    if (n < 3) co_await continue_as_new(n + 1, text);
    auto const word = co_await finish();
    co_return text + ' ' + word;
}

workflow<std::string> shop()
{
    auto const key = co_await step("shop charge", idempotent, [](attempt& a) { return did("shop charge"), std::string(a.key()); });
    auto const word = co_await finish();
    co_return key + ' ' + word;
}
workflow<std::string> shop_patched()
{
    bool const fresh = co_await patched("check-stock");
    if (fresh) co_await step("shop stock", replayable, [] { did("shop stock"); });
    auto const key = co_await step("shop charge", idempotent, [](attempt& a) { return did("shop charge"), std::string(a.key()); });
    auto const word = co_await finish();
    co_return (fresh ? "fresh " : "old ") + key + ' ' + word;
}

workflow<std::string> tolerant()
{
    auto const key = co_await step("tolerant charge", idempotent, [](attempt& a) { return did("tolerant charge"), std::string(a.key()); });
    co_await sleep_for(30min);
    auto const word = co_await finish();
    co_return key + ' ' + word;
}
workflow<std::string> tolerant_inserted()
{
    co_await step("tolerant front", idempotent, [] { did("tolerant front"); });
    auto const key = co_await step("tolerant charge", idempotent, [](attempt& a) { return did("tolerant charge"), std::string(a.key()); });
    auto const dice = co_await flow::random<int>(1, 1'000'000);
    co_await sleep_for(30min);
    auto const word = co_await finish();
    co_return key + (dice > 0 ? " " : "? ") + word;  // not the number: each replay of the recorded file draws it anew
}

workflow<std::string> renamed()
{
    auto const key = co_await step("old name", idempotent, [](attempt& a) { return did("old name"), std::string(a.key()); });
    co_await sleep_for(100h);
    co_return key;
}
workflow<std::string> renamed_now()
{
    auto const key = co_await step("new name", idempotent, [](attempt& a) { return did("new name"), std::string(a.key()); });
    co_await sleep_for(100h);
    co_return key;
}

// Version 1 is gone by the end.
workflow<std::string> moves(std::string who)
{
    std::string const name = "move " + who;
    auto const key = co_await step(name, idempotent, [&](attempt& a) { return did(name), std::string(a.key()); });
    co_await sleep_for(4s);
    auto const word = co_await finish();
    co_return "version 1 " + key + ' ' + word;
}
workflow<std::string> moves_2(std::string who)
{
    std::string const name = "move " + who;
    auto const key = co_await step(name, idempotent, [&](attempt& a) { return did(name), std::string(a.key()); });
    co_await sleep_for(4s);
    auto const word = co_await finish();
    co_return "version 2 " + key + ' ' + word;
}
workflow<std::string> looks()
{
    auto const n = co_await step("look", replayable, [] { return did("look"), 1; });
    bool const fresh = co_await patched("looks");
    co_await sleep_for(4s);
    co_return "version 1 " + std::to_string(n) + (fresh ? "" : " old");
}
workflow<std::string> looks_2()
{
    auto const n = co_await step("look with 2", replayable, [] { return did("look with 2"), 2; });
    bool const fresh = co_await patched("looks");
    auto const word = co_await finish();
    co_return "version 2 " + std::to_string(n) + (fresh ? " " : " old ") + word;
}

// ---- requests, deadlines ------------------------------------------------------------------------------------------------------------

workflow<std::string> waits(std::string who)
{
    std::string const name = "before " + who;
    auto const key = co_await step(name, idempotent, [&](attempt& a) { return did(name), std::string(a.key()); });
    auto const word = co_await finish();
    co_return key + ' ' + word;
}

workflow<> clean_up(std::string who, bool asks)
{
    std::string const name = "clean up " + who;
    co_await step(name, idempotent, [&] { did(name); });
    if (asks) {
        auto const word = co_await finish();
        std::string const behind = "cleaned up " + who + ": " + word;
        co_await step(behind, idempotent, [&] { did(behind); });
    }
}
workflow<std::string> tidies(std::string who, bool asks)
{
    auto const got = co_await as_outcome(wait_for_token<std::string>("never"));
    if (!got) co_await shield(clean_up(who, asks));
    co_return got.value();
}

template <auto Fn>
void add(engine& e, std::string_view name, std::uint32_t version = 1, replay_order order = replay_order::strict)
{
    workflow_options o;
    o.version = flow::version{version};
    o.order = order;
    e.add<Fn>(name, o);
}

void add_both(engine& e)
{
    add<json_types>(e, "json_types");
    add<binary_types>(e, "binary_types");
    add<binary_result>(e, "binary_result");
    add<blobs>(e, "blobs");
    add<draws>(e, "draws");
    add<retries>(e, "retries");
    add<fails>(e, "fails");
    add<paying>(e, "paying");
    add<paying_void>(e, "paying_void");
    add<reconciles>(e, "reconciles");
    add<returns_too_much>(e, "returns_too_much");
    add<slow>(e, "slow");
    add<fragile>(e, "fragile");
    add<heals>(e, "heals");
    add<forecasts>(e, "forecasts");
    add<overridden>(e, "overridden");
    add<sleeps>(e, "sleeps");
    add<naps>(e, "naps");
    add<tokens>(e, "tokens");
    add<limits>(e, "limits");
    add<tells>(e, "tells");
    add<groups>(e, "groups");
    add<groups_midway>(e, "groups_midway");
    add<counts>(e, "counts");
    add<rounds>(e, "rounds");
    add<waits>(e, "waits");
    add<tidies>(e, "tidies");
}

void add_newest(engine& e)
{
    add_both(e);
    add<shop_patched>(e, "shop");
    add<tolerant_inserted>(e, "tolerant", 1, replay_order::tolerant);
    add<renamed_now>(e, "renamed");
    add<moves_2>(e, "moves", 2);
    add<looks_2>(e, "looks", 2);
}

}  // namespace

void add_first(engine& e)
{
    add_both(e);
    add<three_classes>(e, "three_classes");
    add<shop>(e, "shop");
    add<tolerant>(e, "tolerant", 1, replay_order::tolerant);
    add<renamed>(e, "renamed");
    add<moves>(e, "moves");
    add<looks>(e, "looks");
}

void add_now(engine& e)
{
    add_newest(e);
    add<three_classes>(e, "three_classes");
}

void add_changed(engine& e)
{
    add_newest(e);
    add<changed_classes>(e, "three_classes");
}

void end_the_slow_step()
{
    if (slow_timer) slow_timer->cancel();
}

namespace {

void complete(world& w, waitpoint_row const& row)
{
    if (row.name == "finish") w.engine().complete_json(row.id, R"("done")", std::nullopt, {}, "alice");
    else if (row.name.starts_with("turn ")) w.engine().complete_json(row.id, "7", std::nullopt, {}, "bob");
}

void decide(world& w, waitpoint_row const& row)
{
    auto const key = w.view(row.run).row.key;
    if (key == "moves-asked") w.engine().decide(row.id, "restart", std::nullopt, "nothing was moved", "alice");
    else if (key == "moves-held") w.engine().decide(row.id, "fail", std::nullopt, "it is never coming back", "alice");
    else if (key == "paying-open") w.engine().decide(row.id, "retry", std::nullopt, "it was not paid", "alice");
    else w.engine().decide(row.id, "complete", R"("looked it up")", "it was paid", "alice");
}

}  // namespace

void finish_all(world& w)
{
    for (int day = 0; day < 40; ++day) {
        for (int s = 0; s < 90 && day < 3; ++s) w.pass(1s);  // as an engine that looks around all the while
        waitpoint_filter open;
        open.status = waitpoint_status::pending;
        open.limit = 1000;
        for (auto const& row : w.engine().waitpoints(open)) {
            if (row.purpose == waitpoint_purpose::token) complete(w, row);
            if (row.purpose == waitpoint_purpose::intervention) decide(w, row);
        }
        run_filter every;
        every.limit = 1000;
        for (auto const& row : w.engine().runs(every)) {
            bool const asks_again = row.status.run == run_status::held && row.key == "moves-held";
            if (row.status.run == run_status::paused || asks_again) w.engine().resume(row.id, {}, "alice");
        }
        w.pass(24h);
    }
}

}  // namespace flow::test::journals
