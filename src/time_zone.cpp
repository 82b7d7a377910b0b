#include "src/time_zone.hpp"

#include <date/tz.h>

#include "src/names.hpp"

namespace flow::detail {

namespace {

date::time_zone const& zone_at(void const* zone) { return *static_cast<date::time_zone const*>(zone); }

}  // namespace

outcome<time_zone> time_zone::find(std::string_view name)
{
    time_zone z;
    if (name.empty() || name == "UTC") return z;
    try {
        z.zone_ = date::locate_zone(std::string(name));
        return z;
    } catch (std::exception const&) {
        return error(errc::bad_argument, "there is no time zone \"" + printable(name, 100) +
                                             "\" on this machine; it is a name like Europe/Berlin, and its data is in Debian's package tzdata");
    }
}

local_minute time_zone::local(time_point t) const
{
    using namespace std::chrono;
    auto const whole = floor<seconds>(t.time_since_epoch());
    auto const ahead = zone_ ? zone_at(zone_).get_info(date::sys_seconds(whole)).offset : seconds{0};
    return local_minute(floor<minutes>(whole + ahead));
}

time_point time_zone::instant(local_minute m) const
{
    auto const shown = m.time_since_epoch();
    if (!zone_) return time_point(shown);
    auto const info = zone_at(zone_).get_info(date::local_seconds(shown));
    if (info.result == date::local_info::nonexistent) return time_point(info.first.end.time_since_epoch());
    return time_point(shown - info.first.offset);
}

}  // namespace flow::detail
