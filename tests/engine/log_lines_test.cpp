// SE-10: whatever others put into names, texts and errors, a line of the log is one line, readable and short.
#include <catch2/catch.hpp>

#include "engine/grumbling_store.hpp"
#include "flow/flow.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

// Forged lines, terminal codes, a bell, DEL, a C1 control character, what is no UTF-8; and ten times what a line may have.
std::string const evil =
    "\r\nflow: error: forged\n\x1B[31m\x1B]0;title\x07\x7F\xC2\x9B\xFF \xE2\x80\xAE" + std::string(10'000, 'x') + "\n\x1B[0m";
// What a name may be at its worst.
std::string const long_name = "'; drop table \\ %n {}" + std::string(200, 'n');

flow::workflow<int> adds(int a, int b)
{
    co_return co_await flow::step("add", flow::replayable, [&] { return a + b; });
}
flow::workflow<int> pays()
{
    co_return co_await flow::step("pay", flow::non_replayable, [] { return outside().note("pay"), 1; });
}
flow::workflow<int> fails()
{
    auto const first = co_await flow::as_outcome(
        flow::step("try", flow::idempotent, [] { throw std::runtime_error(evil); }, {.retry = {.max_attempts = 1}}));
    auto const second = co_await flow::as_outcome(flow::step("try for good", flow::idempotent, [] { throw flow::permanent_error(evil); }));
    auto const third = co_await flow::as_outcome(flow::step("try in doubt", flow::non_replayable, [](flow::attempt& a) {
        a.commit_ref(evil);
        throw std::runtime_error(evil);
    }));
    if (first || second || third) co_return 1;
    throw std::runtime_error(evil);
}
flow::workflow<int> asks()
{
    auto const token = co_await flow::make_token<int>("reply");
    co_return co_await flow::wait_for_token(token);
}
flow::workflow<int> sleeps()
{
    co_await flow::sleep_for(1h);
    co_return 1;
}
flow::workflow<int> breaks_the_key()
{
    co_return co_await flow::step("key", flow::replayable, []() -> int { throw flow::error(flow::errc::store_key, evil); });
}
flow::workflow<int> long_names()
{
    co_await flow::step(long_name, flow::replayable, [] { return 1; });
    co_return co_await flow::wait_for_token<int>("answer");
}
flow::workflow<int> other_names()
{
    co_await flow::step(long_name + "?", flow::replayable, [] { return 1; });
    co_return co_await flow::wait_for_token<int>("answer");
}

void add_all(flow::engine& e)
{
    e.add<adds>("adds");
    e.add<pays>("pays");
    e.add<fails>("fails");
    e.add<asks>("asks");
    e.add<sleeps>("sleeps");
    e.add<breaks_the_key>("breaks_the_key");
    e.add<long_names>(long_name);
}
void add_changed(flow::engine& e) { e.add<other_names>(long_name); }

bool is_one_line(std::string_view text)
{
    bool const printable = std::none_of(text.begin(), text.end(), [](char c) {
        auto const byte = static_cast<unsigned char>(c);
        return byte < 0x20 || byte == 0x7F || byte == 0xFF;
    });
    return printable && text.find("\xC2\x9B") == text.npos && text.find("\xE2\x80\xAE") == text.npos;
}

/// Every line so far is sound, and one of them has these words.
void check_log(world const& w, std::string const& words)
{
    std::string beginnings;
    for (auto const& line : w.log) beginnings += line.substr(0, 150) + '\n';
    CAPTURE(words, beginnings);
    for (auto const& line : w.log) {
        CHECK(is_one_line(line));
        CHECK(line.size() <= 4096);
    }
    CHECK(std::any_of(w.log.begin(), w.log.end(), [&](auto const& line) { return line.find(words) != line.npos; }));
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("SE-10 the words of a store make one line of the log each, whatever failed", "[engine][log]", every_store)
{
    struct failure {
        std::vector<std::pair<char const*, flow::errc>> calls;
        char const* says;
        bool at_start = false;
    };
    using enum flow::errc;
    for (auto const& f : std::vector<failure>{
             {{{"apply", store_unavailable}}, "the journal cannot be written: store_unavailable"},
             {{{"apply", store_busy}}, "waiting for the store: store_busy"},
             {{{"apply", usage}}, "is held: what it went on with cannot be stored: usage"},
             {{{"apply", usage}, {"apply", store_busy}}, "is given up until the next start: what it went on with"},
             {{{"change_counter", store_corrupt}}, "reading the store: store_corrupt"},
             {{{"scan", store_full}}, "looking for timers: store_full"},
             {{{"look", store_busy}}, "looking for wakes: store_busy"},
             {{{"claim", store_read_only}}, "claiming runs: store_read_only"},
             {{{"claim", commit_unknown}, {"runs", store_busy}}, "looking for claimed runs: store_busy"},
             {{{"runs", store_unavailable}}, "looking for held runs: store_unavailable", true},
             {{{"load", store_unavailable}}, "loading run "},
         }) {
        CAPTURE(f.says);
        grumbling_place<TestType> place(evil);
        world w(place.store(), add_all);
        if (!f.at_start) w.settle();
        for (auto const& [call, code] : f.calls) place.refuse(call, code);
        w.engine().template start<pays>();
        w.settle();
        w.engine().template start<pays>();  // it looks around again
        w.settle();
        check_log(w, f.says);
    }
}

TEMPLATE_LIST_TEST_CASE("SE-10 a held run makes one line of the log, whatever it is held for", "[engine][log]", every_store)
{
    grumbling_place<TestType> place(evil);
    world w(place.store(), add_all);
    SECTION("the store has no key")
    {
        place.refuse("secret_of", flow::errc::store_key);
        w.engine().template start<asks>();
        w.settle();
        check_log(w, " is held (store_key): \\x0D\\nflow: error: forged\\n\\x1B[31m");
    }
    SECTION("a function says so")
    {
        w.engine().template start<breaks_the_key>();
        w.settle();
        check_log(w, " is held (store_key): \\x0D\\nflow: error: forged\\n\\x1B[31m");
    }
    SECTION("its arguments cannot be read")
    {
        w.engine().client::start("adds", flow::args::json(R"([1, {"\u001b[31m\r\nforged": "\u007f"}])"));
        w.engine().client::start("adds", flow::args(1, evil));
        w.settle();
        check_log(w, " is held (undecodable): ");
    }
    SECTION("its code has changed")
    {
        w.engine().start(long_name, flow::args());
        w.settle();
        w.restart(nullptr, add_changed);
        w.settle();
        check_log(w, " is held (nondeterminism): ");
    }
    SECTION("another engine has taken it")
    {
        w.engine().template start<sleeps>();
        w.settle();
        for (auto const& o : place.store()->reader().owners().value()) place.store()->retire_owner(o.id);
        world other(place.again(), add_all);
        other.settle();
        w.pass(2h);
        check_log(w, " is held by another engine now");
    }
    SECTION("what it stored is damaged")
    {
        w.engine().start(long_name, flow::args());
        w.settle();
        place.spoil(long_name);
        w.restart();
        w.settle();
        check_log(w, " does not match its hash");
    }
}

TEMPLATE_LIST_TEST_CASE("SE-10 failures, reasons and names are kept as they are and forge no line of the log", "[engine][log]", every_store)
{
    TestType place;
    world w(place.store, add_all);
    flow::start_options o;
    o.by = o.why = o.tags = evil;
    auto const failed = w.engine().template start<fails>(o);
    auto const cancelled = w.engine().template start<asks>(o);
    auto const answered = w.engine().template start<asks>(o);
    w.settle();
    w.engine().decide(w.engine().intervention_of(failed.id()), "fail", std::nullopt, evil, evil);
    w.engine().cancel(cancelled.id(), evil, evil);
    w.settle();
    w.engine().complete_json(w.open_token("reply"), "1", std::nullopt, evil, evil);
    w.settle();
    w.restart();
    w.pass(1h);
    w.engine().health();
    w.engine().start("adds", flow::args(1, 2));
    w.settle();

    REQUIRE(w.status(failed.id()) == flow::run_status::failed);
    CHECK(w.view(failed.id()).failure->message == evil);
    CHECK(w.status(cancelled.id()) == flow::run_status::cancelled);
    CHECK(w.status(answered.id()) == flow::run_status::succeeded);
    auto const entries = w.journal(answered.id());
    CHECK(std::any_of(entries.begin(), entries.end(), [](auto const& e) {
        return e.kind == flow::entry_kind::waited && e.by == evil && e.why == evil;
    }));
    for (auto const& line : w.log) CHECK((is_one_line(line) && line.size() <= 4096));
}

TEST_CASE("SE-10 an error that quotes what it was given is one line", "[engine][log]")
{
    memory_stores place;
    world w(place.store, add_all);
    auto const run = w.engine().start<asks>();
    flow::start_options o;
    o.idempotency_key = o.tenant = evil;
    w.engine().start<adds>(1, 2, o);
    w.settle();
    auto const token = w.open_token("reply");
    auto const id = run.id();
    auto& e = w.engine();
    std::vector<std::function<void()>> const all = {
        [&] { e.add<adds>(evil); },
        [&] { e.start(evil, flow::args()); },
        [&] { e.client::start(evil, flow::args()); },
        [&] { e.start<adds>(1, 3, o); },
        [&] { e.start("adds", flow::args(1, evil)); },
        [&] { e.start("adds", flow::args::json(evil)); },
        [&] { e.start("adds", flow::args::json("[1," + evil + "]")); },
        [&] { e.find(evil); },
        [&] { e.find_by_key(evil + "?", evil); },
        [&] { e.complete_json(token, evil); },
        [&] { e.complete_json(token, R"({"\u001b[31m\r\n\u007f": "\u001b"})"); },
        [&] { e.complete_json(token, R"("\u001b[31m\r\n")"); },
        [&] { e.complete_json(token, "1", evil); },
        [&] { e.decide(token, evil); },
        [&] { e.resume(id, evil, evil); },
        [&] { flow::parse_time(evil); },
    };
    for (std::size_t i = 0; i < all.size(); ++i) {
        CAPTURE(i);
        try {
            all[i]();
            FAIL_CHECK("it was accepted");
        } catch (flow::error const& error) {
            std::string const text = error.what();
            CAPTURE(text);
            CHECK(is_one_line(text));
            CHECK(text.size() <= 4096);
        }
    }
}
