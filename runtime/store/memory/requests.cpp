// start() and ask(): what people and programs ask of runs.
#include "runtime/store/memory/changes.hpp"
#include "runtime/store/memory/children.hpp"
#include "runtime/store/memory/events.hpp"
#include "runtime/store/memory/memory_store.hpp"
#include "src/events.hpp"
#include "src/plans.hpp"

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
        auto const& row = t.run(insert_new_run(t, what)).row;
        out = {start_answer::started, row.id, row};
        if (!what.first) return;
        out.first = deliver_event(t, detail::told_to(*what.first, row.id));
        if (!detail::stands_with_its_run(out.first->answer)) throw refusal(errc::inbox_full, "the run's first event was not taken: it was not started");
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
        fate = ask_run(t, num, what);
    });
    if (!done) return done.error();
    return fate;
}

}  // namespace flow::memory_detail
