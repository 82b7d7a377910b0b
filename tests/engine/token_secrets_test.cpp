// SE-03: what can be guessed of a token, what is stored of its secret, and what a failure tells.
#include <catch2/catch.hpp>

#include <array>
#include <fstream>
#include <set>
#include <sstream>
#include <unordered_set>

#include "flow/flow.hpp"
#include "runtime/cli/command.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

flow::workflow<int> makes_tokens(int n)
{
    for (int i = 0; i < n; ++i) co_await flow::make_token<int>("reply");
    co_return co_await flow::wait_for_token<int>("end");
}
flow::workflow<int> ends_with_a_token()
{
    co_await flow::make_token<int>("reply");
    co_return 1;
}
flow::workflow<int> sleeps()
{
    co_await flow::sleep_for(24h);
    co_return 1;
}
flow::workflow<int> in_doubt()
{
    co_return co_await flow::step("pay", flow::non_replayable, []() -> int { throw std::runtime_error("connection lost"); });
}

void add_all(flow::engine& e)
{
    e.add<makes_tokens>("makes_tokens");
    e.add<ends_with_a_token>("ends_with_a_token");
    e.add<sleeps>("sleeps");
    e.add<in_doubt>("in_doubt");
}

std::vector<flow::waitpoint_row> all_waitpoints(flow::client& c, std::string_view name)
{
    flow::waitpoint_filter all;
    all.limit = 100'000;
    auto rows = c.waitpoints(all);
    std::erase_if(rows, [&](auto const& w) { return w.name != name; });
    return rows;
}

std::set<flow::waitpoint_id> ids_of(std::vector<flow::waitpoint_row> const& rows)
{
    std::set<flow::waitpoint_id> ids;
    for (auto const& w : rows) ids.insert(w.id);
    return ids;
}

std::string bytes_of(std::string const& file)
{
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::string raw(flow::uuid const& id) { return {reinterpret_cast<char const*>(id.bytes.data()), id.bytes.size()}; }

std::string from_hex(std::string const& digits)
{
    std::string out;
    for (std::size_t i = 0; i < digits.size(); i += 2) out += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
    return out;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("SE-03 ten thousand token ids are 128 random bits each, and of their secrets only a hash is stored",
                        "[engine][wait][secrets]", every_store)
{
    TestType place;
    flow::engine_options o;
    o.threads = 0;  // and the random source is the system's
    std::optional<flow::engine> engine(std::in_place, place.store, o);
    add_all(*engine);
    engine->start<makes_tokens>(10'000);
    while (engine->poll(10s).work_left) {
    }
    auto const rows = all_waitpoints(*engine, "reply");
    REQUIRE(rows.size() == 10'000);
    CHECK(ids_of(rows).size() == 10'000);

    std::array<int, 128> ones{};
    for (auto const& w : rows)
        for (std::size_t bit = 0; bit < ones.size(); ++bit) ones[bit] += (w.id.value.bytes[bit / 8] >> (bit % 8)) & 1;
    // Even bits stray from the half by 50 in 10,000; a thousand is twenty times that.
    for (int const n : ones) CHECK(std::abs(n - 5'000) < 1'000);

    std::vector<std::string> secrets;
    int as_hash = 0;
    for (auto const& w : rows) {
        secrets.push_back(place.store->secret_of(w.id).value());
        as_hash += w.secret_hash == flow::sha256(secrets.back());
    }
    CHECK(as_hash == 10'000);
    if constexpr (TestType::on_disk) {
        engine.reset();
        constexpr std::size_t piece = 16;
        std::unordered_set<std::string> secret_pieces;
        for (auto const& s : secrets) secret_pieces.insert({s.substr(0, piece), from_hex(s).substr(0, piece)});
        int found_secrets = 0, found_ids = 0;
        auto const id = raw(rows.front().id.value);
        for (auto const* end : {"", "-wal"}) {
            auto const bytes = bytes_of(place.file + end);
            std::string here;
            for (std::size_t at = 0; at + piece <= bytes.size(); ++at) {
                here.assign(bytes, at, piece);
                found_secrets += secret_pieces.count(here) > 0;
                found_ids += here == id;
            }
        }
        CHECK(found_ids > 0);  // this is how a secret would be found
        CHECK(found_secrets == 0);
    }
}

TEST_CASE("SE-03 a token's id comes from the random source and from nothing else", "[engine][wait][secrets]")
{
    manual_clock clock;
    std::set<std::string> drawn;
    flow::run_id run[2];
    std::set<flow::waitpoint_id> ids[2];
    for (int const world_no : {0, 1}) {
        std::uint8_t calls = 0;
        flow::engine_options o;
        o.threads = 0;
        o.clock = &clock;
        o.random = [&](std::uint8_t* bytes, std::size_t n) {
            // The first draw makes the run's id: it is the same in both worlds.
            for (std::size_t i = 0; i < n; ++i)
                bytes[i] = static_cast<std::uint8_t>(calls == 0 ? 7 * i : 100 * static_cast<std::size_t>(world_no) + 31 * i + calls);
            ++calls;
            drawn.emplace(reinterpret_cast<char const*>(bytes), n);
        };
        flow::engine engine(flow::memory(), o);
        add_all(engine);
        run[world_no] = engine.start<makes_tokens>(50).id();
        while (engine.poll(10s).work_left) {
        }
        ids[world_no] = ids_of(all_waitpoints(engine, "reply"));
        CHECK(ids[world_no].size() == 50);
    }
    CHECK(run[0] == run[1]);
    for (auto const& id : ids[0]) CHECK(ids[1].count(id) == 0);
    for (auto const& some : ids)
        for (auto const& id : some) CHECK(drawn.count(raw(id.value)) == 1);  // as it was drawn: not a bit is fixed or derived
}

TEMPLATE_LIST_TEST_CASE("SE-03 one answer for whoever has not the secret: it does not tell what exists", "[engine][wait][secrets]",
                        every_store)
{
    TestType place;
    world w(place.store, add_all);
    auto const first = w.engine().template start<makes_tokens>(1);
    auto const second = w.engine().template start<makes_tokens>(1);
    auto const ended = w.engine().template start<ends_with_a_token>();
    auto const asleep = w.engine().template start<sleeps>();
    auto const doubtful = w.engine().template start<in_doubt>();
    w.settle();
    auto const of_run = [&](flow::run_id id, std::string_view name) {
        auto rows = all_waitpoints(w.engine(), name);
        std::erase_if(rows, [&](auto const& r) { return r.run != id; });
        REQUIRE(rows.size() == 1);
        return rows.front().id;
    };
    auto const a = of_run(first.id(), "reply"), b = of_run(second.id(), "reply"), gone = of_run(ended.id(), "reply");
    auto const operators = of_run(first.id(), "end");  // made without a secret
    auto const timer = flow::waitpoint_id{*flow::parse_uuid(w.view(asleep.id()).waits_for.id)};
    auto const intervention = w.engine().intervention_of(doubtful.id());
    auto const nobodys = flow::waitpoint_id{*flow::parse_uuid("6f1d3a52-0c4e-4a6b-9d7e-1b2c3d4e5f60")};
    auto const secret = [&](flow::waitpoint_id id) { return place.store->secret_of(id).value(); };
    REQUIRE(w.status(ended.id()) == flow::run_status::succeeded);

    struct attempt {
        flow::waitpoint_id id;
        std::string secret;
    };
    std::vector<attempt> const all = {
        {nobodys, secret(a)},
        {nobodys, secret(nobodys)},
        {flow::waitpoint_id{}, secret(a)},
        {flow::waitpoint_id{first.id().value}, secret(a)},
        {a, secret(b)},
        {b, secret(a)},
        {a, "wrong"},
        {a, ""},
        {a, secret(a) + "0"},
        {a, to_string(flow::sha256(secret(a)))},
        {gone, "wrong"},
        {gone, secret(a)},
        {operators, "wrong"},
        {operators, secret(operators)},
        {timer, secret(timer)},
        {intervention, secret(intervention)},
    };
    std::set<std::string> answers;
    for (auto const& t : all)
        for (auto const* value : {"1", "\"no number\"", "[1,"}) {
            CAPTURE(to_string(t.id), t.secret, value);
            try {
                w.engine().complete_json(t.id, value, t.secret);
                FAIL_CHECK("it was completed");
            } catch (flow::error const& e) {
                CHECK(e.code() == flow::errc::unknown_token);
                answers.insert(e.what());
            }
        }
    std::string list;
    for (auto const& text : answers) list += text + "\n";
    INFO(list);
    CHECK(answers.size() == 1);

    CHECK(w.engine().complete_json(a, "1", secret(a)));  // nothing of that spoiled it
    CHECK_THROWS_WITH(w.engine().complete_json(gone, "1", secret(gone)), Catch::Contains("token_ended"));
}

TEST_CASE("SE-03 a malformed id on the command line is told so in one line, and completes nothing", "[engine][wait][secrets]")
{
    memory_stores place;
    world w(place.store, add_all);
    auto const run = w.engine().start<makes_tokens>(0);
    w.settle();
    auto const id = to_string(w.open_token("end"));
    for (std::string const& text : {std::string("no id"), id + "0", "{" + id + "}", id.substr(0, 35) + "g", std::string(36, 'z'),
                                    "\x1B[2J\n" + id, std::string(10'000, 'f')}) {
        CAPTURE(text);
        std::ostringstream out, err;
        char const* argv[] = {"flow", "complete", text.c_str(), "1"};
        auto const code = flow::cli::run_command(4, argv, &w.engine(), {out, err});
        CHECK(code == flow::exit_code::no);  // not a usage error: the beginning of an id is an id too
        CHECK(out.str().empty());
        auto const said = err.str();
        CHECK_THAT(said, Catch::Contains("no token and no run "));
        CHECK(said.size() < 600);
        CHECK(std::count_if(said.begin(), said.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; }) == 1);  // its line's end
    }
    CHECK(w.status(run.id()) == flow::run_status::waiting);
}
