// The only file that includes CLI11, which is slow to compile.
#include "runtime/cli/arguments.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "runtime/cli/text.hpp"
#include "runtime/store/store_text.hpp"

namespace flow::cli {

namespace {

constexpr char const* footer =
    "RUN is an id, an unambiguous beginning of one, key:KEY, or schedule:NAME. TOKEN, QUESTION and INTERVENTION likewise by id, or a RUN where only one "
    "is open.\n"
    "Exit: 0 done, 1 no such run, token or intervention, 2 wrong command line, 3 refused, 4 the store cannot be used, 5 other.";

// A lone negative number is JSON for `complete`, not an option; CLI11 takes it for one unless something stands before it.
std::string as_value(std::string_view word)
{
    bool const number = word.size() > 1 && word[0] == '-' && word[1] >= '0' && word[1] <= '9';
    return (number ? " " : "") + std::string(word);
}

class grammar {
public:
    grammar(arguments& into, bool opens_store) : a_(into)
    {
        app_.require_subcommand(1);
        app_.fallthrough();
        app_.footer(footer);
        app_.set_version_flag("--version", "flow " FLOW_VERSION);
        app_.add_flag("--json", a_.json, "One JSON document instead of text");
        if (opens_store) {
            auto* const db = app_.add_option("--db", db_, "The SQLite file (or FLOW_DB names it)")->type_name("FILE");
            app_.add_option("--store", a_.store, "Any store: sqlite:FILE, postgresql://... (or FLOW_STORE names it)")
                ->type_name("TEXT")
                ->excludes(db);
        }
        app_.add_option("--tenant", a_.tenant, "Whose runs: for runs, and for key:KEY")->type_name("TENANT");

        auto& runs = add(verb::runs, "runs", "List runs, newest first");
        runs.add_option("--status", a_.status, "Only those: running, waiting, held, failed ...")->type_name("S");
        runs.add_option("--workflow", a_.workflow, "Only those of this workflow")->type_name("NAME");
        runs.add_option("--since", a_.since, "Created since: 2h, 3d, 2026-11-30T09:10:34Z")->type_name("T");
        runs.add_option("--until", a_.until, "Created before: likewise")->type_name("T");
        runs.add_option("--tag", a_.tag, "Only those with this tag")->type_name("TAG");
        runs.add_option("--before", a_.before, "Go on behind this run: the next page")->type_name("RUN");
        runs.add_flag("--late", a_.late, "Only those that wait longer than they should, and whom it concerns");
        limit(runs, "At most so many (100)");

        auto& show = add(verb::show, "show", "What a run is doing, what it waits for, what happened");
        named(show, "RUN");
        limit(show, "At most so many steps and events, the newest (15)");

        auto& journal = add(verb::journal, "journal", "A run's journal, entry by entry");
        named(journal, "RUN");
        after(journal, "Go on behind this entry");
        limit(journal, "At most so many (100)");

        auto& published = add(verb::published, "published", "What a run has published: the newest value of each key");
        named(published, "RUN");
        published.add_flag("--history", a_.history, "All of it, in order, instead of the newest");
        after(published, "With --history: go on behind this entry");
        limit(published, "With --history: at most so many (100)");

        auto& graph = add(verb::graph, "graph", "How the graph of a run stands, node by node");
        named(graph, "RUN");
        auto* const dot = graph.add_flag("--dot", a_.dot, "Draw it for Graphviz");
        graph.add_flag("--mermaid", a_.mermaid, "Draw it as a Mermaid flowchart")->excludes(dot);

        auto& tokens = add(verb::tokens, "tokens", "List what somebody has to answer: open tokens and decisions, newest first");
        tokens.add_option("--run", a_.run, "Only those of this run")->type_name("RUN");
        limit(tokens, "At most so many (100)");

        auto& complete = add(verb::complete, "complete", "Complete a token");
        named(complete, "TOKEN");
        positional(complete, "JSON", a_.value, "The answer");
        changes(complete);

        auto& fail = add(verb::fail, "fail", "Say that what a token stands for has failed: the attempt of a split step, or the wait");
        named(fail, "TOKEN");
        positional(fail, "WHY", a_.why, "The error, as a sentence");
        fail.add_option("--by", a_.by, "Who does it (the user of the system)")->type_name("NAME");

        auto& approve = add(verb::approve, "approve", "Answer a question of a run: yes");
        named(approve, "QUESTION");
        approve.add_option("--value", a_.value, "The value, where it wants one")->type_name("JSON");
        about_what(approve);
        by_secret(approve);
        changes(approve);

        auto& reject = add(verb::reject, "reject", "Answer a question of a run: no");
        named(reject, "QUESTION");
        about_what(reject);
        by_secret(reject);
        changes(reject);

        auto& secret = add(verb::secret, "secret", "Print the secret by which one who is asked answers a question, to be sent to them");
        named(secret, "QUESTION");
        secret.add_option("--for", a_.person, "Whose; a question to everybody has one for all")->type_name("NAME");

        auto& decide = add(verb::decide, "decide", "Decide an intervention");
        named(decide, "INTERVENTION");
        positional(decide, "CHOICE", a_.value, "One of those that show lists");
        decide.add_option("--output", a_.output, "The step's output, for complete")->type_name("JSON");
        changes(decide);

        auto& send = add(verb::send, "send", "Tell of an event: to the run that waits for it, now or later");
        positional(send, "TOPIC", a_.topic, "What happened");
        positional(send, "JSON", a_.value, "Its value");
        auto* const about = send.add_option("--about", a_.about, "What it is about: the correlation that runs wait for")->type_name("TEXT");
        send.add_option("--run", a_.run, "For this run alone")->type_name("RUN")->excludes(about);
        send.add_option("--id", a_.id, "The sender's own name for it: sent again under it, it counts once")->type_name("ID");
        send.add_flag("--if-awaited", a_.if_awaited, "Refuse it where nobody waits for it now");
        send.add_option("--by", a_.by, "Who does it (the user of the system)")->type_name("NAME");

        auto& events = add(verb::events, "events", "List events, oldest first, and what became of them");
        events.add_option("--run", a_.run, "Only those for this run alone")->type_name("RUN");
        events.add_option("--topic", a_.topic, "Only those of this topic")->type_name("TOPIC");
        events.add_option("--about", a_.about, "Only those about this")->type_name("TEXT");
        events.add_flag("--kept", a_.kept, "Only those that nobody has got yet");
        after(events, "Go on behind this event");
        limit(events, "At most so many (100)");

        add(verb::schedules, "schedules", "List schedules: when each fires next, and what it has fired");

        auto& schedule = add(verb::schedule, "schedule", "Make a schedule, or change the one of this name");
        positional(schedule, "NAME", a_.which, "Its name");
        positional(schedule, "WORKFLOW", a_.workflow, "What it starts");
        schedule.add_option("JSON", a_.value, "The arguments, as a JSON array ([])")->type_name("");
        auto* const cron = schedule.add_option("--cron", a_.cron, "Five fields: minute hour day month weekday")->type_name("FIELDS");
        schedule.add_option("--zone", a_.zone, "With --cron: whose clock counts, as Europe/Berlin (UTC)")->type_name("ZONE")->needs(cron);
        schedule.add_option("--every", a_.every, "At whole multiples of this: 15min, 2h, 1d")->type_name("T")->excludes(cron);
        schedule.add_option("--overlap", a_.overlap, "While the last run goes on: skip, buffer_one or allow (skip)")->type_name("RULE");
        schedule.add_option("--catch-up", a_.catch_up, "Of what was missed, fire one, all or none (one)")->type_name("RULE");
        schedule.add_option("--firings", a_.firings, "So many in all, then it ends")->type_name("N");
        schedule.add_option("--until", a_.until, "None after this: 2026-11-30T09:10:34Z")->type_name("T");
        schedule.add_option("--by", a_.by, "Who does it (the user of the system)")->type_name("NAME");

        auto& backfill = add(verb::backfill, "backfill", "Fire what a schedule has left out between two instants");
        positional(backfill, "NAME", a_.which, "Which schedule");
        backfill.add_option("--since", a_.since, "From: 2h, 3d, 2026-11-30T09:10:34Z")->type_name("T")->required();
        backfill.add_option("--until", a_.until, "Up to: likewise (now)")->type_name("T");

        auto& policies = add(verb::policies, "policies", "The wait policies: what is in force, and what was; set them, or go back");
        auto* const set = policies.add_option("--set", a_.set, "From now on those of this JSON file")->type_name("FILE");
        policies.add_option("--roll-back", a_.roll_back, "From now on those of this version again")->type_name("VERSION")->check(CLI::PositiveNumber)->excludes(set);
        changes(policies);

        auto& cancel = add(verb::cancel, "cancel", "Ask a run to stop: its clean-up still runs");
        named(cancel, "RUN");
        changes(cancel);

        auto& pause = add(verb::pause, "pause", "Let a run stand still: what runs may return, nothing new begins");
        named(pause, "RUN");
        changes(pause);

        auto& resume = add(verb::resume, "resume", "Let a held or paused run go on");
        named(resume, "RUN");
        changes(resume);

        auto& backup = add(verb::backup, "backup", "Copy the SQLite file and its key, while others use it");
        positional(backup, "TARGET", a_.which, "The copy's name, which must not be there");
    }

    CLI::App& app() { return app_; }
    std::string const& db() const { return db_; }

private:
    CLI::App& add(verb what, char const* name, char const* text)
    {
        auto* sub = app_.add_subcommand(name, text);
        sub->callback([this, what] { a_.what = what; });
        return *sub;
    }
    void positional(CLI::App& sub, char const* name, std::string& into, char const* text)
    {
        sub.add_option(name, into, text)->type_name("")->required();
    }
    void named(CLI::App& sub, char const* what) { positional(sub, what, a_.which, "Which one"); }
    void after(CLI::App& sub, char const* text)
    {
        sub.add_option("--after", a_.after, text)->type_name("SEQ")->check([](std::string const& s) {
            return !s.empty() && s.find_first_not_of("0123456789") == s.npos && s.size() < 19 ? std::string() : "a number, from 0";
        });
    }
    void limit(CLI::App& sub, char const* text)
    {
        sub.add_option("--limit", a_.limit, text)->type_name("N")->check(CLI::Range(1, 1'000'000));
    }
    void about_what(CLI::App& sub)
    {
        sub.add_option("--about", a_.about, "The SHA-256 that show names: refused if it is about something else now")->type_name("HASH");
    }
    void by_secret(CLI::App& sub)
    {
        // CLI11 takes an empty text for an option that was not given: the answer would then be an operator's.
        sub.add_option("--secret", a_.secret, "Answer as the one whose secret this is; with the question's whole id")->type_name("SECRET")
            ->check([](std::string const& s) { return s.empty() ? std::string("is empty") : std::string(); });
    }
    void changes(CLI::App& sub)
    {
        sub.add_option("--by", a_.by, "Who does it (the user of the system)")->type_name("NAME");
        sub.add_option("--why", a_.why, "Why, for the journal")->type_name("TEXT");
    }

    arguments& a_;
    std::string db_;
    CLI::App app_{"Look at the runs of a flow store and act on them"};
};

/// The store by `--store`, `--db` or the environment, and what of it is to be typed again.
void name_store(arguments& a, std::string const& db)
{
    auto const variable = [](char const* name) {
        auto const* value = std::getenv(name);
        return std::string(value != nullptr ? value : "");
    };
    if (!a.store.empty()) {
        a.typed += " --store " + shell_word(store_detail::without_password(a.store));
    } else if (!db.empty()) {
        a.store = store_detail::sqlite_text(db);
        a.typed += " --db " + shell_word(db);
    } else {
        a.store = variable("FLOW_STORE");
        auto const file = variable("FLOW_DB");
        if (!a.store.empty() && !file.empty()) throw misuse("FLOW_STORE and FLOW_DB are both set, and only one can be meant: unset one");
        if (!file.empty()) a.store = store_detail::sqlite_text(file);
    }
    if (a.store.empty()) throw misuse("name the store: --db FILE or --store TEXT, or set FLOW_DB or FLOW_STORE");
}

}  // namespace

std::variant<arguments, help> read_arguments(int argc, char const* const* argv, bool opens_store)
{
    std::string const program = argc > 0 ? argv[0] : "flow";
    arguments a;
    grammar g(a, opens_store);
    g.app().name(program);
    if (argc < 2) return help{g.app().help(), false};
    std::vector<std::string> words;  // CLI11 takes them from the back
    for (int i = argc - 1; i > 0; --i) words.push_back(as_value(argv[i]));
    try {
        g.app().parse(std::move(words));
    } catch (CLI::CallForHelp const&) {
        auto const used = g.app().get_subcommands();
        return help{used.empty() ? g.app().help() : used.front()->help(program)};
    } catch (CLI::CallForVersion const& e) {
        return help{std::string(e.what()) + '\n'};
    } catch (CLI::ParseError const& e) {
        auto const left = g.app().remaining();
        bool const no_verb = g.app().get_subcommands().empty() && !left.empty();
        throw misuse(no_verb ? "there is no verb " + shown(left.front(), 100) : e.what());
    }
    a.typed = shell_word(program);
    if (!opens_store) return a;
    name_store(a, g.db());
    return a;
}

bool wants_json(int argc, char const* const* argv)
{
    return std::any_of(argv + std::min(argc, 1), argv + argc,
                       [](char const* word) { return std::string_view(word) == "--json"; });
}

}  // namespace flow::cli
