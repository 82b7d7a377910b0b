// complete(), scan(), look(), next_due(): the fate of waitpoints, and who is woken by it (protocol P35 to P38).
#include <algorithm>

#include "runtime/store/postgres/changes.hpp"
#include "runtime/store/postgres/postgres_store.hpp"
#include "runtime/store/postgres/rows.hpp"
#include "src/waits.hpp"

namespace flow::postgres_detail {

void complete_waitpoint(connection& c, std::int64_t num, waitpoint_row const& done)
{
    c.run("update waitpoints set status = $1, completed_at = $2, output = $3, output_encoding = $4, output_is_error = $5,"
          " by = $6, why = $7 where num = $8",
          params{} << number(done.status) << done.completed_at << bytes{done.output} << number(done.output_encoding)
                   << std::int64_t{done.output_is_error} << std::string_view(done.by) << std::string_view(done.why) << num);
    wake(c, {&num, 1});
}

outcome<completion_answer> postgres_store::complete(completion const& what)
{
    auto told = completion_answer::unknown;
    auto const done = db_.write("complete", db_.patience(), [&](transaction& t) {
        t.c.run("select 1 from waitpoints where id = $1 for no key update", params{} << what.waitpoint.value);
        t.locked();
        auto const w = find_waitpoint(t.c, what.waitpoint);
        told = w ? detail::judge(w->row, what) : completion_answer::unknown;
        // Committed after all by a try of this very call.
        if (t.in_doubt && told == completion_answer::already_same && w->row.completed_at == what.at) told = completion_answer::completed;
        if (told != completion_answer::completed || w->row.status != waitpoint_status::pending) return t.quiet();
        complete_waitpoint(t.c, w->num, detail::completed_by(w->row, what));
    });
    if (!done) return done.error();
    if (told == completion_answer::completed) news_.concerns_everybody();
    return told;
}

namespace {

// What a scan may have to do, by kind, in one message. Run status waiting (3) or cancelling (6): a paused or held run keeps its wake rows
// until it is resumed, but a held one (5) that asks about itself is resumed by the decision. Wakes are few, and runs are many: `offset 0` keeps the planner from looking for the few among the many.
enum class work : std::int64_t { due_wait = 0, run = 1, late_wake = 2, expired_event = 3 };
constexpr auto open_work =
    "(select 0, w.num from waitpoints w join runs r on r.num = w.run where w.status = 0 and w.due_at <= $1"
    " and w.due_at < 9223372036854775807 and r.owner = 0 order by w.due_at limit $2) union all"
    " (select 1, r.num from (select distinct run from wakes offset 0) k cross join lateral (select * from runs where num = k.run offset 0) r"
    " where r.execution = 5 and r.owner = 0 and (r.status in (3, 6) or (r.status = 5 and r.reason like '{\"type\":\"intervention\"%' and exists"
    " (select 1 from wakes k2 join waitpoints w on w.num = k2.waitpoint where k2.run = r.num and w.purpose = 2))) limit $2) union all"
    " (select 1, num from runs where execution = 1 and due_at <= $1 order by due_at limit $2) union all"
    " (select 1, num from runs where deadline_at <= $1 and deadline_at < 9223372036854775807 and execution <> 7 and status <> 6 and owner = 0"
    " order by deadline_at limit $2) union all"
    " (select 2, r.num from (select distinct run from wakes offset 0) k cross join lateral (select * from runs where num = k.run offset 0) r"
    " where r.execution = 7 limit $2) union all"
    " (select 3, num from inbox where expires_at <= $1 and expires_at < 9223372036854775807 limit $2)";

static_assert(static_cast<int>(execution_status::delayed) == 1 && static_cast<int>(execution_status::suspended) == 5 &&
              static_cast<int>(execution_status::finished) == 7);
static_assert(static_cast<int>(run_status::waiting) == 3 && static_cast<int>(run_status::held) == 5 && static_cast<int>(run_status::cancelling) == 6);
static_assert(static_cast<int>(waitpoint_purpose::intervention) == 2 && detail::question_reason == R"({"type":"intervention")");

/// Queues a run whose wait is over, or that fell due, as it stands now; nothing for one that somebody took meanwhile.
std::optional<planned> plan_queueing(rows& r, time_point now)
{
    auto const row = read_run(r);
    auto const last = as<seq_no>(r.number(last_seq_column));
    if (row.owner != owner_id::nobody) return std::nullopt;
    if (!r.is_null(last_seq_column + 1) && (detail::parks(row.status) || detail::is_held_by_question(row)))
        return planned{row, last, detail::plan_unblock(row, r.time(last_seq_column + 1), now), next(row.epoch), owner_id::nobody};
    if (row.status.execution == execution_status::delayed && row.due_at <= now)
        return planned{row, last, detail::plan_fall_due(row, now), row.epoch, owner_id::nobody};  // nobody has held it: nobody to fence
    if (row.deadline_at <= now && !is_terminal(row.status.run) && row.status.run != run_status::cancelling)
        return planned{row, last, detail::plan_deadline(row, now), detail::epoch_for_request(row), owner_id::nobody};
    return std::nullopt;
}

}  // namespace

outcome<void> postgres_store::decide_due_waits(time_point now, std::vector<std::int64_t> const& due)
{
    return db_.write("scan", db_.patience(), [&](transaction& t) {
        auto const nums = number_list(due);
        // The type never changes: read with the lock.
        auto const pending = all<std::pair<std::int64_t, waitpoint_type>>(
            t.c.simple("select num, type from waitpoints where num in (" + nums + ") and status = 0 order by num for no key update"),
            [](rows& r) { return std::pair(r.number(0), as<waitpoint_type>(r.number(1))); });
        t.locked();
        if (pending.empty()) return t.quiet();
        batch b(2);
        std::vector<std::int64_t> decided;
        for (auto const& [num, type] : pending) {
            b << num << number(detail::fate_when_due(type));
            decided.push_back(num);
        }
        auto values = b.arrays();
        t.c.run("update waitpoints w set status = n.status, completed_at = $3 from unnest($1::bigint[], $2::smallint[]) n(num, status)"
                " where w.num = n.num",
                values << now);
        wake(t.c, decided);
    });
}

outcome<std::size_t> postgres_store::scan(time_point now, std::size_t limit)
{
    auto const most = static_cast<std::int64_t>(std::min<std::size_t>(limit, 1'000'000));
    // Asked before anything is locked, so that an idle scan disturbs nobody.
    std::vector<std::int64_t> due, runs, ended, expired;
    auto const ask = [&] {
        return db_.read([&](connection& c) {
            due.clear(), runs.clear(), ended.clear(), expired.clear();
            for (auto r = c.run(open_work, params{} << now << most); r.step();) {
                auto const kind = as<work>(r.number(0));
                (kind == work::due_wait ? due : kind == work::run ? runs : kind == work::late_wake ? ended : expired).push_back(r.number(1));
            }
        });
    };
    if (auto const asked = ask(); !asked) return asked.error();
    if (!due.empty()) {
        if (auto const decided = decide_due_waits(now, due); !decided) return decided.error();
        if (auto const again = ask(); !again) return again.error();  // whom they wake
    }
    if (!expired.empty())
        if (auto const gone = db_.write("scan", db_.patience(), [&](transaction& t) {
                t.locked();
                t.c.simple("delete from inbox where num in (" + number_list(expired) + ")");
            });
            !gone)
            return gone.error();
    if (runs.empty() && ended.empty()) return std::size_t{0};

    std::size_t queued = 0;
    auto const done = db_.write("scan", db_.patience(), [&](transaction& t) {
        auto both = runs;
        both.insert(both.end(), ended.begin(), ended.end());
        t.c.simple("select 1 from runs where num = " + any_with_children(both, number_list(both)) + " order by num for no key update");
        t.locked();
        std::vector<planned> plans;
        if (!runs.empty()) {
            auto r = t.c.simple("select q.*, (select min(least(w.due_at, w.completed_at)) from wakes k join waitpoints w on w.num = k.waitpoint"
                                " where k.run = q.num and (q.status <> 5 or w.purpose = 2)) from (" +
                                select_runs_and_last("runs r where r.num in (" + number_list(runs) + ")") + ") q");
            while (r.step())
                if (auto p = plan_queueing(r, now)) plans.push_back(std::move(*p));
        }
        queued = plans.size();
        if (plans.empty()) t.quiet();
        auto const asked = add_children(t.c, plans, now);
        write_plans(t.c, plans, now);
        write_asked(t.c, asked);
        if (!ended.empty()) t.c.simple("delete from wakes where run in (" + number_list(ended) + ")");
    });
    if (!done) return done.error();
    if (queued > 0) news_.concerns_everybody();
    return queued;
}

outcome<std::vector<notice>> postgres_store::look(owner_id owner, std::size_t limit)
{
    static auto const wakes = select_waitpoints(
        "h.id", "runs h join wakes k on k.run = h.num join waitpoints w on w.num = k.waitpoint join runs o on o.num = w.run"
        " where h.owner = $1 and h.owner <> 0 limit $2");
    static auto const mails = select_requests("runs r join requests q on q.run = r.num and q.fate = 0 where r.owner = $1 and r.owner <> 0"
                                              " order by q.num limit $2");
    std::vector<notice> out;
    auto const most = static_cast<std::int64_t>(std::min<std::size_t>(limit, 1'000'000));
    auto const done = db_.read([&](connection& c) {
        out.clear();
        auto r = c.run(wakes, params{} << number(owner) << most);
        while (r.step()) out.push_back(woken{read_woken_run(r), read_waitpoint(r)});
        auto q = c.run(mails, params{} << number(owner) << most);
        while (out.size() < limit && q.step()) {
            auto what = read_request(q);
            out.push_back(mail{what.run, std::move(what)});
        }
    });
    if (!done) return done.error();
    return out;
}

outcome<time_point> postgres_store::next_due()
{
    auto due = never;
    auto const done = db_.read([&](connection& c) {
        due = never;
        auto r = c.run("select (select w.due_at from waitpoints w join runs r on r.num = w.run where w.status = 0 and"
                       " w.due_at < 9223372036854775807 and r.owner = 0 order by w.due_at limit 1),"
                       " (select min(due_at) from runs where execution = 1), (select deadline_at from runs where deadline_at <"
                       " 9223372036854775807 and execution <> 7 and status <> 6 and owner = 0 order by deadline_at limit 1)");
        r.step();
        for (int i : {0, 1, 2})
            if (!r.is_null(i)) due = std::min(due, r.time(i));
    });
    if (!done) return done.error();
    return due;
}

}  // namespace flow::postgres_detail
