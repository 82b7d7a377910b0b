// flow cancel, flow pause, flow resume
#include <ostream>

#include "runtime/cli/find.hpp"
#include "runtime/cli/holder.hpp"
#include "runtime/cli/json.hpp"
#include "runtime/cli/text.hpp"

namespace flow::cli {

namespace {

std::string taken_text(request_kind kind, run_row const& row)
{
    if (kind == request_kind::pause) return "taken: it stands still until it is resumed";
    if (kind == request_kind::resume) return "taken: the next engine that has registered its workflow goes on with it";
    // Never claimed: there was nothing to clean up.
    if (row.epoch == epoch_no{}) return "taken: it had not begun and is cancelled";
    return "taken: it is being cancelled, an engine runs its clean-up";
}

std::string left_text(session const& s, run_row const& row)
{
    auto const who = holder_of(s, row);
    if (!who || who->alive)
        return "left to the holder: " + (who ? "the engine " + holder_text(*who) : std::string("the engine")) +
               " will act on it";
    return "left to the holder: its engine has ended, the one that takes the run over will act on it";
}

void ask(session const& s, request_kind kind)
{
    auto const& asked = s.asked;
    auto const run = find_run(s, asked.which);
    auto const fate = kind == request_kind::cancel  ? s.on.cancel(run, asked.why, asked.by)
                      : kind == request_kind::pause ? s.on.pause(run, asked.why, asked.by)
                                                    : s.on.resume(run, asked.why, asked.by);
    auto const row = s.on.data().run(run).value().value();
    auto const status = std::string(to_string(row.status.run));
    if (fate == request_fate::ended_before)
        throw error(errc::run_ended, "run " + to_string(run) + " has ended before: " + status);
    if (fate == request_fate::refused)
        throw error(errc::usage, "run " + to_string(run) + " is " + status + ": it takes no " + std::string(to_string(kind)));
    auto const text = fate == request_fate::taken ? taken_text(kind, row) : left_text(s, row);
    if (asked.json) {
        json_object o;
        o.text("run", to_string(run)).text("request", to_string(kind)).text("fate", to_string(fate));
        return s.print_json(o.text("status", status).text("text", text).str());
    }
    auto const what = kind == request_kind::cancel ? "Cancel" : kind == request_kind::pause ? "Pause" : "Resume";
    s.io.out << what << " of run " << to_string(run) << ": " << shown(text)
             << ".\n";
}

}  // namespace

void cancel_run(session const& s) { ask(s, request_kind::cancel); }
void pause_run(session const& s) { ask(s, request_kind::pause); }
void resume_run(session const& s) { ask(s, request_kind::resume); }

}  // namespace flow::cli
