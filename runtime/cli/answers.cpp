// flow complete, flow decide
#include <ostream>

#include "runtime/cli/find.hpp"
#include "runtime/cli/json.hpp"
#include "runtime/cli/text.hpp"

namespace flow::cli {

void complete_token(session const& s)
{
    auto const& asked = s.asked;
    auto const w = find_waitpoint(s, asked.which, waitpoint_purpose::token);
    bool const counted = s.on.complete_json(w.id, asked.value, std::nullopt, asked.why, asked.by);
    if (asked.json) {
        json_object o;
        return s.print_json(o.text("token", to_string(w.id)).text("run", to_string(w.run)).yes_no("counted", counted).str());
    }
    s.io.out << shown(w.place, 300) << " of run " << to_string(w.run)
             << (counted ? " is completed.\n" : " was completed before with the same value: nothing was changed.\n");
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
