// flow published: what a run has told the outside.
#include <ostream>

#include "runtime/cli/find.hpp"
#include "runtime/cli/json.hpp"
#include "runtime/cli/table.hpp"
#include "runtime/cli/text.hpp"
#include "runtime/cli/verbs.hpp"

namespace flow::cli {

void list_published(session const& s)
{
    auto const run = find_run(s, s.asked.which);
    auto const limit = s.asked.limit.value_or(100);
    auto all = s.asked.history ? s.on.publications(run, seq_no{s.asked.after}, limit + 1) : s.on.published(run);
    bool const more = s.asked.history && all.size() > limit;
    if (more) all.pop_back();

    if (s.asked.json) {
        std::vector<std::string> values;
        for (auto const& p : all) {
            json_object o;
            o.text("key", p.key).number("entry", static_cast<std::int64_t>(p.cursor)).time("at", p.at).raw("value", json_payload(encoding::json, p.value));
            values.push_back(o.str());
        }
        json_object o;
        o.text("run", to_string(run)).raw("published", json_list(values));
        return s.print_json(o.raw("next_after", more ? std::to_string(static_cast<std::int64_t>(all.back().cursor)) : "null").str());
    }
    if (all.empty()) {
        s.io.out << "It has published nothing" << (s.asked.after > 0 ? " since.\n" : ".\n");
        return;
    }
    table t({{"KEY"}, {"SEQ"}, {"TIME (UTC)"}, {"VALUE", true}});
    for (auto const& p : all)
        t.add({{p.key, style::strong}, {std::to_string(static_cast<std::int64_t>(p.cursor))}, {time_text(p.at), style::dim}, {p.value.substr(0, 1000)}});
    t.print(s.io);
    if (more) s.io.out << "\nThere are more: go on with --after " << static_cast<std::int64_t>(all.back().cursor) << '\n';
}

}  // namespace flow::cli
