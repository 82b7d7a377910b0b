#include "src/asking.hpp"

#include <algorithm>

#include "flow/ask.hpp"
#include "flow/codec.hpp"
#include "src/flat_object.hpp"
#include "src/question_secrets.hpp"

namespace flow::detail {

std::string write_terms(question_terms const& t)
{
    std::string text;
    encode(encoding::json, t, text);
    return text;
}

std::optional<question_terms> read_terms(std::string_view options)
{
    question_terms t;
    if (!decode(encoding::json, options, t)) return std::nullopt;
    return t;
}

namespace {

bool is_same(response const& a, response const& b) { return a.approves == b.approves && a.value == b.value; }

std::string answer_text(bool approved, std::string_view value, std::string_view votes, bool by_default)
{
    return flat_object()
        .raw("approved", approved ? "true" : "false")
        .raw("value", value.empty() ? "null" : value)
        .raw("votes", votes)
        .raw("by_default", by_default ? "true" : "false")
        .str();
}

std::string votes_text(std::span<response const> before, response const& last)
{
    std::vector<vote> votes;
    for (auto const& r : before) votes.push_back({r.by, r.approves, r.why, r.at});
    votes.push_back({last.by, last.approves, last.why, last.at});
    std::string text;
    encode(encoding::json, votes, text);
    return text;
}

/// What the question wants of one who approves.
bool is_choice(waitpoint_row const& w, question_terms const& t, response const& r)
{
    if (!r.approves) return r.value.empty();
    if (w.shape == shape_of<unit>()) return r.value.empty();
    if (r.value.empty() || !check_shape(r.value, w.shape, false)) return false;
    return t.choices.empty() || std::any_of(t.choices.begin(), t.choices.end(), [&](auto const& c) { return quoted(c) == r.value; });
}

}  // namespace

judged_response judge(waitpoint_row const& w, std::span<response const> before, response const& r)
{
    auto const only = [](response_answer a) { return judged_response{{a, false, 0}, {}}; };
    auto const terms = w.purpose == waitpoint_purpose::approval ? read_terms(w.options) : std::nullopt;
    // First of all, so that without the secret nothing is learnt.
    if (r.secret_hash && (!terms || shown_by(w, *terms, *r.secret_hash, r.by) != r.by)) return only(response_answer::wrong_secret);
    if (!terms) return only(response_answer::unknown);
    if (r.about && to_string(*r.about) != terms->about_hash) return only(response_answer::other_arguments);
    auto const asked = asked_at(*terms, r.at);
    if (r.by.empty() || (!asked.empty() && std::find(asked.begin(), asked.end(), r.by) == asked.end())) return only(response_answer::not_asked);
    if (auto const mine = std::find_if(before.begin(), before.end(), [&](auto const& b) { return b.by == r.by; }); mine != before.end())
        return only(is_same(*mine, r) ? response_answer::already_same : response_answer::already_other);
    switch (w.status) {
    case waitpoint_status::pending: break;
    case waitpoint_status::completed: return only(response_answer::decided_before);
    case waitpoint_status::timed_out: return only(response_answer::timed_out);
    case waitpoint_status::withdrawn: return only(response_answer::withdrawn);
    }
    if (r.at >= w.due_at) return only(response_answer::timed_out);  // nobody has looked yet
    if (!is_choice(w, *terms, r)) return only(response_answer::not_a_choice);

    auto const approvals = 1 + static_cast<std::size_t>(std::count_if(before.begin(), before.end(), [](auto const& b) { return b.approves; }));
    if (r.approves && approvals < terms->needed) return {{response_answer::counted, false, terms->needed - approvals}, {}};
    return {{response_answer::decided, r.approves, 0}, answer_text(r.approves, r.value, votes_text(before, r), false)};
}

waitpoint_row decided_by(waitpoint_row w, response const& r, std::string output)
{
    w.status = waitpoint_status::completed;
    w.completed_at = r.at;
    w.output = std::move(output);
    w.output_encoding = encoding::json;
    w.by = r.by;
    w.why = r.why;
    return w;
}

std::optional<std::string> default_answer(question_terms const& t)
{
    if (t.at_deadline != on_deadline::default_answer || !t.default_approves) return std::nullopt;
    return answer_text(*t.default_approves, t.default_value, "[]", true);
}

std::vector<std::string> asked_at(question_terms const& t, time_point now)
{
    auto all = t.assignees;
    if (all.empty() || !t.escalations) return all;
    for (auto const& e : *t.escalations)
        for (auto const& name : e.to)
            if (e.at <= now && std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
    return all;
}

std::string_view channel_at(question_terms const& t, time_point now)
{
    std::string_view channel = t.channel;
    if (t.escalations)
        for (auto const& e : *t.escalations)
            if (e.at <= now && !e.channel.empty()) channel = e.channel;
    return channel;
}

std::string who_decides(question_terms const& t)
{
    std::string all;
    for (auto const& a : t.assignees) all += (all.empty() ? "" : ", ") + a;
    if (t.needed == 1 && t.assignees.size() <= 1) return all.empty() ? "somebody" : all;
    return std::to_string(t.needed) + (all.empty() ? " people" : " of " + all);
}

}  // namespace flow::detail
