// What each verb does. All throw flow::error or misuse.
#pragma once

#include <string>
#include <string_view>

#include "flow/client.hpp"
#include "runtime/cli/arguments.hpp"
#include "runtime/cli/console.hpp"

namespace flow::cli {

/// One call: on what, asked how, shown where.
struct session {
    client& on;
    arguments const& asked;
    console const& io;

    time_point now() const { return io.clock->now(); }
    void print_json(std::string_view document) const;
};

void list_runs(session const& s);
void show_run(session const& s);
void list_journal(session const& s);
void list_published(session const& s);
void show_graph(session const& s);
void list_tokens(session const& s);
void complete_token(session const& s);
void fail_token(session const& s);
void approve_question(session const& s);
void reject_question(session const& s);
void print_secret(session const& s);
void decide_intervention(session const& s);
void send_event(session const& s);
void list_events(session const& s);
void list_schedules(session const& s);
void make_schedule(session const& s);
void fill_back(session const& s);
void manage_policies(session const& s);
void cancel_run(session const& s);
void pause_run(session const& s);
void resume_run(session const& s);
void back_up(session const& s);

}  // namespace flow::cli
