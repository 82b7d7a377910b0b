// start() and ask(): what people and programs ask of runs.
#include "runtime/store/postgres/changes.hpp"
#include "runtime/store/postgres/events.hpp"
#include "runtime/store/postgres/postgres_store.hpp"
#include "runtime/store/postgres/rows.hpp"
#include "src/events.hpp"
#include "src/plans.hpp"

namespace flow::postgres_detail {

namespace {

std::optional<request_fate> fate_of(connection& c, request_id id)
{
    auto r = c.run("select fate from requests where id = $1", params{} << id.value);
    return r.step() ? std::optional(as<request_fate>(r.number(0))) : std::nullopt;
}

}  // namespace

outcome<started> postgres_store::start(new_run const& what)
{
    started out{};
    auto const done = db_.write("start", db_.patience(), [&](transaction& t) {
        auto const find = [&] {
            auto there = find_run(t.c, what.id);
            bool const tried_before = there.has_value();
            if (!there) there = find_key(t.c, what.tenant, what.key);
            if (!there) return false;
            bool const same = tried_before || detail::is_same_start(*there, what);
            // Committed after all by a try of this very call: it was started.
            auto const found = t.in_doubt && tried_before ? start_answer::started : same ? start_answer::existing : start_answer::conflict;
            out = {found, there->id, *there};
            return true;
        };
        auto const tell = [&] {
            if (!what.first || out.answer == start_answer::conflict) return false;
            out.first = deliver_event(t, detail::told_to(*what.first, out.id));
            return detail::is_written(*what.first, out.first->answer);
        };
        if (find()) {
            if (!tell()) t.quiet();
            return;
        }
        auto [row, plan] = detail::new_row(what);
        // Waits for whoever is starting the same just now; then it is there, for the next statement.
        auto const made = insert_runs(t.c, {&row, 1});
        t.locked();
        if (made.empty()) {
            if (find()) {
                if (!tell()) t.quiet();
                return;
            }
            throw refusal(errc::store_busy, "the same start was given up by another just now");
        }
        row.num = made.at(row.id);
        planned p{row, seq_no::none, std::move(plan), row.epoch, owner_id::nobody};
        write_plans(t.c, {&p, 1}, what.at);
        out = {start_answer::started, p.row.id, p.row};
        tell();
        if (out.first && !detail::stands_with_its_run(out.first->answer))
            throw refusal(errc::inbox_full, "the run's first event was not taken: it was not started");
    });
    if (!done) return done.error();
    if (out.answer == start_answer::started || (out.first && out.first->answer == delivery_answer::matched)) news_.concerns_everybody();
    return out;
}

outcome<request_fate> postgres_store::ask(request const& what)
{
    static auto const find = select_runs_and_last("runs r where r.id = $1");
    auto fate = request_fate::unknown_run;
    bool asks = false;
    auto const done = db_.write("ask", db_.patience(), [&](transaction& t) {
        fate = request_fate::unknown_run;
        t.c.run("select 1 from runs where num = any(array(select num from runs where id = $1) || array(select k.child from children k join runs p"
                " on p.num = k.parent where p.id = $1)) order by num for no key update",
                params{} << what.run.value);
        t.locked();
        if (auto const before = fate_of(t.c, what.id)) {
            fate = *before;
            return t.quiet();
        }
        auto r = t.c.run(find, params{} << what.run.value);
        if (!r.step()) return t.quiet();
        auto const row = read_run(r);
        auto const last = as<seq_no>(r.number(last_seq_column));
        auto plan = detail::plan_request(row, what);
        fate = plan.fate;
        asks = plan.plan || fate == request_fate::left_to_holder;
        if (plan.plan) {
            std::vector<planned> plans{{row, last, std::move(*plan.plan), detail::epoch_for_request(row), owner_id::nobody}};
            auto const asked = add_children(t.c, plans, what.at);
            write_plans(t.c, plans, what.at);
            insert_request(t.c, row.num, what, fate, next(last));
            write_asked(t.c, asked);
        } else if (fate == request_fate::left_to_holder) {
            insert_request(t.c, row.num, what, fate, seq_no::none);
        } else {
            t.quiet();
        }
    });
    if (!done) return done.error();
    if (asks) news_.concerns_everybody();
    return fate;
}

}  // namespace flow::postgres_detail
