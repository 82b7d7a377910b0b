#include "crash/everything.hpp"

#include "flow/store_reader.hpp"

using namespace std::chrono_literals;

namespace flow::test {

namespace {

struct order {
    int rows = 0;
    std::vector<std::string> names;
};

bool mail_was_sent() { return outside().count("mail") > 0; }

workflow<int> subtotal(int factor)
{
    auto const base = co_await step("base", replayable, [] { return 7; });
    co_return co_await step("times", idempotent, [&] { return outside().note("times"), base * factor; });
}

workflow<std::string> everything(std::string who)
{
    std::string text;
    auto const started = co_await now();
    auto const id = co_await uuid4();
    auto const dice = co_await flow::random<int>(1, 6);
    auto const rows = co_await step("load", replayable, [&] { return order{3, {who, to_string(id)}}; });
    text += "rows=" + std::to_string(rows.rows);

    auto const mailed = co_await step("mail", non_replayable, [] {
        outside().note("mail");
        return std::string("done");
    }).reconcile([] { return mail_was_sent() ? reconciled<std::string>::done("done") : reconciled<std::string>::not_done(); });
    text += " mailed=" + mailed;

    auto const paid = co_await step("pay", non_replayable, [] { return outside().note("pay"), 1; });
    text += " paid=" + std::to_string(paid);

    co_await sleep_for(1s);
    auto const waited = co_await wait_for_token<int>("answer");
    text += " waited=" + std::to_string(waited);

    auto const token = co_await make_token<int>("early");
    co_await step("send token", idempotent, [&] { outside().note("send token"); });
    co_await sleep_for(1h);
    text += " early=" + std::to_string(co_await wait_for_token(token));

    auto const nobody = co_await as_outcome(wait_for_token<int>("nobody", {.timeout = 2h}));
    text += nobody ? " answered" : " timed out";

    auto const retried = co_await step(
        "flaky", idempotent,
        [](attempt& a) {
            outside().note("flaky");
            if (a.number() < 2) throw std::runtime_error("once");
            return a.number();
        },
        {.retry = {.first_delay = 1min}});
    text += " retried=" + std::to_string(retried);

    auto const sub = co_await shield(subtotal(3));
    text += " sub=" + std::to_string(sub);

    auto const broken = co_await as_outcome(step("breaks", idempotent, [] { throw permanent_error("no"); }));
    text += broken ? " fine" : " skipped";
    std::string turns;
    auto const [left, right] = co_await all(
        [&]() -> workflow<int> {
            auto const n = co_await step("left", idempotent, [] { return outside().note("left"), 4; });
            turns += 'l';
            co_await sleep_for(1min);
            turns += 'L';
            co_return n;
        },
        [&]() -> workflow<int> {
            auto const n = co_await step("right", non_replayable, [] { return outside().note("right"), 2; }).reconcile([] {
                return outside().count("right") > 0 ? reconciled<int>::done(2) : reconciled<int>::not_done();
            });
            turns += 'r';
            auto const later = co_await any(sleep_for(2h), [&]() -> workflow<int> {
                auto const got = co_await as_outcome(wait_for_token<int>("never"));
                if (!got) co_await shield(step("tidy", idempotent, [] { outside().note("tidy"); }));
                co_return 0;
            });
            turns += 'R';
            co_return n + static_cast<int>(later.index());
        });
    // Which of the first three turns came first may differ from one life to the next, as long as it is not recorded; not the last.
    text += " branches=" + std::to_string(10 * left + right) + (turns.size() == 4 && turns.back() == 'R' ? "" : " out of turn");
    auto const ended = co_await now();
    if (ended < started || dice < 1) text += " time ran backwards";
    co_return text;
}

}  // namespace

void add_everything(flow::engine& e) { e.add<everything>("everything"); }

namespace {

/// What people do meanwhile. They too may meet a store that is gone.
void people(world& w, run_id id)
{
    auto const v = w.engine().inspect(id);
    for (auto const& o : v.open) {
        if (o.row.purpose == waitpoint_purpose::intervention) {
            bool const has_output = o.output_shape == "i32";
            w.engine().decide(o.row.id, o.choices.front() == "retry" && !has_output ? "retry" : "complete",
                              has_output ? std::optional<std::string_view>("1") : std::nullopt, "looked it up", "alice");
        } else if (o.row.name == "answer") {
            w.engine().complete_json(o.row.id, "7");
        } else if (o.row.name == "early") {
            w.engine().complete_json(o.row.id, "5");
        }
    }
}

}  // namespace

bool run_everything(world& w)
{
    try {
        auto const id = w.engine().start("everything", args("alice"), {.idempotency_key = "the one"}).id();
        for (int i = 0; i < 200; ++i) {
            w.pass(5min);
            if (!w.store()->change_counter()) return false;
            if (is_terminal(w.status(id))) return w.engine().find(id).end().result == everything_result;
            people(w, id);
        }
    } catch (error const&) {
    }
    return false;
}

std::map<std::string, int> settled_effects(store& s)
{
    std::map<std::string, int> all;
    run_filter every;
    for (auto const& row : s.reader().runs(every).value()) {
        for (auto const& e : s.journal(row.id, seq_no::none, 100'000).value())
            if ((e.kind == entry_kind::step || e.kind == entry_kind::step_failed) && e.cls != effect::replayable)
                all[e.name] = outside().count(e.name);
    }
    return all;
}

}  // namespace flow::test
