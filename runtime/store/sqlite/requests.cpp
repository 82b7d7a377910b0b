// start() and ask(): what people and programs ask of runs.
#include "runtime/store/sqlite/changes.hpp"
#include "runtime/store/sqlite/events.hpp"
#include "runtime/store/sqlite/rows.hpp"
#include "runtime/store/sqlite/sqlite_store.hpp"
#include "src/events.hpp"
#include "src/plans.hpp"

namespace flow::sqlite_detail {

namespace {

std::optional<run_row> find_key(connection& c, std::string_view tenant, std::string_view key)
{
    static auto const sql = select_runs("runs r where r.tenant = ? and r.key = ? and r.key <> ''");
    auto r = c.prepare(sql.c_str());
    r << tenant << key;
    return r.step() ? std::optional(read_run(r)) : std::nullopt;
}

std::optional<request_fate> fate_of(connection& c, request_id id)
{
    auto r = c.prepare("select fate from requests where id = ?");
    r << id.value;
    return r.step() ? std::optional(as<request_fate>(r.number(0))) : std::nullopt;
}

}  // namespace

outcome<started> sqlite_store::start(new_run const& what)
{
    started out{};
    auto const done = db_.write(
        "start", db_.patience(),
        [&](connection& c) {
            auto there = find_run(c, what.id);
            bool const tried_before = there.has_value();
            if (!there && !what.key.empty()) there = find_key(c, what.tenant, what.key);
            if (there) {
                bool const same = tried_before || detail::is_same_start(*there, what);
                out = {same ? start_answer::existing : start_answer::conflict, there->id, *there};
                if (same && what.first) out.first = deliver_event(c, detail::told_to(*what.first, there->id));
                return;
            }
            auto [row, plan] = detail::new_row(what);
            row.num = insert_run(c, row);
            write_plan(c, row, std::move(plan), row.epoch, owner_id::nobody, what.at);
            out = {start_answer::started, row.id, row};
            if (what.first) out.first = deliver_event(c, detail::told_to(*what.first, row.id));
        },
        [&](connection& c) { return out.answer != start_answer::started || find_run(c, what.id).has_value(); });
    if (!done) return done.error();
    return out;
}

outcome<request_fate> sqlite_store::ask(request const& what)
{
    auto fate = request_fate::unknown_run;
    bool wrote = false;
    auto const done = db_.write(
        "ask", db_.patience(),
        [&](connection& c) {
            if (auto const before = fate_of(c, what.id)) {
                fate = *before;
                return;
            }
            auto row = find_run(c, what.run);
            if (!row) return;
            auto plan = detail::plan_request(*row, what);
            fate = plan.fate;
            if (plan.plan) {
                auto const entry = write_plan(c, *row, std::move(*plan.plan), detail::epoch_for_request(*row),
                                              owner_id::nobody, what.at);
                insert_request(c, row->num, what, fate, entry);
                wrote = true;
            } else if (fate == request_fate::left_to_holder) {
                insert_request(c, row->num, what, fate, seq_no::none);
                wrote = true;
            }
        },
        [&](connection& c) { return !wrote || fate_of(c, what.id).has_value(); });
    if (!done) return done.error();
    return fate;
}

}  // namespace flow::sqlite_detail
