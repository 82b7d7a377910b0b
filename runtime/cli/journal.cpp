// flow journal
#include <ostream>

#include "runtime/cli/documents.hpp"
#include "runtime/cli/find.hpp"
#include "runtime/cli/json.hpp"
#include "runtime/cli/table.hpp"
#include "runtime/cli/text.hpp"
#include "runtime/cli/words.hpp"

namespace flow::cli {

namespace {

std::string what_of(journal_entry const& e)
{
    auto text = e.place.empty() ? e.name : e.place;
    if (e.attempt > 0) text += " (" + std::string(to_string(e.cls)) + ", attempt " + std::to_string(e.attempt) + ")";
    return text;
}

/// Payload, sentence, commit reference, who and why: in the order a reader wants them.
std::string text_of(journal_entry const& e)
{
    std::string text;
    auto const add = [&](std::string_view before, std::string_view what) {
        if (what.empty()) return;
        if (!text.empty()) text += "  ";
        text += std::string(before) + std::string(what.substr(0, 1000));
    };
    // A snapshot's payload says in JSON what its sentence says.
    if (e.kind != entry_kind::snapshot) {
        if (e.in_blob) add("", "(stored apart: " + to_string(e.hash).substr(0, 12) + ")");
        else if (e.encoding == encoding::binary) add("", "(binary, " + counted(e.payload.size(), "byte") + ")");
        else add("", e.payload);
    }
    add("ref ", e.commit_ref);
    add(e.kind == entry_kind::snapshot ? "" : "why: ", e.why);
    add("by ", e.by);
    return text;
}

}  // namespace

void list_journal(session const& s)
{
    auto const limit = s.asked.limit.value_or(100);
    auto const run = find_run(s, s.asked.which);
    auto entries = s.on.journal(run, seq_no{s.asked.after}, limit + 1);
    bool const more = entries.size() > limit;
    if (more) entries.pop_back();

    if (s.asked.json) {
        std::vector<std::string> all;
        for (auto const& e : entries) all.push_back(json_of(e));
        json_object o;
        o.text("run", to_string(run)).raw("entries", json_list(all));
        auto const last = entries.empty() ? std::int64_t{0} : static_cast<std::int64_t>(entries.back().seq);
        return s.print_json(o.raw("next_after", more ? std::to_string(last) : "null").str());
    }
    if (entries.empty()) {
        s.io.out << "No such entries.\n";
        return;
    }
    table t({{"SEQ"}, {"TIME (UTC)"}, {"KIND"}, {"WHAT", true}, {"TEXT", true}});
    for (auto const& e : entries)
        t.add({{std::to_string(static_cast<std::int64_t>(e.seq))},
               {time_text(e.at), style::dim},
               {std::string(to_string(e.kind))},
               {what_of(e)},
               {text_of(e)}});
    t.print(s.io);
    if (more) s.io.out << "\nThere are more: go on with --after " << static_cast<std::int64_t>(entries.back().seq) << '\n';
}

}  // namespace flow::cli
