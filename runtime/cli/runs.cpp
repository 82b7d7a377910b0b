// flow runs
#include <algorithm>
#include <ostream>

#include "runtime/cli/documents.hpp"
#include "runtime/cli/find.hpp"
#include "runtime/cli/json.hpp"
#include "runtime/cli/table.hpp"
#include "runtime/cli/text.hpp"
#include "runtime/cli/words.hpp"

namespace flow::cli {

namespace {

run_status read_status(std::string_view text)
{
    if (auto const s = parse_run_status(text)) return *s;
    std::string all;
    for (int i = 0; i <= static_cast<int>(run_status::expired); ++i)
        all += (i == 0 ? "" : ", ") + std::string(to_string(static_cast<run_status>(i)));
    throw misuse("--status " + std::string(text) + ": it is one of " + all);
}

void list_late_runs(session const& s)
{
    auto const& a = s.asked;
    if (!(a.status.empty() && a.since.empty() && a.until.empty() && a.tag.empty() && a.before.empty() && a.workflow.empty() && a.tenant.empty()))
        throw misuse("--late stands alone, or with --limit");
    auto const late = s.on.late_runs(a.limit.value_or(100));
    if (a.json) {
        std::vector<std::string> all;
        for (auto const& l : late) {
            json_object o;
            all.push_back(o.raw("run", json_of(l.row)).text("concerns", l.concerns).str());
        }
        json_object o;
        return s.print_json(o.raw("late", json_list(all)).str());
    }
    if (late.empty()) {
        s.io.out << "No run waits longer than it should.\n";
        return;
    }
    table t({{"RUN"}, {"WORKFLOW", true}, {"WAITS FOR", true}, {"SINCE (UTC)"}, {"CONCERNS", true}});
    for (auto const& l : late)
        t.add({{short_id(s, l.row.id), style::strong}, {l.row.workflow}, {wait_text(l.reason)}, {time_text(l.reason.since).substr(0, 16)}, {l.concerns}});
    t.print(s.io);
}

}  // namespace

void list_runs(session const& s)
{
    auto const& asked = s.asked;
    if (asked.late) return list_late_runs(s);
    auto const limit = asked.limit.value_or(100);
    run_filter which;
    if (!asked.status.empty()) which.status = read_status(asked.status);
    if (!asked.since.empty()) which.since = read_time("--since", asked.since, s.now());
    if (!asked.until.empty()) which.until = read_time("--until", asked.until, s.now());
    which.tag = asked.tag;
    if (!asked.before.empty()) which.before = find_run(s, asked.before);
    which.workflow = asked.workflow;
    which.tenant = asked.tenant;
    which.limit = limit + 1;  // one more: is there another page?
    auto rows = s.on.runs(which);
    bool const more = rows.size() > limit;
    if (more) rows.pop_back();

    if (asked.json) {
        std::vector<std::string> all;
        for (auto const& row : rows) all.push_back(json_of(row));
        json_object o;
        o.raw("runs", json_list(all)).raw("next_before", more ? json_text(to_string(rows.back().id)) : "null");
        return s.print_json(o.str());
    }
    if (rows.empty()) {
        s.io.out << "No such runs.\n";
        return;
    }
    table t({{"RUN"}, {"WORKFLOW", true}, {"STATUS"}, {"SINCE (UTC)"}, {"WAITS FOR", true}});
    for (auto const& row : rows) {
        auto const minute = time_text(row.changed_at).substr(0, 16);
        t.add({{short_id(s, row.id), style::strong},
               {row.workflow},
               {std::string(to_string(row.status.run)), style_of(row.status.run)},
               {minute},
               {wait_text(parse_wait_reason(row.reason))}});
    }
    t.print(s.io);
    if (more) s.io.out << "\nThere are more: go on with --before " << to_string(rows.back().id) << '\n';
}

}  // namespace flow::cli
