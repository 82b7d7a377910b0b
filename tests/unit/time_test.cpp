#include "flow/time.hpp"
#include "support/pch.hpp"

#include "flow/error.hpp"

using namespace flow;
using namespace std::chrono_literals;

namespace {

time_point at(std::int64_t micros) { return time_point(duration(micros)); }

}  // namespace

TEST_CASE("P49 an instant is printed in UTC with microseconds", "[time]")
{
    CHECK(to_string(at(0)) == "1970-01-01T00:00:00.000000Z");
    CHECK(to_string(at(-1)) == "1969-12-31T23:59:59.999999Z");
    CHECK(to_string(time_point(std::chrono::sys_days{std::chrono::year{2026} / 11 / 30} + 9h + 10min + 34s + 123us)) ==
          "2026-11-30T09:10:34.000123Z");
    CHECK(to_string(never) == "never");
}

TEST_CASE("P49 every instant comes back from its text, three centuries away and at the ends of int64", "[time]")
{
    constexpr auto most = std::numeric_limits<std::int64_t>::max(), least = std::numeric_limits<std::int64_t>::min();
    for (auto const micros : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1}, most, most - 1, least, least + 1, std::int64_t{10'000'000'000'000'000},
                              std::int64_t{-62'135'596'800'000'000}, std::int64_t{-90'000'000'000'000'000}})
        CHECK(parse_time(to_string(at(micros))) == at(micros));
    CHECK(to_string(at(most - 1)) == "294247-01-10T04:00:54.775806Z");
    for (std::int64_t day = -200000; day < 200000; day += 97) {
        auto const t = at(day * 86'400'000'000 + 12345);
        if (parse_time(to_string(t)) != t) FAIL(to_string(t));
    }
}

TEST_CASE("the fraction may be left out or short", "[time]")
{
    CHECK(parse_time("1970-01-01T00:00:01Z") == at(1'000'000));
    CHECK(parse_time("1970-01-01T00:00:01.5Z") == at(1'500'000));
    CHECK(parse_time("2024-02-29T00:00:00Z") < parse_time("2024-03-01T00:00:00Z"));
}

TEST_CASE("what is no time is refused", "[time]")
{
    for (auto const* text : {"", "now", "1970-01-01", "1970-01-01T00:00:00", "1970-01-01T00:00:00.Z", "1970-01-01T00:00:00.1234567Z", "1970-13-01T00:00:00Z",
                             "1970-02-30T00:00:00Z", "2023-02-29T00:00:00Z", "1970-01-01T24:00:00Z", "1970-01-01T00:60:00Z", "1970-01-01T00:00:60Z",
                             "1970-01-01T00:00:00+01:00", "70-01-01T00:00:00Z", "999999-01-01T00:00:00Z", "1970-01-01T00:00:00Z ", "1970-0x-01T00:00:00Z",
                             "1970-01-01T00:00:00.", "1970-01-01T00:00:00.1", "----------------------"}) {
        CAPTURE(text);
        CHECK_THROWS_AS(parse_time(text), error);
    }
}

TEST_CASE("the machine's clocks are one object and go on", "[time]")
{
    auto const& clock = system_clock();
    CHECK(&clock == &system_clock());
    auto const before = clock.steady();
    CHECK(clock.steady() >= before);
    CHECK(clock.now() > parse_time("2020-01-01T00:00:00Z"));
}
