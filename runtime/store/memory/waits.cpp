// complete(), scan(), look(), next_due(): the fate of waitpoints, and who is woken by it (protocol P35 to P38).
#include <algorithm>

#include "runtime/store/memory/changes.hpp"
#include "runtime/store/memory/events.hpp"
#include "runtime/store/memory/memory_store.hpp"
#include "src/waits.hpp"

namespace flow::memory_detail {

namespace {

bool is_free(tables const& t, std::int64_t run) { return t.run(run).row.owner == owner_id::nobody; }
/// By this waitpoint, which is decided.
bool is_called_back(tables const& t, std::int64_t run, std::int64_t waitpoint)
{
    auto const& row = t.run(run).row;
    bool const answers = t.waitpoint(waitpoint).row.purpose == waitpoint_purpose::intervention && detail::is_held_by_question(row);
    return is_free(t, run) && (detail::parks(row.status) || answers);
}
bool is_called_back(tables const& t, std::int64_t run)
{
    auto const& wakes = t.run(run).wakes;
    return std::any_of(wakes.begin(), wakes.end(), [&](auto w) { return is_called_back(t, run, w); });
}

/// A wait is over when it fell due, not when a scan came to it.
time_point due_since(tables const& t, std::int64_t run)
{
    auto due = never;
    for (auto const w : t.run(run).wakes)
        if (is_called_back(t, run, w)) due = std::min({due, t.waitpoint(w).row.due_at, t.waitpoint(w).row.completed_at});
    return due;
}

run_row queue_woken(tables& t, std::int64_t num, time_point now)
{
    auto row = t.run(num).row;
    write_plan(t, row, detail::plan_unblock(row, due_since(t, num), now), next(row.epoch), owner_id::nobody, now);
    return row;
}

}  // namespace

void end_wait(tables& t, std::int64_t num, waitpoint_row done)
{
    t.set_waitpoint(num, std::move(done));
    wake(t, num);
}

std::vector<run_row> complete_waitpoint(tables& t, std::int64_t num, waitpoint_row done)
{
    auto const at = done.completed_at;
    end_wait(t, num, std::move(done));
    std::vector<run_row> queued;
    for (auto const waiter : std::set(t.waitpoint(num).waiters))
        if (is_called_back(t, waiter, num)) queued.push_back(queue_woken(t, waiter, at));
    return queued;
}

outcome<completion_answer> memory_store::complete(completion const& what)
{
    auto const done = complete_and_claim(what, {owner_id::nobody, {}, 0, what.at});
    if (!done) return done.error();
    return done->answer;
}

outcome<completed> memory_store::complete_and_claim(completion const& what, claim_request const& takes)
{
    completed told;
    auto const done = write("complete", [&](tables& t) {
        auto const num = t.find(what.waitpoint);
        if (num == 0) return;
        auto const& row = t.waitpoint(num).row;
        told = {detail::judge(row, what), {}};
        if (told.answer != completion_answer::completed) return;
        for (auto const& queued : complete_waitpoint(t, num, detail::completed_by(row, what))) {
            workflow_version const w{queued.workflow, queued.version};
            if (told.runs.size() < takes.limit && std::find(takes.workflows.begin(), takes.workflows.end(), w) != takes.workflows.end())
                take(t, queued.num, detail::plan_claim(queued, takes.owner, takes.now), takes, false, told.runs);
        }
    });
    if (!done) return done.error();
    return told;
}

namespace {

bool may_expire(tables const& t, std::int64_t run) { return is_free(t, run) && t.run(run).row.status.run != run_status::cancelling; }

std::vector<std::int64_t> overdue(tables const& t, time_point now, std::size_t limit)
{
    std::vector<std::int64_t> out;
    for (auto const& [at, num] : t.deadlines()) {
        if (at > now || out.size() >= limit) break;
        if (may_expire(t, num)) out.push_back(num);
    }
    return out;
}

void decide_due_waits(tables& t, time_point now, std::size_t limit)
{
    std::vector<std::int64_t> due;
    for (auto const& [at, num] : t.due_waits()) {
        if (at > now || due.size() >= limit) break;
        if (is_free(t, t.waitpoint(num).run)) due.push_back(num);
    }
    for (auto const num : due) decide(t, num, detail::fate_when_due(t.waitpoint(num).row.type), now);
}

}  // namespace

outcome<std::size_t> memory_store::scan(time_point now, std::size_t limit)
{
    std::size_t queued = 0;
    auto const done = write("scan", [&](tables& t) {
        queued = 0;
        decide_due_waits(t, now, limit);
        std::vector<std::int64_t> woken, ended, due;
        for (auto const num : t.with_wakes()) {
            auto const& row = t.run(num).row;
            if (is_terminal(row.status.execution))
                ended.push_back(num);
            else if (is_called_back(t, num) && woken.size() < limit)
                woken.push_back(num);
        }
        for (auto const& [at, num] : t.delayed()) {
            if (at > now || due.size() >= limit) break;
            due.push_back(num);
        }
        for (auto const num : woken) queue_woken(t, num, now);
        for (auto const num : due) {
            auto row = t.run(num).row;
            // Nobody has held it: there is no former holder to fence.
            write_plan(t, row, detail::plan_fall_due(row, now), row.epoch, owner_id::nobody, now);
        }
        queued = woken.size() + due.size();
        for (auto const num : overdue(t, now, limit)) {
            auto row = t.run(num).row;
            if (!may_expire(t, num) || is_terminal(row.status.run)) continue;  // it went with a parent just now
            write_plan(t, row, detail::plan_deadline(row, now), detail::epoch_for_request(row), owner_id::nobody, now);
            ++queued;
        }
        for (auto const num : ended)
            for (auto const w : std::set(t.run(num).wakes)) t.remove_wake(num, w);
        forget_events(t, now, limit);
    });
    if (!done) return done.error();
    return queued;
}

outcome<std::vector<notice>> memory_store::look(owner_id owner, std::size_t limit)
{
    std::scoped_lock guard(shared_.mutex);
    auto const& t = shared_.rows;
    std::vector<notice> out;
    for (auto const num : t.with_wakes()) {
        if (t.run(num).row.owner != owner) continue;
        for (auto const w : t.run(num).wakes)
            if (out.size() < limit) out.push_back(woken{t.run(num).row.id, t.waitpoint(w).row});
    }
    for (auto const q : t.with_mail()) {
        auto const& r = t.request_at(q);
        if (t.run(r.run).row.owner == owner && out.size() < limit) out.push_back(mail{r.what.run, r.what});
    }
    return out;
}

outcome<time_point> memory_store::next_due()
{
    std::scoped_lock guard(shared_.mutex);
    auto const& t = shared_.rows;
    auto due = t.delayed().empty() ? never : t.delayed().begin()->first;
    for (auto const& [at, num] : t.deadlines())
        if (may_expire(t, num)) {
            due = std::min(due, at);
            break;
        }
    for (auto const& [at, num] : t.due_waits())
        if (is_free(t, t.waitpoint(num).run)) return std::min(at, due);
    return due;
}

}  // namespace flow::memory_detail
