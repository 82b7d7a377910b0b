// start() and ask(): what people and programs ask of runs.
#include "runtime/store/memory/changes.hpp"
#include "runtime/store/memory/events.hpp"
#include "runtime/store/memory/memory_store.hpp"
#include "src/events.hpp"

namespace flow::memory_detail {

outcome<started> memory_store::start(new_run const& what)
{
    started out{};
    auto const done = write("start", [&](tables& t) {
        auto num = t.find(what.id);
        bool const tried_before = num != 0;
        if (num == 0) num = t.find_key(what.tenant, what.key);
        if (num != 0) {
            auto const& there = t.run(num).row;
            bool const same = tried_before || detail::is_same_start(there, what);
            out = {same ? start_answer::existing : start_answer::conflict, there.id, there};
            if (same && what.first) out.first = deliver_event(t, detail::told_to(*what.first, there.id));
            return;
        }
        auto [row, plan] = detail::new_row(what);
        row.num = t.add_run(row);
        write_plan(t, row, std::move(plan), row.epoch, owner_id::nobody, what.at);
        out = {start_answer::started, row.id, row};
        if (what.first) out.first = deliver_event(t, detail::told_to(*what.first, row.id));
    });
    if (!done) return done.error();
    return out;
}

outcome<request_fate> memory_store::ask(request const& what)
{
    auto fate = request_fate::unknown_run;
    auto const done = write("ask", [&](tables& t) {
        if (auto const before = t.find(what.id)) {
            fate = t.request_at(before).fate;
            return;
        }
        auto const num = t.find(what.run);
        if (num == 0) return;
        auto row = t.run(num).row;
        auto plan = detail::plan_request(row, what);
        fate = plan.fate;
        if (plan.plan) {
            auto const epoch = detail::epoch_for_request(row);
            auto const entry = write_plan(t, row, std::move(*plan.plan), epoch, owner_id::nobody, what.at);
            t.add_request(num, what, fate, entry);
        } else if (fate == request_fate::left_to_holder) {
            t.add_request(num, what, fate, seq_no::none);
        }
    });
    if (!done) return done.error();
    return fate;
}

}  // namespace flow::memory_detail
