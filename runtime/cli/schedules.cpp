// flow schedules, flow schedule, flow backfill
#include <optional>
#include <ostream>

#include "flow/detail/enum_names.hpp"
#include "flow/schedule.hpp"
#include "runtime/cli/find.hpp"
#include "runtime/cli/json.hpp"
#include "runtime/cli/table.hpp"
#include "runtime/cli/text.hpp"
#include "runtime/cli/verbs.hpp"
#include "src/schedule.hpp"

namespace flow::cli {

namespace {

template <class Policy>
std::string_view word_of(Policy p)
{
    return detail::names_of<Policy>().name(static_cast<std::int64_t>(p));
}

template <class Policy>
Policy read_policy(std::string_view option, std::string_view text, char const* words)
{
    if (text.empty()) return Policy{};
    if (auto const value = detail::names_of<Policy>().value(text)) return static_cast<Policy>(*value);
    throw misuse(std::string(option) + ' ' + std::string(text) + ": it is one of " + words);
}

timing timing_of(arguments const& a)
{
    if (a.cron.empty() == a.every.empty()) throw misuse("say when: --cron 'FIELDS', or --every T");
    if (!a.cron.empty()) return cron(a.cron, a.zone.empty() ? "UTC" : a.zone);
    auto const length = read_length(a.every);
    if (!length) throw misuse("--every " + a.every + ": write 30s, 15min, 2h, 1d");
    return every(*length);
}

std::string instant_text(std::optional<time_point> const& t) { return t ? time_text(*t) : "-"; }

std::string document_of(schedule_row const& r)
{
    json_object o;
    o.text("name", r.name).text("run", to_string(r.run)).text("status", to_string(r.status.run)).text("workflow", r.workflow);
    o.raw("arguments", r.arguments).text("when", detail::text_of(r.when)).text("overlap", word_of(r.overlap)).text("catch_up", word_of(r.catch_up));
    o.raw("next", r.next ? json_text(to_string(*r.next)) : "null").raw("last", r.last ? json_text(to_string(*r.last)) : "null");
    o.raw("last_run", r.last_run ? json_text(to_string(*r.last_run)) : "null").raw("buffered", r.buffered ? "true" : "false");
    o.number("fired", static_cast<std::int64_t>(r.fired)).number("left_out", static_cast<std::int64_t>(r.left_out));
    return o.text("trouble", r.trouble).str();
}

}  // namespace

void list_schedules(session const& s)
{
    auto const all = s.on.schedules();
    if (s.asked.json) {
        std::vector<std::string> documents;
        for (auto const& r : all) documents.push_back(document_of(r));
        json_object o;
        return s.print_json(o.raw("schedules", json_list(documents)).str());
    }
    if (all.empty()) {
        s.io.out << "No schedules.\n";
        return;
    }
    table t({{"NAME", true}, {"RUN"}, {"STATUS"}, {"STARTS", true}, {"WHEN", true}, {"NEXT (UTC)"}, {"LAST (UTC)"}, {"FIRED"}, {"LEFT OUT"}});
    for (auto const& r : all)
        t.add({{r.name, style::strong},
               {short_id(s, r.run)},
               {std::string(to_string(r.status.run))},
               {r.workflow},
               {detail::text_of(r.when)},
               {instant_text(r.next), style::dim},
               {instant_text(r.last), style::dim},
               {std::to_string(r.fired)},
               {std::to_string(r.left_out)}});
    t.print(s.io);
    for (auto const& r : all)
        if (!r.trouble.empty()) s.io.out << '\n' << shown(r.name) << " is in trouble: " << shown(r.trouble) << '\n';
}

void make_schedule(session const& s)
{
    auto const& a = s.asked;
    schedule_options o;
    o.overlap = read_policy<overlap_policy>("--overlap", a.overlap, "skip, buffer_one, allow");
    o.catch_up = read_policy<catch_up_policy>("--catch-up", a.catch_up, "one, all, none");
    o.limit = a.firings;
    if (!a.until.empty()) {
        if (read_length(a.until)) throw misuse("--until " + a.until + ": write an instant, 2026-11-30 or 2026-11-30T09:10:34Z");
        o.until = read_time("--until", a.until, s.now());
    }
    o.by = a.by;
    auto const when = timing_of(a);
    auto const made = s.on.schedule(a.which, when, a.workflow, args::json(a.value.empty() ? "[]" : a.value), o);
    if (a.json) {
        json_object out;
        return s.print_json(out.text("name", a.which).text("run", to_string(made.id())).text("when", detail::text_of(when)).str());
    }
    s.io.out << "Schedule " << shown(a.which) << " starts " << shown(a.workflow) << ' ' << shown(detail::text_of(when)) << ". It is run "
             << short_id(s, made.id()) << ": pause, resume and cancel it as any run.\n";
}

void fill_back(session const& s)
{
    auto const& a = s.asked;
    auto const from = read_time("--since", a.since, s.now());
    auto const to = a.until.empty() ? s.now() : read_time("--until", a.until, s.now());
    auto const count = s.on.backfill(a.which, from, to);
    if (a.json) {
        json_object out;
        return s.print_json(out.text("name", a.which).number("instants", static_cast<std::int64_t>(count)).str());
    }
    s.io.out << counted(count, "instant") << " between " << time_text(from) << " and " << time_text(to)
             << (count == 0 ? ": nothing to fire.\n" : ": those that were not fired are.\n");
}

}  // namespace flow::cli
