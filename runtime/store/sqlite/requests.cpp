// start() and ask(): what people and programs ask of runs.
#include "runtime/store/sqlite/changes.hpp"
#include "runtime/store/sqlite/children.hpp"
#include "runtime/store/sqlite/events.hpp"
#include "runtime/store/sqlite/rows.hpp"
#include "runtime/store/sqlite/sqlite_store.hpp"
#include "src/events.hpp"
#include "src/plans.hpp"

namespace flow::sqlite_detail {

outcome<started> sqlite_store::start(new_run const& what)
{
    started out{};
    auto const done = db_.write(
        "start", db_.patience(),
        [&](connection& c) {
            auto there = find_run(c, what.id);
            bool const tried_before = there.has_value();
            if (!there) there = find_key(c, what.tenant, what.key);
            if (there) {
                bool const same = tried_before || detail::is_same_start(*there, what);
                out = {same ? start_answer::existing : start_answer::conflict, there->id, *there};
                if (same && what.first) out.first = deliver_event(c, detail::told_to(*what.first, there->id));
                return;
            }
            auto const row = insert_new_run(c, what);
            out = {start_answer::started, row.id, row};
            if (!what.first) return;
            out.first = deliver_event(c, detail::told_to(*what.first, row.id));
            if (!detail::stands_with_its_run(out.first->answer)) throw refusal(errc::inbox_full, "the run's first event was not taken: it was not started");
        },
        [&](connection& c) {
            bool const told = out.first && detail::is_written(*what.first, out.first->answer);
            return (out.answer != start_answer::started || find_run(c, what.id).has_value()) && (!told || told_before(c, what.first->id).has_value());
        });
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
            fate = ask_run(c, *row, what);
            wrote = fate == request_fate::taken || fate == request_fate::left_to_holder;
        },
        [&](connection& c) { return !wrote || fate_of(c, what.id).has_value(); });
    if (!done) return done.error();
    return fate;
}

}  // namespace flow::sqlite_detail
