// When schedules fire: fields of cron, time zones, grids. The instants were made with Debian's date(1).
#include <catch2/catch.hpp>

#include "flow/flow.hpp"
#include "src/cron.hpp"
#include "src/schedule.hpp"

using namespace flow::detail;
using namespace std::chrono_literals;
using Catch::Contains;
using flow::parse_time;
using flow::to_string;

namespace {

std::vector<std::string> next_of(std::string_view fields, std::string_view zone, std::string_view from, int count)
{
    auto const c = cron::parse(fields).value();
    auto const z = time_zone::find(zone).value();
    std::vector<std::string> all;
    auto at = parse_time(from);
    while (count-- > 0) {
        auto const next = c.next(at, z);
        if (!next) return all.push_back("never"), all;
        at = *next;
        all.push_back(to_string(at));
    }
    return all;
}
using texts = std::vector<std::string>;

std::string why_not(std::string_view fields)
{
    auto const c = cron::parse(fields);
    REQUIRE(!c);
    CHECK(c.error().code() == flow::errc::bad_argument);
    return c.error().message();
}

}  // namespace

TEST_CASE("cron: numbers, lists, ranges, steps, names", "[cron]")
{
    CHECK(next_of("30 9 * * *", "UTC", "2026-12-01T09:30:00Z", 2) == texts{"2026-12-02T09:30:00.000000Z", "2026-12-03T09:30:00.000000Z"});
    CHECK(next_of("30 9 * * *", "UTC", "2026-12-01T09:29:59.999999Z", 1) == texts{"2026-12-01T09:30:00.000000Z"});
    CHECK(next_of("*/20 8-9 * * MON,fri", "UTC", "2026-12-01T00:00:00Z", 4) ==
          texts{"2026-12-04T08:00:00.000000Z", "2026-12-04T08:20:00.000000Z", "2026-12-04T08:40:00.000000Z", "2026-12-04T09:00:00.000000Z"});
    CHECK(next_of("5-15/5 0 1 jan-mar/2 *", "UTC", "2026-12-01T00:00:00Z", 4) ==
          texts{"2027-01-01T00:05:00.000000Z", "2027-01-01T00:10:00.000000Z", "2027-01-01T00:15:00.000000Z", "2027-03-01T00:05:00.000000Z"});
    CHECK(next_of("0 0 * * 7", "UTC", "2026-12-01T00:00:00Z", 1) == next_of("0 0 * * 0", "UTC", "2026-12-01T00:00:00Z", 1));
    CHECK(next_of("0 0 29 2 *", "UTC", "2026-12-01T00:00:00Z", 2) == texts{"2028-02-29T00:00:00.000000Z", "2032-02-29T00:00:00.000000Z"});
    CHECK(next_of("0 0 29 2 *", "UTC", "1896-03-01T00:00:00Z", 1) == texts{"1904-02-29T00:00:00.000000Z"});
    CHECK(next_of("0 0 29 2 */7", "UTC", "2026-12-01T00:00:00Z", 1) == texts{"2032-02-29T00:00:00.000000Z"});  // a Sunday
    CHECK(next_of("0 0 30 2 *", "UTC", "2026-12-01T00:00:00Z", 1) == texts{"never"});
}

TEST_CASE("cron: where both days are restricted, either is enough; a step of all does not restrict", "[cron]")
{
    CHECK(next_of("0 12 13 * FRI", "UTC", "2026-12-01T00:00:00Z", 4) == texts{"2026-12-04T12:00:00.000000Z", "2026-12-11T12:00:00.000000Z",
                                                                              "2026-12-13T12:00:00.000000Z", "2026-12-18T12:00:00.000000Z"});
    CHECK(next_of("0 12 */2 * FRI", "UTC", "2026-12-01T00:00:00Z", 2) == texts{"2026-12-11T12:00:00.000000Z", "2026-12-25T12:00:00.000000Z"});
}

TEST_CASE("cron: a zone's clock counts; what summer time leaves out comes at its end, what it repeats comes once", "[cron]")
{
    CHECK(next_of("0 9 * * *", "Europe/Berlin", "2026-12-01T12:00:00Z", 1) == texts{"2026-12-02T08:00:00.000000Z"});
    CHECK(next_of("0 9 * * *", "Asia/Kolkata", "2026-12-01T12:00:00Z", 1) == texts{"2026-12-02T03:30:00.000000Z"});
    // 2027-03-28: 02:00 to 03:00 is not there in Berlin.
    CHECK(next_of("30 2 * * *", "Europe/Berlin", "2027-03-27T00:00:00Z", 3) ==
          texts{"2027-03-27T01:30:00.000000Z", "2027-03-28T01:00:00.000000Z", "2027-03-29T00:30:00.000000Z"});
    // Two that are left out come as one.
    CHECK(next_of("15,45 2 28 3 *", "Europe/Berlin", "2027-03-27T00:00:00Z", 2) == texts{"2027-03-28T01:00:00.000000Z", "2028-03-28T00:15:00.000000Z"});
    // 2026-10-25: 02:00 to 03:00 is there twice.
    CHECK(next_of("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 2) == texts{"2026-10-25T00:30:00.000000Z", "2026-10-26T01:30:00.000000Z"});
    // By elapsed time: every half hour, in both.
    CHECK(next_of("*/30 * * * *", "Europe/Berlin", "2026-10-25T00:00:00Z", 4) ==
          texts{"2026-10-25T00:30:00.000000Z", "2026-10-25T01:00:00.000000Z", "2026-10-25T01:30:00.000000Z", "2026-10-25T02:00:00.000000Z"});
    CHECK(next_of("* 2 25 10 *", "Europe/Berlin", "2026-10-25T00:58:00Z", 2) == texts{"2026-10-25T00:59:00.000000Z", "2026-10-25T01:00:00.000000Z"});
    CHECK(next_of("*/30 * * * *", "Europe/Berlin", "2027-03-28T00:30:00Z", 2) == texts{"2027-03-28T01:00:00.000000Z", "2027-03-28T01:30:00.000000Z"});
    // Clocks that go by half an hour.
    CHECK(next_of("45 1 * * *", "Australia/Lord_Howe", "2027-04-03T00:00:00Z", 2) == texts{"2027-04-03T14:45:00.000000Z", "2027-04-04T15:15:00.000000Z"});
}

TEST_CASE("cron: what cannot be read is refused with the field and what it takes", "[cron]")
{
    CHECK_THAT(why_not("* * * *"), Contains("4 fields") && Contains("30 9 * * MON-FRI"));
    CHECK_THAT(why_not("60 * * * *"), Contains("\"60\" is no minute") && Contains("0 to 59"));
    CHECK_THAT(why_not("* 24 * * *"), Contains("hour"));
    CHECK_THAT(why_not("* * 0 * *"), Contains("day of the month"));
    CHECK_THAT(why_not("* * * foo *"), Contains("month") && Contains("three letters"));
    CHECK_THAT(why_not("* * * * 5-1"), Contains("day of the week"));
    for (auto const* bad : {"*/0 * * * *", "5/15 * * * *", "1,,2 * * * *", "-5 * * * *", "1- * * * *", "*5 * * * *", "+5 * * * *", "", "@daily"})
        CHECK_FALSE(cron::parse(bad));
    auto const zone = time_zone::find("Europe/Berln");
    REQUIRE(!zone);
    CHECK_THAT(zone.error().message(), Contains("Europe/Berln") && Contains("tzdata"));
}

TEST_CASE("a grid goes through the epoch, before it too", "[cron]")
{
    CHECK(to_string(next_on_grid(parse_time("2026-12-01T10:00:00Z"), 1h, 5min)) == "2026-12-01T10:05:00.000000Z");
    CHECK(to_string(next_on_grid(parse_time("2026-12-01T10:05:00Z"), 1h, 5min)) == "2026-12-01T11:05:00.000000Z");
    CHECK(to_string(next_on_grid(parse_time("1969-12-31T23:30:00Z"), 1h, {})) == "1970-01-01T00:00:00.000000Z");
    CHECK(to_string(next_on_grid(parse_time("1969-12-31T23:00:00Z"), 1h, {})) == "1970-01-01T00:00:00.000000Z");
}

TEST_CASE("a turn of a schedule: what is missed, what overlaps, what is too much", "[cron]")
{
    schedule_state s;
    s.terms.when = flow::every(1min);
    s.terms.catch_up = flow::catch_up_policy::one;
    s.seen = parse_time("2026-12-01T00:00:30Z");
    auto const three_days = s.seen + 72h;

    auto t = turn_at(s, three_days);
    REQUIRE(t.fire.size() == 1);
    CHECK(to_string(t.fire[0]) == "2026-12-04T00:00:00.000000Z");
    CHECK(t.left_out == 3 * 24 * 60 - 1);
    CHECK(t.next == parse_time("2026-12-04T00:01:00Z"));
    CHECK(turn_at(s, s.seen).fire.empty());
    CHECK(turn_at(s, s.seen - 1h).seen == s.seen);  // the clock was put back: nothing is fired twice

    s.terms.when = flow::cron("* * * * *");
    auto const by_cron = turn_at(s, three_days);
    CHECK(by_cron.fire == t.fire);
    CHECK(by_cron.left_out == t.left_out);

    s.terms.catch_up = flow::catch_up_policy::none;
    s.terms.grace = 90s;
    t = turn_at(s, three_days);  // 00:00:30 on the grid of minutes: 00:00:00 and 23:59:00 are within 90 s
    CHECK(t.fire.empty() == false);
    CHECK(t.fire.size() + t.left_out == 3 * 24 * 60);

    s.terms.catch_up = flow::catch_up_policy::all;
    s.terms.overlap = flow::overlap_policy::allow;
    t = turn_at(s, three_days);
    CHECK(t.fire.size() == most_a_turn);
    CHECK(t.seen == t.fire.back());
    REQUIRE(t.next);
    CHECK(*t.next <= three_days);  // at once

    s.terms.overlap = flow::overlap_policy::buffer_one;
    s.running = true;
    t = turn_at(s, s.seen + 3min);
    CHECK(t.fire.empty());
    CHECK(t.buffered == parse_time("2026-12-01T00:01:00Z"));
    CHECK(t.left_out == 2);

    s.terms.limit = 5;
    s.fired = 5;
    t = turn_at(s, three_days);
    CHECK(t.fire.empty());
    CHECK(s.has_fired_all());
}
