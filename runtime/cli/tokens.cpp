// flow tokens
#include <ostream>

#include "runtime/cli/documents.hpp"
#include "runtime/cli/find.hpp"
#include "runtime/cli/json.hpp"
#include "runtime/cli/table.hpp"
#include "runtime/cli/text.hpp"

namespace flow::cli {

void list_tokens(session const& s)
{
    auto const limit = s.asked.limit.value_or(100);
    waitpoint_filter which;
    if (!s.asked.run.empty()) which.run = find_run(s, s.asked.run);
    which.status = waitpoint_status::pending;
    which.purpose = waitpoint_purpose::token;
    which.limit = limit + 1;
    auto rows = s.on.waitpoints(which);
    bool const more = rows.size() > limit;
    if (more) rows.pop_back();

    if (s.asked.json) {
        std::vector<std::string> all;
        for (auto const& w : rows) all.push_back(json_of(w));
        json_object o;
        return s.print_json(o.raw("tokens", json_list(all)).yes_no("more", more).str());
    }
    if (rows.empty()) {
        s.io.out << "No open tokens.\n";
        return;
    }
    table t({{"TOKEN"}, {"RUN"}, {"PLACE", true}, {"OPEN FOR"}, {"ANSWER", true}});
    for (auto const& w : rows)
        t.add({{to_string(w.id), style::strong},
               {short_id(s, w.run)},
               {w.place},
               {length_text(s.now() - w.created_at)},
               {w.shape}});
    t.print(s.io);
    if (more) s.io.out << "\nThere are more: ask for them with --limit, or for those of one run with --run\n";
}

}  // namespace flow::cli
