#include "src/cron.hpp"

#include <array>
#include <charconv>
#include <limits>
#include <vector>

#include "src/names.hpp"

namespace flow::detail {

namespace {

using namespace std::chrono;

// No date comes more rarely than a 29th of February on one day of the week, around a year like 1900.
constexpr years look_ahead{41};

struct field {
    char const* called;
    int low, high;
    std::string_view names;  ///< three letters each; the first is `first_name`
    int first_name;
};
constexpr std::array<field, 5> fields{{{"minute", 0, 59, "", 0},
                                       {"hour", 0, 23, "", 0},
                                       {"day of the month", 1, 31, "", 0},
                                       {"month", 1, 12, "janfebmaraprmayjunjulaugsepoctnovdec", 1},
                                       {"day of the week", 0, 7, "sunmontuewedthufrisat", 0}}};

std::optional<int> number(field const& f, std::string_view text)
{
    int value = 0;
    auto const [end, bad] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (bad == std::errc{} && end == text.data() + text.size()) return value >= f.low && value <= f.high ? std::optional(value) : std::nullopt;
    if (text.size() != 3) return std::nullopt;
    std::string lower;
    for (char const c : text) lower += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    for (std::size_t at = 0; at < f.names.size(); at += 3)
        if (f.names.substr(at, 3) == lower) return f.first_name + static_cast<int>(at / 3);
    return std::nullopt;
}

/// One element of a list: `*`, `a`, `a-b`, each with `/step`.
bool add(field const& f, std::string_view text, std::uint64_t& into)
{
    int step = 1;
    auto const slash = text.find('/');
    if (slash != text.npos) {
        auto const s = text.substr(slash + 1);
        auto const [end, bad] = std::from_chars(s.data(), s.data() + s.size(), step);
        if (bad != std::errc{} || end != s.data() + s.size() || step < 1) return false;
        text = text.substr(0, slash);
    }
    int from = f.low, to = f.high;
    if (text != "*") {
        auto const dash = text.find('-');
        auto const first = number(f, text.substr(0, dash));
        // `5/15` says no end and no range: refused, since crontabs differ in what they take it for.
        if (!first || (dash == text.npos && slash != text.npos)) return false;
        auto const last = dash == text.npos ? first : number(f, text.substr(dash + 1));
        if (!last || *last < *first) return false;
        from = *first, to = *last;
    }
    for (std::int64_t v = from; v <= to; v += step) into |= std::uint64_t{1} << v;
    return true;
}

std::vector<std::string_view> split(std::string_view text, std::string_view at)
{
    std::vector<std::string_view> all;
    while (true) {
        auto const end = text.find_first_of(at);
        all.push_back(text.substr(0, end));
        if (end == text.npos) return all;
        text.remove_prefix(end + 1);
    }
}

bool has(std::uint64_t set, unsigned member) { return (set >> member & 1) != 0; }

}  // namespace

outcome<cron> cron::parse(std::string_view text)
{
    std::vector<std::string_view> words;
    for (auto const w : split(text, " \t"))
        if (!w.empty()) words.push_back(w);
    if (words.size() != fields.size())
        return error(errc::bad_argument, "\"" + printable(text, 100) + "\" has " + std::to_string(words.size()) +
                                             " fields; a schedule has five: minute, hour, day of the month, month, day of the week, as in \"30 9 * * MON-FRI\"");
    std::array<std::uint64_t, 5> sets{};
    for (std::size_t i = 0; i < fields.size(); ++i)
        for (auto const part : split(words[i], ","))
            if (!add(fields[i], part, sets[i]))
                return error(errc::bad_argument, "\"" + printable(words[i], 100) + "\" is no " + fields[i].called + ": it takes " +
                                                     std::to_string(fields[i].low) + " to " + std::to_string(fields[i].high) +
                                                     (fields[i].names.empty() ? "" : ", names of three letters") +
                                                     ", lists (1,5), ranges (1-5), * and steps of both (*/15, 0-30/10)");
    cron c;
    c.minutes_ = sets[0];
    c.hours_ = static_cast<std::uint32_t>(sets[1]);
    c.days_ = static_cast<std::uint32_t>(sets[2]);
    c.months_ = static_cast<std::uint16_t>(sets[3]);
    c.weekdays_ = static_cast<std::uint8_t>((sets[4] | sets[4] >> 7) & 0x7f);  // 7 is Sunday too
    c.by_elapsed_ = words[0].front() == '*' || words[1].front() == '*';
    c.any_day_ = words[2].front() == '*';
    c.any_weekday_ = words[4].front() == '*';
    return c;
}

bool cron::has_day(local_minute m) const
{
    auto const day = floor<days>(m);
    year_month_day const date(day);
    if (!has(months_, unsigned{date.month()})) return false;
    bool const by_date = has(days_, unsigned{date.day()});
    bool const by_weekday = has(weekdays_, weekday(day).c_encoding());
    // crontab(5): a field that begins with * does not restrict.
    return any_day_ || any_weekday_ ? by_date && by_weekday : by_date || by_weekday;
}

bool cron::has_minute(local_minute m) const
{
    auto const in_day = m - floor<days>(m);
    return has(hours_, static_cast<unsigned>(in_day / hours{1})) && has(minutes_, static_cast<unsigned>(in_day % hours{1} / minutes{1}));
}

std::optional<time_point> cron::next(time_point t, time_zone const& zone) const
{
    if (t > never - duration(look_ahead)) return std::nullopt;
    return by_elapsed_ ? next_elapsed(t, zone) : next_on_the_clock(t, zone);
}

std::optional<time_point> cron::next_elapsed(time_point t, time_zone const& zone) const
{
    auto at = floor<minutes>(t) + minutes{1};
    for (auto const end = t + look_ahead; at < end;) {
        auto const shown = zone.local(time_point(at));
        if (!has_day(shown)) {
            auto const tomorrow = floor<minutes>(zone.instant(local_minute(floor<days>(shown) + days{1})));
            at = std::max(at + minutes{1}, tomorrow);
        } else if (has_minute(shown)) {
            return time_point(at);
        } else {
            at += minutes{1};
        }
    }
    return std::nullopt;
}

std::optional<time_point> cron::next_on_the_clock(time_point t, time_zone const& zone) const
{
    // What is shown later never comes earlier, so nothing before this minute is behind `t`.
    auto shown = zone.local(t);
    for (auto const end = shown + look_ahead; shown < end;) {
        if (!has_day(shown)) {
            shown = floor<days>(shown) + days{1};
            continue;
        }
        if (has_minute(shown))
            if (auto const at = zone.instant(shown); at > t) return at;
        shown += minutes{1};
    }
    return std::nullopt;
}

time_point next_on_grid(time_point t, duration length, duration offset) noexcept
{
    auto const since = t.time_since_epoch() - offset;
    auto turns = since / length;
    if (since < duration::zero() && since % length != duration::zero()) --turns;
    return time_point(offset + (turns + 1) * length);
}

}  // namespace flow::detail
