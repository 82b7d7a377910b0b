// For the guide: a question that people decide, two of three.
#include <flow/flow.hpp>

#include "../scratch.hpp"
#include "../store_option.hpp"

using namespace std::chrono_literals;

// [ask]
struct refund {
    std::string to;
    int cents = 0;
};

flow::workflow<std::string> pay_back(refund what)
{
    auto const said = co_await flow::ask("approve", flow::question("Pay " + std::to_string(what.cents) + " cents back to " + what.to + "?")
                                                        .about(what)
                                                        .to("ann", "bob", "cy")
                                                        .quorum(2)
                                                        .sla(1h)
                                                        .deadline(24h)
                                                        .otherwise(false));
    if (!said.approved) co_return said.by_default ? "nobody decided in time" : "rejected by " + said.votes.back().by;

    co_await flow::step("pay", flow::idempotent, [&] { /* … */ });
    co_return "approved by " + said.votes.at(0).by + " and " + said.votes.at(1).by;
}
// [/ask]

// [value]
flow::workflow<std::string> mission()
{
    auto const way = co_await flow::ask<std::string>("way", flow::question("The path is blocked.").choices("wait", "around", "home"));
    co_return *way.value;
}
// [/value]

// [secrets]
flow::workflow<bool> publish(std::string report)
{
    auto const said = co_await flow::ask("publish", flow::question("Publish " + report + "?").to("ann", "bob").secrets());
    co_return said.approved;
}
// [/secrets]

int main(int argc, char** argv)
{
    auto const store = flow::open_store(store_text(argc, argv, "memory"));
    flow::engine engine(store);
    engine.add<pay_back>("pay_back");
    engine.add<mission>("mission");
    engine.add<publish>("publish");
    auto const asked = [&](flow::any_run_handle const& run) {
        while (run.status().run != flow::run_status::waiting) std::this_thread::sleep_for(1ms);
    };

    refund const what{"alice", 12000};
    auto const run = engine.start<pay_back>(what);
    asked(run);
    // [answer]
    flow::client ann(store, "ann");  // who it is: the identity that this program has established
    for (auto const& question : ann.questions_for("ann"))
        ann.respond(question.row.id, true, {.why = "a good customer", .about = question.asks->about_hash});
    // [/answer]
    expect(run.status().run == flow::run_status::waiting, "one approval is not enough");
    try {
        flow::client(store, "eve").respond(ann.questions_for("ann").at(0).row.id, true);
        expect(false, "eve is not asked");
    } catch (flow::error const& e) {
        expect(e.code() == flow::errc::not_asked, "and is told so");
    }
    flow::client(store, "bob").respond(ann.questions_for("bob").at(0).row.id, true);
    expect(run.result() == "approved by ann and bob", "two of three decide");

    auto const blocked = engine.start<mission>();
    asked(blocked);
    ann.respond(ann.questions_for().at(0).row.id, true, {.value = R"("around")"});
    expect(blocked.result() == "around", "a choice comes back as a value");

    auto const report = engine.start<publish>(std::string("the report"));
    asked(report);
    struct letter {
        std::string to;
        flow::waitpoint_id question;
        std::string secret;
    };
    std::vector<letter> letters;
    // [letters]
    flow::client mail(store, "mail");
    for (auto const& question : mail.questions_for()) {
        if (!question.asks->secret_hashes) continue;  // asked without secrets
        for (auto const& person : question.asks->assignees)
            letters.push_back({person, question.row.id, mail.secret_for(question.row.id, person).text()});
    }
    // [/letters]
    auto const [to, question, secret] = letters.at(1);
    // [desk]
    flow::client desk(store, "desk");
    desk.respond(question, true, {.why = "well done", .secret = secret});
    // [/desk]
    expect(report.result() && desk.waitpoint(question).by == "bob", "whose secret it is has answered");
    try {
        desk.respond(question, true, {.by = "ann", .secret = secret});
        expect(false, "bob's secret is not ann's");
    } catch (flow::error const& e) {
        expect(e.code() == flow::errc::unknown_request, "and tells nothing of the question");
    }
}
