#include "runtime/cli/command.hpp"

#include <exception>
#include <filesystem>
#include <optional>
#include <ostream>
#include <utility>

#include "flow/open_store.hpp"
#include "runtime/cli/json.hpp"
#include "runtime/cli/text.hpp"
#include "runtime/cli/verbs.hpp"
#include "runtime/store/store_text.hpp"

namespace flow::cli {

void session::print_json(std::string_view document) const { io.out << without_terminal_codes(document) << '\n'; }

namespace {

std::string_view name_of(remedy r)
{
    switch (r) {
    case remedy::retry: return "retry";
    case remedy::look_first: return "look_first";
    case remedy::give_up: return "give_up";
    case remedy::correct: return "correct";
    case remedy::ask_a_person: break;
    }
    return "ask_a_person";
}

exit_code exit_of(errc code)
{
    using enum errc;
    switch (code) {
    case unknown_run:
    case unknown_token:
    case unknown_request:
    case unknown_intervention: return exit_code::no;
    case bad_payload:  // what was typed is no JSON
    case bad_argument:
    case bad_name: return exit_code::usage;
    case usage:  // the run is in no state for this
    case token_conflict:
    case event_conflict:
    case not_asked:
    case event_not_awaited:
    case inbox_full:
    case token_ended:
    case wrong_shape:
    case run_ended:
    case bad_choice:
    case payload_too_large:
    case start_conflict: return exit_code::refused;
    case store_busy:
    case commit_unknown:
    case store_full:
    case store_read_only:
    case store_corrupt:
    case store_foreign:
    case store_newer:
    case store_unavailable:
    case store_key: return exit_code::store;
    default: return exit_code::internal;
    }
}

/// Says what went wrong, on the console as it was asked for.
class complaint {
public:
    complaint(console const& io, bool json) : io_(io), json_(json) {}

    exit_code operator()(exit_code result, int code, std::string_view name, std::string_view message, std::string_view hint,
                         remedy next) const
    {
        if (json_) {
            json_object inner, o;
            inner.number("code", code).text("name", name).text("message", message).text("next", name_of(next));
            io_.out << without_terminal_codes(o.raw("error", inner.str()).str()) << '\n';
        } else {
            io_.err << "flow: " << name << ": " << shown(message) << '\n';
            if (!hint.empty() && hint != message) io_.err << "      " << hint << '\n';
        }
        return result;
    }
    exit_code operator()(exit_code result, error const& e) const
    {
        auto const& row = row_of(e.code());
        // Of the store's errors the table says what to do; the others' messages say it all.
        bool const tells_what_to_do = result == exit_code::store && e.code() != errc::store_unavailable;
        return (*this)(result, static_cast<int>(e.code()), row.name, e.message().empty() ? row.meaning : e.message(),
                       tells_what_to_do ? row.meaning : std::string_view{}, row.next);
    }

private:
    console const& io_;
    bool json_;
};

void carry_out(session const& s)
{
    switch (s.asked.what) {
    case verb::runs: return list_runs(s);
    case verb::show: return show_run(s);
    case verb::journal: return list_journal(s);
    case verb::published: return list_published(s);
    case verb::graph: return show_graph(s);
    case verb::tokens: return list_tokens(s);
    case verb::complete: return complete_token(s);
    case verb::fail: return fail_token(s);
    case verb::approve: return approve_question(s);
    case verb::reject: return reject_question(s);
    case verb::secret: return print_secret(s);
    case verb::decide: return decide_intervention(s);
    case verb::send: return send_event(s);
    case verb::events: return list_events(s);
    case verb::schedules: return list_schedules(s);
    case verb::schedule: return make_schedule(s);
    case verb::backfill: return fill_back(s);
    case verb::policies: return manage_policies(s);
    case verb::cancel: return cancel_run(s);
    case verb::pause: return pause_run(s);
    case verb::resume: return resume_run(s);
    case verb::backup: return back_up(s);
    }
}

/// Of a file that cannot be a database: a sentence, where SQLite would only say that it cannot be opened. Empty: it may be one.
std::string why_no_database(std::string const& store)
{
    auto const [kind, file] = store_detail::read_store_text(store);
    if (kind != "sqlite") return {};
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) return "there is no file " + file;
    if (std::filesystem::is_directory(file, ignored)) return file + " is a folder, not a database file";
    if (!std::filesystem::is_regular_file(file, ignored)) return file + " is no file";
    return std::filesystem::file_size(file, ignored) == 0 ? file + " is empty" : std::string{};
}

exit_code run_or_throw(arguments const& asked, client* on, console const& io, complaint const& complain)
{
    std::optional<client> opened;
    if (on == nullptr) {
        try {
            if (auto const why = why_no_database(asked.store); !why.empty())
                return complain(exit_code::store, static_cast<int>(errc::store_unavailable), row_of(errc::store_unavailable).name, why,
                                "name the database by --db FILE or FLOW_DB, or start the program that makes it first", remedy::correct);
            on = &opened.emplace(open_store(asked.store, {.must_exist = true}));
        } catch (error const& e) {
            return complain(e.code() == errc::bad_argument ? exit_code::usage : exit_code::store, e);
        }
    }
    carry_out({*on, asked, io});
    return exit_code::done;
}

}  // namespace

exit_code run_command(int argc, char const* const* argv, client* on, console const& io)
{
    complaint const complain(io, wants_json(argc, argv));
    auto result = exit_code::internal;
    try {
        auto const read = read_arguments(argc, argv, on == nullptr);
        if (auto const* asked = std::get_if<arguments>(&read)) {
            result = run_or_throw(*asked, on, io, complain);
        } else {
            auto const& h = std::get<help>(read);
            (h.asked_for ? io.out : io.err) << h.text;
            result = h.asked_for ? exit_code::done : exit_code::usage;
        }
    } catch (misuse const& e) {
        result = complain(exit_code::usage, static_cast<int>(errc::usage), row_of(errc::usage).name, e.what(),
                          "--help shows what may be typed", remedy::correct);
    } catch (error const& e) {
        result = complain(exit_of(e.code()), e);
    } catch (std::exception const& e) {
        result = complain(exit_code::internal, 0, "internal", e.what(), {}, remedy::give_up);
    }
    if (!io.out.flush())
        return complain(exit_code::internal, 0, "internal", "standard output could not be written", {}, remedy::give_up);
    return result;
}

}  // namespace flow::cli

namespace flow {

int command_line(int argc, char const* const* argv, client& on)
{
    return static_cast<int>(cli::run_command(argc, argv, &on, cli::standard_console()));
}

int command_line(int argc, char const* const* argv)
{
    return static_cast<int>(cli::run_command(argc, argv, nullptr, cli::standard_console()));
}

}  // namespace flow
