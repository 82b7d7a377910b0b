// flow show: a run on one screen.
#include <algorithm>
#include <ostream>
#include <span>
#include <utility>

#include "runtime/cli/documents.hpp"
#include "runtime/cli/find.hpp"
#include "runtime/cli/holder.hpp"
#include "runtime/cli/json.hpp"
#include "runtime/cli/table.hpp"
#include "runtime/cli/text.hpp"
#include "runtime/cli/words.hpp"
#include "src/asking.hpp"
#include "src/wait_texts.hpp"

namespace flow::cli {

namespace {

// Together with the rest they fit a screen of fifty lines.
constexpr std::size_t lines_of_a_list = 15;
constexpr std::size_t longest_value = 2000;

template <class T>
std::span<T const> newest(std::vector<T> const& all, std::size_t limit)
{
    return std::span<T const>(all).last(std::min(limit, all.size()));
}

/// Requests that nobody has acted on yet.
std::vector<request_row> untaken(session const& s, run_id run)
{
    auto all = s.on.data().reader().requests(run).value();
    std::erase_if(all, [](request_row const& r) { return r.fate != request_fate::left_to_holder; });
    return all;
}

template <class Range>
std::string list_of(Range const& items)
{
    std::vector<std::string> all;
    for (auto const& item : items) all.push_back(json_of(item));
    return json_list(all);
}

void print_document(session const& s, run_view const& v)
{
    auto const limit = s.asked.limit.value_or(std::max(v.steps.size(), v.happened.size()));
    json_object o;
    o.raw("run", json_of(v.row)).text("doing", v.doing).text("unblocked_by", as_typed_here(s, v.unblocked_by));
    auto const holder = holder_of(s, v.row);
    if (holder) {
        json_object h;
        h.number("owner", static_cast<std::int64_t>(holder->id)).text("name", holder->name).number("pid", holder->pid);
        o.raw("engine", h.yes_no("alive", holder->alive).str());
    } else {
        o.raw("engine", "null");
    }
    o.raw("open", list_of(v.open)).raw("requests", list_of(untaken(s, v.row.id)));
    o.raw("steps", list_of(newest(v.steps, limit))).number("steps_total", static_cast<std::int64_t>(v.steps.size()));
    o.raw("happened", list_of(newest(v.happened, limit)))
        .number("happened_total", static_cast<std::int64_t>(v.happened.size()));
    std::vector<std::string> children;
    for (auto const& c : s.on.children(v.row.id, {}, s.asked.limit.value_or(1000))) {
        json_object child;
        child.text("id", to_string(c.run.id)).text("workflow", c.run.workflow).text("status", to_string(c.run.status.run));
        children.push_back(child.text("on_close", to_string(c.on_close)).str());
    }
    o.raw("children", json_list(children));
    o.number("entries", v.entries).number("segment", v.segment).number("recoveries", v.recoveries).raw("resume", json_of(v.resume));
    o.raw("result", v.result && !v.result_in_blob ? json_payload(v.result_encoding, *v.result) : "null");
    o.yes_no("result_in_blob", v.result_in_blob).raw("failure", v.failure ? json_of(*v.failure) : "null");
    std::vector<std::string> unfinished;
    for (auto const& item : v.unfinished) unfinished.push_back(json_text(item));
    s.print_json(o.raw("unfinished", json_list(unfinished)).str());
}

class screen {
public:
    screen(session const& s, run_view const& v)
        : s_(s), io_(s.io), out_(s.io.out), v_(v), limit_(s.asked.limit.value_or(lines_of_a_list))
    {
    }

    void print()
    {
        head();
        now();
        requests();
        open();
        events();
        end();
        steps();
        children();
        happened();
    }

private:
    void line(std::string_view label, std::string const& text)
    {
        constexpr std::size_t labels = 14;
        auto const padding = std::string(labels - std::min(labels - 2, columns(label)), ' ');
        out_ << io_.paint(style::dim, label) << padding << text << '\n';
    }
    void heading(std::string const& text) { out_ << '\n' << io_.paint(style::strong, text) << '\n'; }
    /// "Steps (the newest 15 of 300)"
    void heading(std::string what, std::size_t shown_here, std::size_t all)
    {
        if (shown_here < all) what += " (the newest " + std::to_string(shown_here) + " of " + std::to_string(all) + ")";
        heading(what);
    }
    std::string ago(time_point t) const { return time_text(t) + " UTC (" + length_text(s_.now() - t) + " ago)"; }

    void head()
    {
        auto const& row = v_.row;
        auto const status = to_string(row.status.run);
        out_ << "run " << io_.paint(style::strong, to_string(row.id)) << "  " << shown(row.workflow, 300) << " version "
             << row.version << "  " << io_.paint(style_of(row.status.run), status);
        if (!row.terminal_reason.empty() && row.terminal_reason != status)
            out_ << " (" << shown(row.terminal_reason, 100) << ")";
        out_ << '\n';
        if (!row.key.empty()) line("key", shown(row.key, 300));
        if (!row.tenant.empty()) line("tenant", shown(row.tenant, 300));
        if (!row.tags.empty()) line("tags", shown(row.tags, 300));
        auto const by = v_.happened.empty() ? std::string() : v_.happened.front().by;
        if (row.parent) line("parent", to_string(*row.parent));
        line("started", ago(row.created_at) + (by.empty() ? "" : " by " + shown(by, 100)));
    }
    void now()
    {
        auto const& row = v_.row;
        line("now", shown(v_.doing));
        line("since", ago(row.changed_at));
        if (v_.waits_for.until != never) line("until", time_text(v_.waits_for.until) + " UTC");
        patience();
        if (row.status.run == run_status::queued) line("in line", queue_text());
        if (!v_.unblocked_by.empty()) line("unblocked by", shown(as_typed_here(s_, v_.unblocked_by)));
        if (auto const holder = holder_of(s_, row))
            line("engine",
                 shown(holder_text(*holder), 300) + (holder->alive ? "" : ": has ended, the next engine takes the run over"));
    }
    /// How long it may wait, and who is asked when it takes longer.
    void patience()
    {
        auto const& w = v_.waits_for;
        if (w.policy != 0) line("wait policy", "version " + std::to_string(w.policy) + (w.resumable ? "" : ", resumable = false: it ends with its engine"));
        if (w.sla_at != never) line("look by", time_text(w.sla_at) + " UTC" + lateness(w.sla_at, w.type));
        for (auto const& e : w.escalations) {
            std::string who;
            for (auto const& name : e.to) who += (who.empty() ? "" : ", ") + name;
            if (!e.channel.empty()) who += (who.empty() ? "on " : " on ") + e.channel;
            line(e.at <= s_.now() ? "escalated" : "escalates", time_text(e.at) + " UTC to " + shown(who, 1000));
        }
    }
    std::string lateness(time_point sla, wait_reason::kind type) const
    {
        if (sla >= s_.now()) return {};
        return ", late by " + length_text(s_.now() - sla) + ": for " + std::string(detail::name_of(detail::words_of(type).late));
    }
    /// Of the same workflow: those that are taken before it. A long queue is not counted to its end.
    std::string queue_text() const
    {
        constexpr std::size_t most = 10'000;
        run_filter which;
        which.status = run_status::queued;
        which.workflow = v_.row.workflow;
        which.limit = most;
        auto const all = s_.on.runs(which);
        auto const before = [&](run_row const& r) {
            return r.priority != v_.row.priority ? r.priority > v_.row.priority : r.created_at < v_.row.created_at;
        };
        auto const ahead = static_cast<std::size_t>(std::count_if(all.begin(), all.end(), before));
        return counted(ahead, "run") + (all.size() < most ? " ahead" : " or more ahead");
    }
    void open()
    {
        bool first = true;
        for (auto const& o : v_.open) {
            bool const event = o.row.purpose == waitpoint_purpose::event, token = o.row.purpose == waitpoint_purpose::token || event;
            if (std::exchange(first, false)) heading("Open");
            if (o.asks) {
                question(o);
                continue;
            }
            out_ << "  " << (event ? "wait for an event at " : token ? "token " : "decision on ") << shown(o.row.place, 300) << ", open for "
                 << length_text(s_.now() - o.row.created_at);
            if (o.row.due_at != never) out_ << ", until " << time_text(o.row.due_at) << " UTC";
            out_ << '\n';
            if (!o.question.empty()) out_ << "    " << shown(o.question) << '\n';
            out_ << "    " << io_.paint(style::strong, shown(answer_command(s_, o))) << '\n';
            if (token) out_ << "    JSON: " << shown(o.row.shape, 1000) << '\n';
            else out_ << "    CHOICE: " << choices(o) << '\n';
        }
    }
    void question(open_wait const& o)
    {
        auto const& asks = *o.asks;
        out_ << "  question of " << shown(o.row.place, 300) << ", open for " << length_text(s_.now() - o.row.created_at);
        if (o.row.due_at != never) out_ << ", until " << time_text(o.row.due_at) << " UTC";
        if (asks.sla_at) out_ << ", to be looked at by " << time_text(*asks.sla_at) << " UTC" << lateness(*asks.sla_at, wait_reason::kind::approval);
        out_ << "\n    " << shown(asks.text) << '\n';
        if (!asks.about.empty()) out_ << "    about " << shown(asks.about, 1000) << "\n    --about " << asks.about_hash << '\n';
        out_ << "    decided by " << shown(detail::who_decides(asks), 1000) << '\n';
        if (auto const all = detail::asked_at(asks, s_.now()); all.size() > asks.assignees.size())
            for (auto const& name : std::span(all).subspan(asks.assignees.size())) out_ << "    asked as well: " << shown(name, 100) << '\n';
        for (auto const& r : s_.on.responses(o.row.id))
            out_ << "    " << shown(r.by, 100) << (r.approves ? " approved " : " rejected ") << length_text(s_.now() - r.at) << " ago"
                 << (r.why.empty() ? "" : ": " + shown(r.why, 1000)) << '\n';
        out_ << "    " << io_.paint(style::strong, shown(answer_command(s_, o))) << '\n';
        if (o.row.shape != "void") out_ << "    JSON: " << (o.choices.empty() ? shown(o.row.shape, 1000) : "one of " + choices(o)) << '\n';
    }
    /// What was told to this run, and about what it waits for, that nothing of it has taken: a misspelt topic, a value of another shape (OB-04).
    void events()
    {
        event_filter kept;
        kept.run = v_.row.id;
        kept.fate = event_fate::kept;
        kept.limit = limit_ + 1;
        auto all = s_.on.events(kept);
        for (auto const& o : v_.open) {
            if (o.row.purpose != waitpoint_purpose::event || o.row.correlation == to_string(v_.row.id)) continue;
            kept.run.reset();
            kept.topic = o.row.name;
            kept.correlation = o.row.correlation;
            for (auto& e : s_.on.events(kept)) all.push_back(std::move(e));
        }
        if (all.empty()) return;
        heading("Events that it has not taken", std::min(all.size(), limit_), all.size());
        for (auto const& e : std::span(all).first(std::min(all.size(), limit_)))
            out_ << "  " << shown(e.what.topic, 300) << " from " << shown(e.what.by, 100) << ' ' << length_text(s_.now() - e.what.at) << " ago: "
                 << shown(e.what.payload, 300) << '\n';
    }
    static std::string choices(open_wait const& o)
    {
        std::string all;
        for (auto const& c : o.choices) {
            all += (all.empty() ? "" : ", ") + shown(c, 100);
            if (c == "complete" && o.output_shape != "void") all += " --output JSON (" + shown(o.output_shape, 1000) + ")";
        }
        return all;
    }
    void requests()
    {
        for (auto const& r : untaken(s_, v_.row.id))
            line("asked", std::string(to_string(r.what.kind)) + " by " + shown(r.what.by, 100) + ' ' +
                              length_text(s_.now() - r.what.at) + " ago" +
                              (r.what.why.empty() ? "" : ": " + shown(r.what.why, 1000)) + "; left to the holder");
    }
    void end()
    {
        if (v_.result) {
            heading("Result");
            out_ << "  " << value(v_.result_encoding, *v_.result, v_.result_in_blob, longest_value) << '\n';
        }
        if (v_.failure) {
            heading("Failure");
            auto const& f = *v_.failure;
            out_ << "  " << row_of(f.code).name << (f.place.empty() ? "" : " at " + shown(f.place, 300)) << ": "
                 << shown(f.message.empty() ? row_of(f.code).meaning : std::string_view(f.message)) << '\n';
        }
        if (v_.unfinished.empty()) return;
        auto const items = newest(v_.unfinished, limit_);
        heading("Unfinished", items.size(), v_.unfinished.size());
        for (auto const& item : items) out_ << "  " << shown(item, longest_value) << '\n';
    }
    void steps()
    {
        if (v_.steps.empty()) return;
        auto const all = newest(v_.steps, limit_);
        heading("Steps", all.size(), v_.steps.size());
        table t({{""}, {"", true}, {""}, {""}, {""}, {"", true}});
        for (auto const& step : all) {
            bool const runs = step.status == step_status::running;
            auto const until = runs ? s_.now() : step.ended_at;
            bool const timed = until > step.begun_at;  // a quick step has one entry only
            cell const end = step.error.empty() ? cell{value(step.output_encoding, step.output, step.output_in_blob, 300)}
                                                : cell{step.error, style::bad};
            t.add({{std::string(mark_of(step.status)), style_of(step.status)},
                   {step.place},
                   {std::string(to_string(step.cls)), style::dim},
                   {step.attempts > 0 ? counted(static_cast<std::size_t>(step.attempts), "attempt") : ""},
                   {timed ? length_text(until - step.begun_at) : ""},
                   end});
        }
        t.print(io_, false, 2);
    }
    void children()
    {
        auto const all = s_.on.children(v_.row.id, {}, limit_ + 1);
        if (all.empty()) return;
        bool const more = all.size() > limit_;
        heading(more ? "Children (the first " + std::to_string(limit_) + ")" : "Children");
        table t({{""}, {"", true}, {""}, {""}});
        for (auto const& c : std::span(all).first(std::min(all.size(), limit_)))
            t.add({{to_string(c.run.id)},
                   {c.run.workflow},
                   {std::string(to_string(c.run.status.run)), style_of(c.run.status.run)},
                   {std::string(to_string(c.on_close)), style::dim}});
        t.print(io_, false, 2);
    }
    void happened()
    {
        if (v_.happened.empty()) return;
        auto const all = newest(v_.happened, limit_);
        heading("What happened (UTC)", all.size(), v_.happened.size());
        table t({{""}, {"", true}});
        for (auto const& h : all) {
            auto text = h.text;
            if (!h.by.empty()) text += "  by " + h.by;
            if (!h.why.empty()) text += ": " + h.why;
            t.add({{time_text(h.at), style::dim}, {std::move(text)}});
        }
        t.print(io_, false, 2);
    }
    std::string value(encoding how, std::string const& text, bool in_blob, std::size_t max) const
    {
        if (in_blob) return "(stored apart, " + s_.asked.typed + " journal names it)";
        if (how == encoding::binary) return "(binary, " + counted(text.size(), "byte") + ")";
        return shown(text, max);
    }

    session const& s_;
    console const& io_;
    std::ostream& out_;
    run_view const& v_;
    std::size_t limit_;
};

}  // namespace

void show_run(session const& s)
{
    auto const v = s.on.inspect(find_run(s, s.asked.which));
    if (s.asked.json) print_document(s, v);
    else screen(s, v).print();
}

}  // namespace flow::cli
