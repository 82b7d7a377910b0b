// A support agent that spends money only with the consent of two people out of three. It is killed between the first consent and the second.
//
//     support_agent [--store sqlite:FILE|postgresql://…]
//
// The agent is a workflow in a process of its own, and a loop like any agent's: the model says what to do next, a step or a question does it, and
// what came of it goes back to the model. There is no model here: `model` is a function that stands in for one, so that the story is the same
// every time. This program plays the people. By hand: `flow --store … approve RUN --by ann`.
//
// It prints what the people are asked, what they answer, and one line for each thing that it has checked:
//   - a complaint is read, a refund of 80 drafted; Ann approves, Cy rejects: it is rejected, and the model drafts one of 40,
//   - which is another question: Ann's consent to 80 is refused as an answer to it,
//   - Ann approves, SIGKILL, Bob approves while no agent lives: the next process pays, once; model and draft are not called again,
//   - a complaint about which nobody decides in time is decided by the default: no.
#include <flow/flow.hpp>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "scratch.hpp"
#include "store_option.hpp"

using namespace std::chrono_literals;

// The world outside: files, so that what has happened outlives the process.

std::string calls, bank, outbox;

std::string euros(int cents) { return std::to_string(cents / 100) + (cents % 100 < 10 ? ".0" : ".") + std::to_string(cents % 100) + " euros"; }

struct complaint {
    std::string order, text;
};
struct refund {
    std::string order;
    int cents = 0;
    std::string reason;
};
struct next_move {
    std::string tool;
    int cents = 0;
    std::string text;
};

/// Stands in for a model: what to do next, after all that was said.
next_move model(std::vector<std::string> const& said)
{
    append_line(calls, "model");
    auto const& last = said.back();
    if (last.starts_with("customer:")) return {"look up", 0, {}};
    if (last.starts_with("order:")) return {"refund", 8000, "it came broken"};
    if (last.starts_with("rejected")) return {"refund", 4000, "it came broken; half, as was asked for"};
    if (last.starts_with("paid")) return {"answer", 0, "We are sorry, and have " + last};
    return {"answer", 0, "We are sorry, and cannot pay anything back"};
}

std::string look_up(std::string const& order) { return order + ", a vase, 80.00 euros, delivered"; }

std::string draft(refund const& what)
{
    append_line(calls, "draft of " + euros(what.cents));
    return "Pay " + euros(what.cents) + " back for " + what.order + "? " + what.reason;
}

/// A bank that knows its customers' keys: the second transfer under one is none.
std::string transfer(refund const& what, std::string_view key)
{
    if (lines_with(bank, std::string(key)) == 0) append_line(bank, std::string(key) + ' ' + euros(what.cents));
    return "paid " + euros(what.cents) + " back";
}

// [pay]
flow::workflow<std::string> pay_back(refund what, std::chrono::milliseconds patience)
{
    auto const text = co_await flow::step("draft", flow::idempotent, [&] { return draft(what); });

    // About exactly this: the hash of `what` is stored with the question, and goes with each answer.
    auto const said = co_await flow::ask("approve", flow::question(text).about(what).to("ann", "bob", "cy").quorum(2)
                                                        .deadline(patience).otherwise(false));
    if (said.by_default) co_return "nobody decided in time";
    if (!said.approved) co_return "rejected by " + said.votes.back().by + ": " + said.votes.back().why;

    // After a crash in here it is called again, with the same key.
    co_return co_await flow::step("pay", flow::idempotent, [&](flow::attempt& a) { return transfer(what, a.key()); });
}
// [/pay]

// [agent]
flow::workflow<std::string> support(complaint about, std::chrono::milliseconds patience)
{
    std::vector<std::string> said{"customer: " + about.text};
    for (;;) {
        // Asking a model again does no harm; but what it said is in the journal, and it is not asked again.
        auto const next = co_await flow::step("model", flow::replayable, [&] { return model(said); });
        if (next.tool == "look up") {
            auto const found = co_await flow::step("look_up", flow::replayable, [&] { return look_up(about.order); });
            said.push_back("order: " + found);
        } else if (next.tool == "refund") {
            refund const what{about.order, next.cents, next.text};
            auto const came_of_it = co_await pay_back(what, patience);
            said.push_back(came_of_it);
        } else {
            // A second mail would do harm: after a crash in here, the outbox is looked into.
            co_await flow::step("mail", flow::non_replayable, [&](flow::attempt& a) { append_line(outbox, std::string(a.key()) + ' ' + next.text); })
                .reconcile([&](flow::attempt& a) {
                    return lines_with(outbox, std::string(a.step_key())) > 0 ? flow::reconciled<void>::done() : flow::reconciled<void>::not_done();
                });
            co_return next.text;
        }
    }
}
// [/agent]

int work(std::string const& store)
{
    flow::engine engine{flow::open_store(store), {.threads = 2, .name = "agent"}};
    engine.add<support>("support");
    engine.run();  // until SIGTERM, or until somebody kills it
    return 0;
}

::pid_t start_agent(std::string const& store, std::string const& folder)
{
    ::pid_t const child = ::fork();
    if (child != 0) return child;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // not to outlive this program if a check fails
    ::execl("/proc/self/exe", "support_agent", "agent", store.c_str(), folder.c_str(), nullptr);
    ::_exit(127);
}

/// What Ann is asked, as soon as she is.
flow::open_wait asked(flow::client& ann)
{
    auto questions = ann.questions_for("ann");
    for (; questions.empty(); questions = ann.questions_for("ann")) std::this_thread::sleep_for(5ms);
    std::printf("       asked: %s\n", questions.front().asks->text.c_str());
    return questions.front();
}

int main(int argc, char** argv)
{
    bool const is_agent = argc == 4 && std::string(argv[1]) == "agent";
    std::optional<scratch_folder> scratch;
    if (!is_agent) scratch.emplace();
    std::string const folder = is_agent ? std::string(argv[3]) : scratch->file("");
    calls = folder + "calls.txt", bank = folder + "bank.txt", outbox = folder + "outbox.txt";
    if (is_agent) return use_every_store(), work(argv[2]);

    auto const store_name = shared_store_text(argc, argv, "sqlite:" + folder + "flow.db");
    auto const store = flow::open_store(store_name);
    flow::client desk{store, "desk"}, ann{store, "ann"}, bob{store, "bob"}, cy{store, "cy"};
    ::pid_t agent = start_agent(store_name, folder);

    complaint const broken{"order 7", "my vase came broken"};
    std::chrono::milliseconds const a_day = 24h;
    flow::run_handle<std::string> const run{desk.start("support", flow::args(broken, a_day), {.idempotency_key = "complaint-7"})};

    auto const first = asked(ann);
    auto said = ann.respond(first.row.id, true, {.about = first.asks->about_hash});
    expect(said.answer == flow::response_answer::counted && said.needed == 1, "Ann approves: one more is needed");
    said = cy.respond(first.row.id, false, {.why = "half is enough", .about = first.asks->about_hash});
    expect(said.answer == flow::response_answer::decided && !said.approved, "Cy rejects, and that decides");

    auto const second = asked(ann);
    try {
        ann.respond(second.row.id, true, {.about = first.asks->about_hash});
        expect(false, "consent to another amount was taken");
    } catch (flow::error const& e) {
        expect(e.code() == flow::errc::bad_argument, "consent to the first amount is none to the second");
    }
    said = ann.respond(second.row.id, true, {.about = second.asks->about_hash});
    expect(said.answer == flow::response_answer::counted && said.needed == 1, "Ann approves the second");

    ::kill(agent, SIGKILL);
    int status = 0;
    ::waitpid(agent, &status, 0);
    expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "the agent is killed");
    said = bob.respond(second.row.id, true, {.why = "a good customer", .about = second.asks->about_hash});
    expect(said.answer == flow::response_answer::decided && said.approved, "Bob approves meanwhile: two of three");
    expect(lines_with(bank, "") == 0 && lines_with(calls, "") == 5, "nothing is paid yet; the model was called three times, two drafts were made");

    agent = start_agent(store_name, folder);
    expect(run.result() == "We are sorry, and have paid 40.00 euros back", "the next agent goes on from there");
    expect(lines_with(bank, "") == 1 && lines_with(bank, "40.00") == 1, "the bank has one transfer, of what both saw");
    expect(lines_with(calls, "draft of 40.00") == 1 && lines_with(calls, "draft of 80.00") == 1, "neither draft was made again");
    expect(lines_with(calls, "model") == 4, "the model was called once more, for the answer");
    expect(lines_with(outbox, "") == 1, "one mail went out");
    for (auto const& h : run.view().happened)
        if (!h.by.empty()) std::printf("       %s, by %s%s\n", h.text.c_str(), h.by.c_str(), h.why.empty() ? "" : (": " + h.why).c_str());

    complaint const late{"order 8", "I do not like the colour"};
    std::chrono::milliseconds const not_long = 200ms;
    flow::run_handle<std::string> const other{desk.start("support", flow::args(late, not_long))};
    expect(other.result() == "We are sorry, and cannot pay anything back", "where nobody decides in time, the default does: no");
    expect(lines_with(bank, "") == 1, "and nothing is paid");

    ::kill(agent, SIGTERM);
    ::waitpid(agent, &status, 0);
    expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the agent ends orderly");
}
