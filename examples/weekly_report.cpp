// An agent that reads a repository's week, draws it, asks a person, and mails it: kill it anywhere and start it again.
//
//     weekly_report [REPOSITORY] [--db FILE | --store TEXT] [--mailbox DIR] [--out DIR] [--since 7d] [--key KEY]
//
// The same key is the same run: `examples/run_demo` kills this program in the middle of `render` and starts it again.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include <flow/flow.hpp>

#include "store_option.hpp"
#include "weekly_report/files.hpp"
#include "weekly_report/git_log.hpp"
#include "weekly_report/html.hpp"

using namespace std::chrono_literals;

/// What this process really did: the functions of steps note it here, so that the end can tell "ran" from "skipped".
class notes {
public:
    void ran(std::string const& step)
    {
        std::lock_guard const lock(guard_);
        steps_.insert(step);
    }
    bool has(std::string const& step) const
    {
        std::lock_guard const lock(guard_);
        return steps_.contains(step);
    }

private:
    mutable std::mutex guard_;
    std::set<std::string> steps_;
};
notes here;

void say(char const* who, std::string const& what)
{
    std::printf("  %-8s %s\n", who, what.c_str());
    std::fflush(stdout);
}

report::history query(std::string const& repository, flow::time_point until, std::chrono::days span)
{
    here.ran("query");
    auto h = report::read_history(repository, until, span);
    say("query", "runs: " + std::to_string(h.commits.size()) + " commits of " + h.title);
    return h;
}

/// Draws bar by bar, slowly, as a model would. Half a page is left under another name, so a crash never shows one.
std::string render(report::history const& h, std::string const& folder, flow::attempt& a)
{
    here.ran("render");
    auto const bars = report::bars_of(h);
    int highest = 0;
    for (auto const& b : bars) highest = std::max(highest, b.commits);

    report::fs::create_directories(folder);
    auto const page = report::fs::path(folder) / ("report-" + std::string(a.key().substr(0, 12)) + ".html");
    auto const draft = page.string() + ".part";
    std::ofstream out(draft, std::ios::binary | std::ios::trunc);
    out << report::head(h, bars.size());
    for (std::size_t i = 0; i < bars.size(); ++i) {
        if (a.stop_requested()) throw std::runtime_error("asked to stop");
        std::this_thread::sleep_for(2800ms / bars.size());
        out << report::drawn(bars[i], i, highest);
        a.heartbeat();
        say("render", "runs: bar " + std::to_string(i + 1) + " of " + std::to_string(bars.size()));
    }
    out << report::tail(h);
    out.close();
    report::must(!out.fail(), draft);
    report::put_in_place(draft, page);
    return page.string();
}

/// The same at every attempt of this step, and for no other step or run.
std::string mail_name(flow::attempt& a) { return "weekly." + std::string(a.step_key().substr(0, 40)) + ".flow"; }

std::string deliver(std::string const& page, report::maildir const& mailbox, flow::attempt& a)
{
    here.ran("deliver");
    auto const id = "<" + mail_name(a) + "@localhost>";
    auto const where = mailbox.deliver(mail_name(a), "From: weekly report <report@localhost>\nTo: team@localhost\n"
                                                     "Subject: Weekly report\nMessage-ID: " + id +
                                                     "\nMIME-Version: 1.0\nContent-Type: text/html; charset=utf-8\n"
                                                     "Content-Transfer-Encoding: 8bit\n\n" + report::read_file(page));
    if (std::getenv("WEEKLY_REPORT_DIES_AFTER_MAIL") != nullptr) std::raise(SIGKILL);  // a test asks for it
    a.commit_ref(id);
    say("deliver", "runs: " + where.string());
    return where.string();
}

// [workflow]
struct order { std::string repository, folder, mailbox; int days = 7; };
struct approval { bool approved = false; std::string by; };

flow::workflow<std::string> weekly_report(order what)
{
    auto const until = co_await flow::now();

    // Has no effect: after a crash it may simply run again.
    auto const history = co_await flow::step("query", flow::replayable,
        [&] { return query(what.repository, until, std::chrono::days{what.days}); });

    // Writes a file named after its key: written again, it is the same file.
    auto const page = co_await flow::step("render", flow::idempotent,
        [&](flow::attempt& a) { return render(history, what.folder, a); });

    // Waits for a person, for a day at most, through any number of restarts.
    auto const answer = co_await flow::wait_for_token<approval>("approve", {.timeout = 24h});
    if (!answer.approved) co_return "rejected by " + answer.by;

    // A second mail would do harm: after a crash in here, the mailbox is looked into first.
    report::maildir const mailbox{what.mailbox};
    co_return co_await flow::step("deliver", flow::non_replayable,
        [&](flow::attempt& a) { return deliver(page, mailbox, a); })
        .reconcile([&](flow::attempt& a) {
            auto const found = mailbox.find(mail_name(a));
            return found ? flow::reconciled<std::string>::done(found->string()) : flow::reconciled<std::string>::not_done();
        });
}
// [/workflow]

struct options {
    order what{".", ".", "mailbox", 7};
    std::string store = "sqlite:weekly_report.db", key = "weekly";
};

[[noreturn]] void refuse(std::string const& why)
{
    std::fprintf(stderr, "weekly_report: %s\nusage: weekly_report [REPOSITORY] [--db FILE | --store TEXT] [--mailbox DIR] "
                         "[--out DIR] [--since 7d] [--key KEY]\n", why.c_str());
    std::exit(2);
}

int days_in(std::string const& text)  // "7d", "2w"
{
    char* unit = nullptr;
    long const n = std::strtol(text.c_str(), &unit, 10);
    long const days = std::string(unit) == "w" ? n * 7 : n;
    if ((std::string(unit) != "d" && std::string(unit) != "w") || days < 1 || days > 60) refuse("--since takes 1d to 60d, or weeks: 2w");
    return static_cast<int>(days);
}

options read_options(int argc, char** argv)
{
    use_every_store();
    options o;
    std::map<std::string, std::string*> const named{
        {"--store", &o.store}, {"--mailbox", &o.what.mailbox}, {"--out", &o.what.folder}, {"--key", &o.key}};
    for (int i = 1; i < argc; ++i) {
        std::string const word = argv[i];
        if (!word.starts_with("--")) {
            o.what.repository = word;
        } else if (i + 1 == argc) {
            refuse(word + " needs a value");
        } else if (word == "--since") {
            o.what.days = days_in(argv[++i]);
        } else if (word == "--db") {
            o.store = "sqlite:" + std::string(argv[++i]);
        } else if (auto const at = named.find(word); at != named.end()) {
            *at->second = argv[++i];
        } else {
            refuse("what is " + word + "?");
        }
    }
    // A run keeps its arguments; wherever it is started again, they must mean the same.
    for (auto* path : {&o.what.repository, &o.what.folder, &o.what.mailbox}) *path = report::fs::absolute(*path).lexically_normal();
    if (o.store == "memory") refuse("not in memory: a second process goes on here. Name a file or a server: --store sqlite:FILE");
    return o;
}

/// What to type: the program `flow` beside this one, if it was built.
std::string flow_program()
{
    auto const built = report::fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "bin" / "flow";
    return report::fs::exists(built) ? built.string() : "flow";
}

/// Waits for the end and says, once, what somebody has to do.
void wait_and_tell(flow::any_run_handle const& run, std::string const& store)
{
    std::set<flow::waitpoint_id> told;
    while (!run.wait(50ms)) {
        for (auto const& open : run.view().open) {
            if (!told.insert(open.row.id).second) continue;
            bool const token = open.row.purpose == flow::waitpoint_purpose::token;
            say(open.row.name.c_str(), token ? "waits for a yes or no: from another terminal," : "is in doubt: " + open.question);
            std::printf("             %s --store '%s' %s %s\n", flow_program().c_str(), store.c_str(), token ? "complete" : "decide",
                        (to_string(open.row.run) + (token ? R"( '{"approved":true,"by":"you"}')" : " CHOICE")).c_str());
            std::fflush(stdout);
        }
    }
}

/// What an earlier process has left in the journal will not run again.
void tell_skipped(flow::store_ptr const& store, std::string const& key)
try {
    flow::client client{store};
    for (auto const& step : client.find_by_key(key).view().steps)
        if (step.status == flow::step_status::completed) say(step.name.c_str(), "skipped: its output is in the journal");
} catch (flow::error const& e) {
    if (e.code() != flow::errc::unknown_run) throw;  // the first start of this key
}

int main(int argc, char** argv)
try {
    auto const o = read_options(argc, argv);
    auto const store = flow::open_store(o.store);
    std::printf("weekly_report: process %d, journal %s\n", static_cast<int>(::getpid()), store->name().c_str());
    std::fflush(stdout);

    tell_skipped(store, o.key);

    // [start]
    flow::engine engine{store};
    engine.add<weekly_report>("weekly_report");
    auto const run = engine.start<weekly_report>(o.what, {.idempotency_key = o.key});  // the same key: the same run
    // [/start]
    std::printf("  run      %s\n", to_string(run.id()).c_str());
    wait_and_tell(run, o.store);

    std::puts("in this process:");
    for (auto const& step : run.view().steps) {
        auto const done = step.status == flow::step_status::completed;
        auto const at = flow::to_string(step.ended_at).substr(11, 8);
        say(step.name.c_str(), here.has(step.name) ? "ran" : done ? "skipped (journaled " + at + ")" : "not run");
    }
    std::printf("result: %s\n", run.result().c_str());
} catch (std::exception const& e) {
    std::fprintf(stderr, "weekly_report: %s\n", e.what());
    return 1;
} catch (flow::cancelled const&) {
    std::fprintf(stderr, "weekly_report: the run was cancelled\n");
    return 1;
}
