#include "flow/time.hpp"

#include <array>
#include <charconv>
#include <cstdio>

#include "flow/error.hpp"
#include "src/names.hpp"

namespace flow {
namespace {

class machine_clock final : public clock {
public:
    time_point now() const override
    {
        return std::chrono::floor<duration>(std::chrono::system_clock::now());
    }
    duration steady() const override
    {
        return std::chrono::floor<duration>(std::chrono::steady_clock::now().time_since_epoch());
    }
};

[[noreturn]] void refuse(std::string_view text)
{
    throw error(errc::bad_argument, "'" + detail::printable(text, 64) + "' is no time: write 2026-11-30T09:10:34.000123Z");
}

/// Exactly `digits` digits.
int number(std::string_view text, std::size_t from, std::size_t digits)
{
    int value = 0;
    for (std::size_t i = from; i < from + digits; ++i) {
        if (text[i] < '0' || text[i] > '9') return -1;
        value = value * 10 + (text[i] - '0');
    }
    return value;
}

}  // namespace

clock const& system_clock() noexcept
{
    static machine_clock const clock;
    return clock;
}

std::string to_string(time_point t)
{
    using namespace std::chrono;
    if (t == never) return "never";
    // Days by hand: floor<days> of an instant near the ends of int64 must not overflow on its way.
    auto const since = t.time_since_epoch().count();
    constexpr std::int64_t day = 86'400'000'000;
    auto days_since = since / day, rest = since % day;
    if (rest < 0) rest += day, --days_since;
    // year_month_day ends at the year 32767: beyond it, whole cycles of 400 years (146,097 days each) are taken off.
    auto cycles = days_since / 146'097;
    auto const ymd = year_month_day(sys_days(days(days_since % 146'097)));
    auto const year = static_cast<std::int64_t>(static_cast<int>(ymd.year())) + 400 * cycles;
    std::array<char, 64> text;
    auto const n = std::snprintf(text.data(), text.size(), "%s%04lld-%02u-%02uT%02d:%02d:%02d.%06dZ", year < 0 ? "-" : "",
                                 static_cast<long long>(year < 0 ? -year : year), static_cast<unsigned>(ymd.month()),
                                 static_cast<unsigned>(ymd.day()), static_cast<int>(rest / 3'600'000'000),
                                 static_cast<int>(rest / 60'000'000 % 60), static_cast<int>(rest / 1'000'000 % 60),
                                 static_cast<int>(rest % 1'000'000));
    return {text.data(), static_cast<std::size_t>(n)};
}

time_point parse_time(std::string_view text)
{
    using namespace std::chrono;
    if (text == "never") return never;
    auto const whole = text;
    bool const negative = text.starts_with('-');
    if (negative) text.remove_prefix(1);
    auto const year_end = text.find('-');
    // Behind the year: -MM-DDTHH:MM:SSZ at least. 290,000 years have six digits.
    if (year_end == text.npos || year_end < 4 || year_end > 6 || text.size() < year_end + 16) refuse(whole);
    auto const y = number(text, 0, year_end);
    text.remove_prefix(year_end);
    auto const mo = number(text, 1, 2), d = number(text, 4, 2), h = number(text, 7, 2), mi = number(text, 10, 2),
               s = number(text, 13, 2);
    if (text[3] != '-' || (text[6] != 'T' && text[6] != 't') || text[9] != ':' || text[12] != ':') refuse(whole);
    text.remove_prefix(15);
    std::int64_t micros = 0;
    if (text.front() == '.') {
        text.remove_prefix(1);
        auto const digits = text.size() - 1;
        if (digits < 1 || digits > 6 || number(text, 0, digits) < 0) refuse(whole);
        micros = number(text, 0, digits);
        for (auto i = digits; i < 6; ++i) micros *= 10;
        text.remove_prefix(digits);
    }
    if (text != "Z" && text != "z") refuse(whole);
    if (y < 0 || mo < 1 || mo > 12 || d < 1 || h < 0 || h > 23 || mi < 0 || mi > 59 || s < 0 || s > 59) refuse(whole);
    // Into the range of std::chrono::year, and back by whole cycles of 400 years.
    std::int64_t const signed_year = negative ? -std::int64_t{y} : y;
    auto const cycles = signed_year / 400;
    auto const date = year(static_cast<int>(signed_year % 400)) / mo / d;
    if (!date.ok()) refuse(whole);
    std::int64_t days_since = sys_days(date).time_since_epoch().count() + cycles * 146'097;
    auto of_day = ((h * 60LL + mi) * 60 + s) * 1'000'000 + micros;
    // Before 1970, counted back from the day's end: the day that int64 begins in began before it.
    if (days_since < 0) ++days_since, of_day -= 86'400'000'000;
    std::int64_t count = 0;
    if (__builtin_mul_overflow(days_since, std::int64_t{86'400'000'000}, &count) || __builtin_add_overflow(count, of_day, &count))
        refuse(whole);
    return time_point(duration(count));
}

}  // namespace flow
