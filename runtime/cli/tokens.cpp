// flow tokens: what somebody has to answer.
#include <ostream>
#include <utility>

#include "runtime/cli/documents.hpp"
#include "runtime/cli/find.hpp"
#include "runtime/cli/json.hpp"
#include "runtime/cli/table.hpp"
#include "runtime/cli/text.hpp"
#include "src/asking.hpp"

namespace flow::cli {

namespace {

struct page {
    std::vector<open_wait> rows;
    bool more = false;
};

page open_ones(session const& s, waitpoint_purpose purpose)
{
    auto const limit = s.asked.limit.value_or(100);
    waitpoint_filter which;
    if (!s.asked.run.empty()) which.run = find_run(s, s.asked.run);
    which.status = waitpoint_status::pending;
    which.purpose = purpose;
    which.limit = limit + 1;
    page p;
    for (auto& row : s.on.waitpoints(which)) p.rows.push_back(detail::as_open_wait(std::move(row)));
    p.more = p.rows.size() > limit;
    if (p.more) p.rows.pop_back();
    return p;
}

std::string list_of(page const& p)
{
    std::vector<std::string> all;
    for (auto const& o : p.rows) all.push_back(json_of(o));
    return json_list(all);
}

void print(session const& s, page const& p, char const* first, char const* last)
{
    table t({{first}, {"RUN"}, {"PLACE", true}, {"OPEN FOR"}, {last, true}});
    for (auto const& o : p.rows) {
        std::string choices = o.asks ? o.question + " (" + detail::who_decides(*o.asks) + ")" : std::string();
        if (choices.empty())
            for (auto const& c : o.choices) choices += (choices.empty() ? "" : ", ") + c;
        t.add({{to_string(o.row.id), style::strong},
               {short_id(s, o.row.run)},
               {o.row.place},
               {length_text(s.now() - o.row.created_at)},
               {choices.empty() ? o.row.shape : choices}});
    }
    t.print(s.io);
}

}  // namespace

void list_tokens(session const& s)
{
    auto const tokens = open_ones(s, waitpoint_purpose::token), decisions = open_ones(s, waitpoint_purpose::intervention);
    auto const questions = open_ones(s, waitpoint_purpose::approval);
    bool const more = tokens.more || decisions.more || questions.more;
    if (s.asked.json) {
        json_object o;
        return s.print_json(o.raw("tokens", list_of(tokens)).raw("questions", list_of(questions)).raw("decisions", list_of(decisions)).yes_no("more", more).str());
    }
    if (tokens.rows.empty()) s.io.out << "No open tokens.\n";
    else print(s, tokens, "TOKEN", "ANSWER");
    if (!questions.rows.empty()) {
        s.io.out << '\n';
        print(s, questions, "QUESTION", "TEXT");
    }
    if (!decisions.rows.empty()) {
        s.io.out << '\n';
        print(s, decisions, "DECISION", "CHOICE");
    }
    if (more) s.io.out << "\nThere are more: ask for them with --limit, or for those of one run with --run\n";
}

}  // namespace flow::cli
