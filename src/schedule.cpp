#include "src/schedule.hpp"

#include <algorithm>
#include <iterator>

#include "src/cron.hpp"
#include "src/names.hpp"

namespace flow::detail {

namespace {

// Counting what was missed goes no further back; what is older is not counted.
constexpr std::chrono::days longest_look_back{400};
constexpr std::chrono::minutes look_again_after_trouble{1};

/// Terms that were read: the only thing that asks what comes next.
class calendar {
public:
    static outcome<calendar> of(schedule_terms const& terms)
    {
        calendar c(terms);
        if (terms.when.cron.empty()) return c;
        auto fields = cron::parse(terms.when.cron);
        if (!fields) return fields.error();
        auto zone = time_zone::find(terms.when.zone);
        if (!zone) return zone.error();
        c.cron_ = *fields;
        c.zone_ = *zone;
        return c;
    }

    std::optional<time_point> after(time_point t) const
    {
        if (t >= terms_->until) return std::nullopt;
        auto const next = cron_ ? cron_->next(t, zone_) : next_on_grid(t, terms_->when.length, terms_->when.offset);
        return next && *next <= terms_->until ? next : std::nullopt;
    }

    struct missed {
        std::optional<time_point> latest;
        std::uint64_t count = 0;
    };
    /// In (from, to].
    missed between(time_point from, time_point to) const
    {
        if (!cron_) {
            auto const first = after(from);
            auto const end = std::min(to, terms_->until);
            if (!first || *first > end) return {};
            auto const latest = next_on_grid(end, terms_->when.length, terms_->when.offset) - terms_->when.length;
            return {latest, static_cast<std::uint64_t>((latest - *first) / terms_->when.length) + 1};
        }
        missed m;
        for (auto at = after(std::max(from, to - longest_look_back)); at && *at <= to; at = after(*at)) m = {at, m.count + 1};
        return m;
    }

private:
    explicit calendar(schedule_terms const& t) : terms_(&t) {}

    schedule_terms const* terms_;
    std::optional<cron> cron_;
    time_zone zone_;
};

/// What fell due and has not been decided, oldest first; the rest is left out.
void take_due(schedule_state const& s, calendar const& c, time_point now, schedule_turn& turn, std::vector<time_point>& due)
{
    turn.seen = std::max(s.seen, now);
    auto from = s.seen;
    switch (s.terms.catch_up) {
    case catch_up_policy::one: {
        auto const m = c.between(from, now);
        if (m.latest) due.push_back(*m.latest), turn.left_out += m.count - 1;
        return;
    }
    case catch_up_policy::none: {
        auto const in_time = now - s.terms.grace - duration{1};
        if (from < in_time) turn.left_out += c.between(from, in_time).count, from = in_time;
        break;
    }
    case catch_up_policy::all: break;
    }
    for (auto at = c.after(from); at && *at <= now; at = c.after(*at)) {
        due.push_back(*at);
        if (due.size() == most_a_turn) {
            turn.seen = *at;
            return;
        }
    }
}

}  // namespace

outcome<void> check_terms(schedule_terms const& terms, time_point now)
{
    if (terms.when.cron.empty() && terms.when.length < std::chrono::milliseconds{1})
        return error(errc::bad_argument, "a schedule needs flow::cron(\"...\"), or flow::every() of at least a millisecond");
    if (terms.when.length > std::chrono::years{100})
        return error(errc::bad_argument, "a schedule that fires more rarely than once in a hundred years is none");
    if (auto const least = std::max(terms.when.length, duration{1}); terms.when.offset >= least || terms.when.offset <= -least)
        return error(errc::bad_argument, "the offset of a schedule is shorter than its length");
    if (terms.grace < std::chrono::seconds{1}) return error(errc::bad_argument, "the grace of a schedule is at least a second: no timer is earlier");
    for (char const c : terms.name)
        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') && std::string_view("._-/").find(c) == std::string_view::npos)
            return error(errc::bad_name, "\"" + printable(terms.name, 100) + "\" cannot name a schedule: letters, digits and . _ - / can");
    if (terms.name.empty() || terms.name.size() > 100) return error(errc::bad_name, "the name of a schedule has 1 to 100 characters");
    auto const next = next_firing(terms, now);
    if (!next) return next.error();
    if (!*next) return error(errc::bad_argument, text_of(terms.when) + " never comes" + (terms.until == never ? "" : " until " + to_string(terms.until)));
    return {};
}

outcome<std::optional<time_point>> next_firing(schedule_terms const& terms, time_point t)
{
    auto const c = calendar::of(terms);
    if (!c) return c.error();
    return c->after(t);
}

schedule_turn turn_at(schedule_state const& s, time_point now)
{
    schedule_turn turn;
    turn.seen = s.seen;
    turn.buffered = s.buffered;
    auto const c = calendar::of(s.terms);
    if (!c) {
        turn.trouble = c.error().message();
        turn.next = now + look_again_after_trouble;
        return turn;
    }
    auto const is_enough = [&] { return s.terms.limit != 0 && s.fired + turn.fire.size() >= s.terms.limit; };
    bool busy = s.running;
    if (turn.buffered && !busy && !is_enough()) {
        turn.fire.push_back(*turn.buffered);
        turn.buffered.reset();
        busy = true;
    }
    std::vector<time_point> due;
    take_due(s, *c, now, turn, due);
    for (auto const at : due) {
        if (is_enough()) ++turn.left_out;
        else if (!busy || s.terms.overlap == overlap_policy::allow) {
            turn.fire.push_back(at);
            busy = true;
        } else if (s.terms.overlap == overlap_policy::buffer_one && !turn.buffered) {
            turn.buffered = at;
        } else {
            ++turn.left_out;
        }
    }
    turn.next = c->after(turn.seen);
    return turn;
}

void obey(schedule_state& s, schedule_command const& told, time_point now)
{
    if (told.change && *told.change != s.terms) {
        auto const missed = turn_at(s, now);
        s.left_out += missed.left_out + missed.fire.size() + (missed.buffered ? 1 : 0);
        s.buffered.reset();
        s.terms = *told.change;
        s.seen = now;  // also where the clock was ahead once
        s.trouble.clear();
    }
    if (!told.back) return;
    auto all = firings_between(s.terms, told.back->first, std::min(told.back->second, now), most_back);
    if (!all) s.trouble = all.error().message();
    else s.owed.insert(s.owed.end(), all->begin(), all->end());
}

declaration declare(schedule_state const* there, run_status status, schedule_terms const& terms)
{
    if (!there) return declaration::begin;
    auto const& old = there->terms;
    if (!is_terminal(status)) return old == terms ? declaration::leave : declaration::change;
    if (status != run_status::succeeded) return declaration::begin;
    // It has come to its end: only what gives it more to do begins it again.
    if (old.when == terms.when && old.limit == terms.limit && old.until == terms.until) return declaration::leave;
    return terms.limit != 0 && there->fired >= terms.limit ? declaration::leave : declaration::begin;
}

outcome<std::vector<time_point>> firings_between(schedule_terms const& terms, time_point from, time_point to, std::size_t most)
{
    auto const c = calendar::of(terms);
    if (!c) return c.error();
    std::vector<time_point> all;
    from = std::max(from, time_point(duration{1}));
    for (auto at = c->after(from - duration{1}); at && *at <= to; at = c->after(*at)) {
        if (all.size() == most)
            return error(errc::bad_argument, "more than " + std::to_string(most) + " firings lie between " + to_string(from) + " and " +
                                                 to_string(to) + ": ask for them in parts");
        all.push_back(*at);
    }
    return all;
}

std::string text_of(timing const& t)
{
    if (!t.cron.empty()) return "cron \"" + t.cron + "\" (" + (t.zone.empty() ? "UTC" : t.zone) + ")";
    struct unit {
        duration length;
        char const* name;
    };
    using namespace std::chrono;
    static constexpr unit units[] = {{hours{24}, "d"}, {hours{1}, "h"}, {minutes{1}, "min"}, {seconds{1}, "s"}, {milliseconds{1}, "ms"}, {duration{1}, "us"}};
    auto const largest = std::find_if(std::begin(units), std::end(units), [&](unit const& u) { return t.length % u.length == duration::zero(); });
    return "every " + std::to_string(t.length / largest->length) + largest->name;
}

}  // namespace flow::detail
