// flow send, flow events
#include <ostream>

#include "runtime/cli/find.hpp"
#include "runtime/cli/json.hpp"
#include "runtime/cli/table.hpp"
#include "runtime/cli/text.hpp"
#include "runtime/cli/verbs.hpp"

namespace flow::cli {

namespace {

std::string_view word_of(delivery_answer a)
{
    switch (a) {
    case delivery_answer::matched: return "matched";
    case delivery_answer::unfit: return "unfit";
    case delivery_answer::duplicate: return "duplicate";
    default: return "kept";  // what else is refused was thrown
    }
}

std::string sentence_of(delivered const& told)
{
    switch (told.answer) {
    case delivery_answer::matched: return "It went to run " + to_string(*told.run) + ".";
    case delivery_answer::unfit: return "It is kept, but goes to nobody who waits for it now: they want " + told.wanted + ".";
    case delivery_answer::duplicate: return "It was sent before: nothing was changed.";
    default: return "Nobody waits for it now: it is kept.";
    }
}

std::string_view word_of(event_fate f)
{
    return f == event_fate::kept ? "kept" : f == event_fate::given ? "given" : "taken";
}

std::string document_of(event_row const& e)
{
    json_object o;
    o.text("id", to_string(e.what.id)).text("topic", e.what.topic).text("about", e.what.correlation).text("fate", word_of(e.fate));
    o.raw("run", e.what.run ? json_text(to_string(*e.what.run)) : "null").raw("taker", e.taker ? json_text(to_string(*e.taker)) : "null");
    o.number("entry", static_cast<std::int64_t>(e.entry)).text("by", e.what.by).time("at", e.what.at).time("expires_at", e.what.expires_at);
    return o.raw("value", json_payload(encoding::json, e.what.payload)).str();
}

std::string fate_text(session const& s, event_row const& e)
{
    if (e.fate == event_fate::kept) return "kept";
    return (e.fate == event_fate::given ? "given to " : "taken by ") + short_id(s, *e.taker);
}

}  // namespace

void send_event(session const& s)
{
    auto const& asked = s.asked;
    event_options options;
    options.id = asked.id;
    options.only_if_awaited = asked.if_awaited;
    options.by = asked.by;
    if (asked.run.empty() == asked.about.empty()) throw misuse("say whom it is for: --about TEXT for who waits for that, or --run RUN for one run");
    auto const told = asked.run.empty() ? s.on.send_event_json(asked.topic, asked.about, asked.value, options)
                                        : s.on.send_json(find_run(s, asked.run), asked.topic, asked.value, options);
    if (!asked.json) {
        s.io.out << sentence_of(told) << '\n';
        return;
    }
    json_object o;
    o.text("topic", asked.topic).text("answer", word_of(told.answer));
    s.print_json(o.raw("run", told.run ? json_text(to_string(*told.run)) : "null").str());
}

void list_events(session const& s)
{
    auto const limit = s.asked.limit.value_or(100);
    event_filter which;
    which.topic = s.asked.topic;
    which.correlation = s.asked.about;
    if (!s.asked.run.empty()) which.run = find_run(s, s.asked.run);
    if (s.asked.kept) which.fate = event_fate::kept;
    which.after = s.asked.after;
    which.limit = limit + 1;
    auto all = s.on.events(which);
    bool const more = all.size() > limit;
    if (more) all.pop_back();

    if (s.asked.json) {
        std::vector<std::string> documents;
        for (auto const& e : all) documents.push_back(document_of(e));
        json_object o;
        o.raw("events", json_list(documents));
        return s.print_json(o.raw("next_after", more ? std::to_string(all.back().cursor) : "null").str());
    }
    if (all.empty()) {
        s.io.out << "No events.\n";
        return;
    }
    table t({{"TOPIC", true}, {"ABOUT", true}, {"FROM"}, {"TIME (UTC)"}, {"FATE"}, {"VALUE", true}});
    for (auto const& e : all)
        t.add({{e.what.topic, style::strong},
               {e.what.run ? "run " + short_id(s, *e.what.run) : e.what.correlation},
               {e.what.by},
               {time_text(e.what.at), style::dim},
               {fate_text(s, e)},
               {e.what.payload.substr(0, 1000)}});
    t.print(s.io);
    if (more) s.io.out << "\nThere are more: go on with --after " << all.back().cursor << '\n';
}

}  // namespace flow::cli
