#include "flow/ask.hpp"

#include <algorithm>
#include <set>

#include "src/flat_object.hpp"

namespace flow {

question::question(std::string text) { draft_.terms.text = std::move(text); }

question&& question::subject(ask_subject s) &&
{
    draft_.terms.subject = s;
    return std::move(*this);
}
question&& question::to(std::vector<std::string> const& assignees) &&
{
    draft_.terms.assignees = assignees;
    return std::move(*this);
}
question&& question::any() &&
{
    draft_.wants_all = false;
    draft_.terms.needed = 1;
    return std::move(*this);
}
question&& question::all() &&
{
    draft_.wants_all = true;
    return std::move(*this);
}
question&& question::quorum(std::uint32_t needed) &&
{
    draft_.wants_all = false;
    draft_.terms.needed = needed;
    return std::move(*this);
}
question&& question::choices(std::vector<std::string> const& of) &&
{
    draft_.terms.subject = ask_subject::arbitration;
    draft_.terms.choices = of;
    return std::move(*this);
}
question&& question::deadline(wait_limit d) &&
{
    draft_.deadline = d;
    return std::move(*this);
}
question&& question::sla(wait_limit d) &&
{
    draft_.sla = d;
    return std::move(*this);
}
question&& question::expires() &&
{
    draft_.terms.at_deadline = on_deadline::expire;
    return std::move(*this);
}
question&& question::otherwise(bool approves) && { return std::move(*this).otherwise_json(approves, {}); }
question&& question::channel(std::string name) &&
{
    draft_.terms.channel = std::move(name);
    return std::move(*this);
}
question&& question::secrets() &&
{
    draft_.secrets = true;
    return std::move(*this);
}
question&& question::about_json(std::string text) &&
{
    draft_.terms.about_hash = to_string(sha256(text));
    draft_.terms.about = std::move(text);
    return std::move(*this);
}
question&& question::otherwise_json(bool approves, std::string value) &&
{
    draft_.terms.at_deadline = on_deadline::default_answer;
    draft_.terms.default_approves = approves;
    draft_.terms.default_value = std::move(value);
    return std::move(*this);
}

namespace detail {

std::shared_ptr<question_draft const> checked_question(question q, std::string_view wanted)
{
    bool const wants_value = wanted != no_value;
    auto d = std::make_shared<question_draft>(q.as_drafted());
    auto& t = d->terms;
    auto const refuse = [&](std::string const& why) { throw error(errc::bad_argument, "the question \"" + t.text.substr(0, 200) + "\" " + why); };
    if (t.text.empty()) throw error(errc::bad_argument, "a question has a text");
    std::set<std::string> const different(t.assignees.begin(), t.assignees.end());
    if (different.size() != t.assignees.size() || different.contains("")) refuse("names somebody twice, or by an empty name");
    if (d->wants_all && t.assignees.empty()) refuse("is for all of those who are asked: name them by to()");
    if (d->wants_all) t.needed = static_cast<std::uint32_t>(t.assignees.size());
    if (t.needed == 0) refuse("is decided by nobody: a quorum is 1 or more");
    if (!t.assignees.empty() && t.needed > t.assignees.size())
        refuse("needs " + std::to_string(t.needed) + " people and is asked of " + std::to_string(t.assignees.size()));
    if (t.default_approves) {
        bool const gives = !t.default_value.empty();
        if (wants_value && *t.default_approves && !gives) refuse("wants a value: give one to otherwise()");
        if (gives && (!wants_value || !*t.default_approves)) refuse("takes no such value as otherwise() gives");
        if (auto const fits = gives ? check_shape(t.default_value, wanted, false) : outcome<void>(); !fits)
            refuse("wants " + std::string(wanted) + ", and otherwise() gives " + t.default_value.substr(0, 200));
        bool const chosen = std::any_of(t.choices.begin(), t.choices.end(), [&](auto const& c) { return quoted(c) == t.default_value; });
        if (gives && !t.choices.empty() && !chosen) refuse("has other choices than otherwise() makes");
    }
    if (!t.choices.empty() && !wants_value) refuse("has choices: ask<std::string>");
    return d;
}

}  // namespace detail
}  // namespace flow
