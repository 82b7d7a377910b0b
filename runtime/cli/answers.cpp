// flow complete, flow fail, flow approve, flow reject, flow secret, flow decide
#include <ostream>

#include "runtime/cli/find.hpp"
#include "runtime/cli/json.hpp"
#include "runtime/cli/text.hpp"

namespace flow::cli {

namespace {

void say_of_token(session const& s, waitpoint_row const& w, bool counted, std::string_view done, std::string_view done_before)
{
    if (s.asked.json) {
        json_object o;
        return s.print_json(o.text("token", to_string(w.id)).text("run", to_string(w.run)).yes_no("counted", counted).str());
    }
    s.io.out << shown(w.place, 300) << " of run " << to_string(w.run) << (counted ? done : done_before) << '\n';
}

}  // namespace

void complete_token(session const& s)
{
    auto const& asked = s.asked;
    auto const w = find_waitpoint(s, asked.which, waitpoint_purpose::token);
    bool const counted = s.on.complete_json(w.id, asked.value, std::nullopt, asked.why, asked.by);
    say_of_token(s, w, counted, " is completed.", " was completed before with the same value: nothing was changed.");
}

void fail_token(session const& s)
{
    auto const& asked = s.asked;
    auto const w = find_waitpoint(s, asked.which, waitpoint_purpose::token);
    bool const counted = s.on.fail_token(w.id, asked.why, std::nullopt, asked.by);
    say_of_token(s, w, counted, " has failed.", " had failed before for the same reason: nothing was changed.");
}

namespace {

/// Who shows a secret is not told by a search what there is (P61).
waitpoint_id question_to_answer(session const& s)
{
    if (!s.asked.secret) return find_waitpoint(s, s.asked.which, waitpoint_purpose::approval).id;
    auto const whole = parse_uuid(s.asked.which);
    if (!whole) throw misuse("--secret goes with the whole id of a question");
    return waitpoint_id{*whole};
}

void respond(session const& s, bool approves)
{
    auto const& asked = s.asked;
    auto const id = question_to_answer(s);
    respond_options options;
    options.value = asked.value;
    options.why = asked.why;
    options.by = asked.by;
    options.about = asked.about;
    if (asked.secret) options.secret = *asked.secret;
    auto const told = s.on.respond(id, approves, options);
    auto const w = s.on.waitpoint(id);
    if (asked.json) {
        json_object o;
        o.text("question", to_string(w.id)).text("run", to_string(w.run)).yes_no("counted", told.answer != response_answer::already_same);
        return s.print_json(o.yes_no("decided", told.answer == response_answer::decided).number("needed", static_cast<std::int64_t>(told.needed)).str());
    }
    s.io.out << shown(w.place, 300) << " of run " << to_string(w.run);
    if (told.answer == response_answer::decided) s.io.out << (told.approved ? " is approved.\n" : " is rejected.\n");
    else if (told.answer == response_answer::counted) s.io.out << ": your approval counts; " << told.needed << " more are needed.\n";
    else s.io.out << " was answered so by you before: nothing was changed.\n";
}

}  // namespace

void approve_question(session const& s) { respond(s, true); }
void reject_question(session const& s) { respond(s, false); }

void print_secret(session const& s)
{
    auto const& asked = s.asked;
    auto const w = find_waitpoint(s, asked.which, waitpoint_purpose::approval);
    auto const secret = s.on.secret_for(w.id, asked.person);
    if (asked.json) {
        json_object o;
        o.text("question", to_string(w.id)).text("run", to_string(w.run));
        return s.print_json(o.text("for", asked.person).text("secret", secret.text()).str());
    }
    s.io.out << secret.text() << '\n';
}

void decide_intervention(session const& s)
{
    auto const& asked = s.asked;
    auto const w = find_waitpoint(s, asked.which, waitpoint_purpose::intervention);
    s.on.decide(w.id, asked.value, asked.output, asked.why, asked.by);
    if (asked.json) {
        json_object o;
        o.text("intervention", to_string(w.id)).text("run", to_string(w.run));
        return s.print_json(o.text("choice", asked.value).str());
    }
    s.io.out << shown(w.place, 300) << " of run " << to_string(w.run) << " is decided: " << shown(asked.value, 100) << ".\n";
}

}  // namespace flow::cli
