// A research agent with a deadline: it splits a question, lets each part be searched by a run of its own, and reports with what is there in time.
//
//     research_agent [--store memory|sqlite:FILE|postgresql://…]
//
// A parent run starts a child run for each part, three at once. One of the places that they search, the archive, never answers; one is closed. At
// the deadline the searches that go on are cancelled, and the report names what is missing and why. There is no model and no network here:
// `split`, `search_in` and `compose` are functions that stand in for them, so that the story is the same every time.
//
// It prints the progress that the parent publishes, the two reports, and one line for each thing that it has checked:
//   - at the deadline there is a report, of the answers that came; what is missing is named,
//   - the search that did not end is cancelled, and has tidied up behind it; the others ended by themselves,
//   - each search is a run: its failure is told to the parent, not thrown at it,
//   - where everything answers nobody waits for the deadline.
#include <flow/flow.hpp>

#include <algorithm>
#include <mutex>

#include "scratch.hpp"
#include "store_option.hpp"

using namespace std::chrono_literals;

// The world outside.

std::mutex guard;
std::vector<std::string> left_alone;  // archives that were told not to look any further

/// Stands in for a model: what has to be known to answer, and where it may be found.
struct part {
    std::string what, where;
};
std::vector<part> split(std::string const& question)
{
    if (question == "Who built the bridge?")
        return {{"the year", "library"}, {"the architect", "archive"}, {"the builder", "web"}, {"the price", "museum"}, {"the stone", "web"}};
    return {{"the river", "library"}, {"the depth", "web"}};
}

std::string search_in(part const& p)
{
    if (p.where == "museum") throw flow::permanent_error("the museum is closed");
    std::this_thread::sleep_for(p.where == "library" ? 60ms : 20ms);
    return p.what + " as the " + p.where + " has it";
}

struct finding {
    std::string what, found, missing_because;  // one of the last two
};

/// Stands in for a model once more.
std::string compose(std::vector<finding> findings, std::size_t parts)
{
    std::sort(findings.begin(), findings.end(), [](auto const& a, auto const& b) { return a.what < b.what; });
    std::string known, missing;
    std::size_t here = 0;
    for (auto const& f : findings) {
        if (f.missing_because.empty()) ++here, known += ", " + f.found;
        else missing += (missing.empty() ? "; missing: " : ", ") + f.what + " (" + f.missing_because + ")";
    }
    return std::to_string(here) + " of " + std::to_string(parts) + known + missing;
}

// [search]
flow::workflow<std::string> search(part p)
{
    if (p.where != "archive") co_return co_await flow::step("search", flow::replayable, [&] { return search_in(p); });

    // The archive is written to and looked at again and again; it never answers. Whoever gives it up, says so.
    auto const answer = co_await flow::as_outcome(flow::poll_until("answer", [] { return false; }, {.every = 10ms}));
    auto const tidy = [&] {
        std::lock_guard const lock(guard);
        left_alone.push_back(p.what);
    };
    if (!answer) co_await flow::shield(flow::step("give up", flow::idempotent, tidy));
    co_return "nothing";
}
// [/search]

// [research]
struct progress {
    std::size_t done = 0, of = 0;
};

flow::workflow<std::string> research(std::string question, std::chrono::milliseconds time)
{
    auto const deadline = co_await flow::now() + time;
    auto const parts = co_await flow::step("split", flow::replayable, [&] { return split(question); });

    // Branches take turns on one thread: what they share needs no lock, and is the same on replay.
    std::vector<finding> findings;
    auto const one = [&](part p) -> flow::workflow<void> {
        auto const run = co_await flow::start_run<search>(p);
        auto const found = co_await flow::as_outcome(flow::wait_for_run(run));
        if (!found && found.error().code() == flow::errc::cancelled) co_return;  // the deadline: this branch is given up
        findings.push_back({p.what, found ? *found : "", found ? "" : "failed: " + found.error().message()});
        progress const now{findings.size(), parts.size()};
        co_await flow::publish("progress", now);
    };

    // At the deadline for_each has lost: what it still does is cancelled, and so are the runs that its branches have started.
    auto const in_time = co_await flow::any(flow::for_each(parts, one, {.concurrency = 3}), flow::sleep_until(deadline));

    if (in_time.index() == 1)
        for (auto const& p : parts)
            if (std::none_of(findings.begin(), findings.end(), [&](auto const& f) { return f.what == p.what; }))
                findings.push_back({p.what, "", "not found in time"});
    co_return co_await flow::step("compose", flow::replayable, [&] { return compose(findings, parts.size()); });
}
// [/research]

int main(int argc, char** argv)
{
    scratch_folder const folder;
    flow::engine engine{flow::open_store(store_text(argc, argv, "sqlite:" + folder.file("flow.db")))};
    engine.add<search>("search");
    engine.add<research>("research");

    auto const began = std::chrono::steady_clock::now();
    auto const run = engine.start<research>("Who built the bridge?", 2s);
    auto seen = flow::seq_no::none;
    for (bool ended = false; !ended;) {
        ended = run.wait(20ms);
        for (auto const& p : engine.publications(run.id(), seen)) {
            std::printf("       %s %s\n", p.key.c_str(), p.value.c_str());
            seen = p.cursor;
        }
    }
    auto const took = std::chrono::steady_clock::now() - began;
    auto const report = run.result();
    std::printf("       report: %s\n", report.c_str());
    expect(took >= 2s && took < 30s, "the report is there at the deadline");
    expect(report.starts_with("3 of 5, the builder as the web has it, the stone as the web has it, the year as the library has it; missing: "),
           "it has what was found by then");
    expect(report.find("the architect (not found in time)") != report.npos, "it names what did not come in time");
    expect(report.find("the price (failed: ") != report.npos && report.find("the museum is closed") != report.npos, "and what failed, and why");
    auto const told = engine.published<progress>(run.id(), "progress");
    expect(told && told->done == 4 && told->of == 5, "four of five searches had ended, as was published");

    expect(engine.wait_for_family(run, 5s), "nothing goes on behind it");
    std::size_t cancelled = 0, succeeded = 0, failed = 0;
    for (auto const& c : engine.children(run.id())) {
        cancelled += c.run.status.run == flow::run_status::cancelled;
        succeeded += c.run.status.run == flow::run_status::succeeded;
        failed += c.run.status.run == flow::run_status::failed;
    }
    expect(cancelled == 1 && succeeded == 3 && failed == 1, "of its five searches one was cancelled, one had failed");
    {
        std::lock_guard const lock(guard);
        expect(left_alone == std::vector<std::string>{"the architect"}, "the cancelled one has told the archive");
    }

    auto const easy = engine.start<research>("Under what does the river run?", 1h).result();
    std::printf("       report: %s\n", easy.c_str());
    expect(easy == "2 of 2, the depth as the web has it, the river as the library has it", "where all is found nobody waits for the deadline");
}
