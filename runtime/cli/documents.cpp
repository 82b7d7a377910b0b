#include "runtime/cli/documents.hpp"

#include "runtime/cli/json.hpp"
#include "src/asking.hpp"

namespace flow::cli {

namespace {

template <class Enum>
std::int64_t number(Enum e)
{
    return static_cast<std::int64_t>(e);
}

json_object waitpoint_members(waitpoint_row const& w)
{
    json_object o;
    o.text("id", to_string(w.id)).text("run", to_string(w.run)).text("purpose", to_string(w.purpose));
    o.text("status", to_string(w.status)).text("name", w.name).text("place", w.place).text("shape", w.shape);
    o.text("about", w.correlation).time("created_at", w.created_at).time("due_at", w.due_at);
    return o;
}

}  // namespace

std::string json_of(wait_reason const& w)
{
    if (w.type == wait_reason::kind::none) return "null";
    json_object o;
    o.text("type", to_string(w.type)).text("id", w.id).text("name", w.name).text("detail", w.detail);
    o.time("since", w.since).time("until", w.until).time("sla_at", w.sla_at).number("policy", w.policy).yes_no("resumable", w.resumable);
    std::vector<std::string> all;
    for (auto const& e : w.escalations) {
        std::vector<std::string> to;
        for (auto const& name : e.to) to.push_back(json_text(name));
        json_object one;
        all.push_back(one.time("at", e.at).raw("to", json_list(to)).text("channel", e.channel).str());
    }
    return o.raw("escalations", json_list(all)).str();
}

std::string json_of(run_row const& row)
{
    json_object o;
    o.text("id", to_string(row.id)).text("workflow", row.workflow).number("version", row.version);
    o.text("status", to_string(row.status.run)).text("execution", to_string(row.status.execution));
    o.text("terminal_reason", row.terminal_reason).raw("waits_for", json_of(parse_wait_reason(row.reason)));
    o.text("tenant", row.tenant).text("key", row.key).text("queue", row.queue).text("tags", row.tags);
    o.number("priority", row.priority).raw("parent", row.parent ? json_text(to_string(*row.parent)) : "null");
    o.time("created_at", row.created_at).time("changed_at", row.changed_at);
    o.time("due_at", row.due_at).time("deadline_at", row.deadline_at);
    return o.number("snapshot", number(row.snapshot))
        .number("epoch", number(row.epoch))
        .number("owner", number(row.owner))
        .str();
}

std::string json_of(step_view const& v)
{
    json_object o;
    o.text("place", v.place).text("name", v.name).text("class", to_string(v.cls)).text("status", to_string(v.status));
    o.number("attempts", v.attempts).time("begun_at", v.begun_at).time("ended_at", v.ended_at).time("next_at", v.next_at);
    o.raw("output", v.output_in_blob ? "null" : json_payload(v.output_encoding, v.output))
        .yes_no("output_in_blob", v.output_in_blob)
        .yes_no("output_damaged", v.output_damaged)
        .text("output_hash", v.output_hash.is_none() ? std::string() : to_string(v.output_hash));
    return o.text("error", v.error).text("commit_ref", v.commit_ref).number("entry", number(v.entry)).str();
}

std::string json_of(resume_result const& r)
{
    json_object o;
    if (auto const* on = std::get_if<goes_on>(&r)) {
        return o.text("action", "resume").number("step", static_cast<std::int64_t>(on->step)).str();
    } else if (auto const* ask = std::get_if<asks_person>(&r)) {
        o.text("action", "human_intervention").text("reason", ask->why);
        return (ask->step ? o.number("step", static_cast<std::int64_t>(*ask->step)) : o.raw("step", "null")).str();
    }
    return o.text("action", "abort").text("reason", std::get<stays>(r).why).str();
}

std::string json_of(open_wait const& w)
{
    auto o = waitpoint_members(w.row);
    std::vector<std::string> choices;
    for (auto const& c : w.choices) choices.push_back(json_text(c));
    return o.text("question", w.question).raw("choices", json_list(choices)).text("output_shape", w.output_shape).raw("asks", w.asks ? detail::write_terms(*w.asks) : "null").str();
}

std::string json_of(happening const& h)
{
    json_object o;
    o.number("entry", number(h.entry)).time("at", h.at).text("text", h.text);
    return o.text("by", h.by).text("why", h.why).str();
}

std::string json_of(request_row const& r)
{
    json_object o;
    o.text("id", to_string(r.what.id)).text("kind", to_string(r.what.kind)).text("fate", to_string(r.fate));
    return o.text("by", r.what.by).text("why", r.what.why).time("at", r.what.at).number("entry", number(r.entry)).str();
}

std::string json_of(journal_entry const& e)
{
    json_object o;
    o.number("seq", number(e.seq))
        .number("epoch", number(e.epoch))
        .number("segment", e.segment)
        .text("kind", to_string(e.kind));
    o.text("path", e.path)
        .text("place", e.place)
        .text("name", e.name)
        .text("class", to_string(e.cls))
        .number("attempt", e.attempt);
    o.text("shape_in", e.shape_in).text("shape_out", e.shape_out).text("encoding", to_string(e.encoding));
    o.raw("payload", e.in_blob ? "null" : json_payload(e.encoding, e.payload)).yes_no("in_blob", e.in_blob);
    o.raw("hash", e.hash.is_none() ? "null" : json_text(to_string(e.hash)));
    o.raw("input_hash", e.input_hash.is_none() ? "null" : json_text(to_string(e.input_hash)));
    return o.text("commit_ref", e.commit_ref).text("by", e.by).text("why", e.why).time("at", e.at).str();
}

std::string json_of(waitpoint_row const& w) { return waitpoint_members(w).str(); }

std::string json_of(error_detail const& e)
{
    json_object o;
    o.number("code", number(e.code)).text("name", row_of(e.code).name).text("tag", e.tag).text("message", e.message);
    return o.text("place", e.place).number("attempts", e.attempts).str();
}

}  // namespace flow::cli
