// complete(), scan(), look(), next_due(): the fate of waitpoints, and who is woken by it (protocol P35 to P38).
#include <algorithm>

#include "runtime/store/sqlite/changes.hpp"
#include "runtime/store/sqlite/claims.hpp"
#include "runtime/store/sqlite/events.hpp"
#include "runtime/store/sqlite/rows.hpp"
#include "runtime/store/sqlite/sqlite_store.hpp"
#include "src/waits.hpp"

namespace flow::sqlite_detail {

namespace {

std::vector<std::int64_t> numbers(rows&& r)
{
    std::vector<std::int64_t> out;
    while (r.step()) out.push_back(r.number(0));
    return out;
}

// Of a run r and a waitpoint w that is decided: the run is called back. Waiting (3) or cancelling (6); a paused or held run keeps its wake
// rows until it is resumed, but a held one (5) that asks about itself is resumed by the decision.
#define IS_CALLED_BACK " r.execution = 5 and r.owner = 0 and (r.status in (3, 6) or" \
                       " (r.status = 5 and w.purpose = 2 and r.reason like '{\"type\":\"intervention\"%'))"

/// Runs that stand still for this waitpoint and nobody holds; the rest of very many is left to scans.
std::vector<std::int64_t> suspended_by(connection& c, std::int64_t waitpoint)
{
    return numbers(std::move(c.prepare("select r.num from edges e cross join runs r on r.num = e.run cross join waitpoints w on w.num = e.waitpoint"
                                       " where e.waitpoint = ? and" IS_CALLED_BACK " limit 100")
                             << waitpoint));
}

}  // namespace

void end_wait(connection& c, std::int64_t num, waitpoint_row const& done)
{
    (c.prepare("update waitpoints set status = ?, completed_at = ?, output = ?, output_encoding = ?, output_is_error = ?,"
               " by = ?, why = ? where num = ? and status = 0")
     << number(done.status) << done.completed_at << std::string_view(done.output) << number(done.output_encoding)
     << std::int64_t{done.output_is_error} << std::string_view(done.by) << std::string_view(done.why) << num)
        .run();
    wake(c, num);
}

std::vector<run_row> complete_waitpoint(connection& c, std::int64_t num, waitpoint_row const& done)
{
    end_wait(c, num, done);
    std::vector<run_row> queued;
    for (auto const run : suspended_by(c, num)) queued.push_back(queue_woken(c, run, done.completed_at, done.completed_at));
    return queued;
}

outcome<completion_answer> sqlite_store::complete(completion const& what)
{
    auto const done = complete_and_claim(what, {owner_id::nobody, {}, 0, what.at});
    if (!done) return done.error();
    return done->answer;
}

outcome<completed> sqlite_store::complete_and_claim(completion const& what, claim_request const& takes)
{
    completed told;
    auto const done = db_.write(
        "complete", db_.patience(),
        [&](connection& c) {
            auto const w = find_waitpoint(c, what.waitpoint);
            told = {w ? detail::judge(w->row, what) : completion_answer::unknown, {}};
            if (told.answer != completion_answer::completed) return;
            for (auto& row : complete_waitpoint(c, w->num, detail::completed_by(w->row, what))) {
                if (told.runs.size() < takes.limit && wants(takes, row)) told.runs.push_back(take(c, std::move(row), takes));
            }
        },
        [&](connection& c) {
            if (told.answer != completion_answer::completed) return true;
            auto const w = find_waitpoint(c, what.waitpoint);
            return w && detail::judge(w->row, what) == completion_answer::already_same && stands(c, told.runs);
        });
    if (!done) return done.error();
    return told;
}

namespace {

constexpr auto due_waits =
    "select w.num, w.type from waitpoints w cross join runs r on r.num = w.run"
    " where w.status = 0 and w.due_at <= ? and w.due_at < 9223372036854775807 and r.owner = 0 order by w.due_at limit ?";
constexpr auto due_runs = "select num from runs where execution = 1 and due_at <= ? order by due_at limit ?";
// Nobody holds them, and they neither have ended nor clean up.
#define MAY_EXPIRE " from runs where deadline_at < 9223372036854775807 and execution <> 7 and status <> 6 and owner = 0"
constexpr auto overdue_runs = "select num" MAY_EXPIRE " and deadline_at <= ? order by deadline_at limit ?";
constexpr auto next_overdue = "select deadline_at" MAY_EXPIRE " order by deadline_at limit 1";
#undef MAY_EXPIRE
// A wait is over when it fell due, not when a scan came to it.
constexpr auto woken_runs =
    "select r.num, min(min(w.due_at, w.completed_at)) from wakes k cross join runs r on r.num = k.run cross join waitpoints w on"
    " w.num = k.waitpoint where" IS_CALLED_BACK " group by k.run limit ?";
#undef IS_CALLED_BACK
constexpr auto ended_wakes = "select distinct r.num from wakes k cross join runs r on r.num = k.run where r.execution = 7 limit ?";

static_assert(static_cast<int>(execution_status::delayed) == 1 && static_cast<int>(execution_status::suspended) == 5 &&
              static_cast<int>(execution_status::finished) == 7);
static_assert(static_cast<int>(run_status::waiting) == 3 && static_cast<int>(run_status::held) == 5 && static_cast<int>(run_status::cancelling) == 6);
static_assert(static_cast<int>(waitpoint_purpose::intervention) == 2 && detail::question_reason == R"({"type":"intervention")");

/// Is there anything for a scan? Asked before the write lock is taken, so that an idle scan disturbs nobody.
bool has_work(connection& c, time_point now)
{
    std::int64_t const one = 1;
    return (c.prepare(due_waits) << now << one).step() || (c.prepare(due_runs) << now << one).step() ||
           (c.prepare(overdue_runs) << now << one).step() ||
           (c.prepare(woken_runs) << one).step() || (c.prepare(ended_wakes) << one).step() || has_expired_events(c, now);
}

void decide_due_waits(connection& c, time_point now, std::int64_t limit)
{
    std::vector<std::pair<std::int64_t, waitpoint_type>> due;
    {
        auto r = c.prepare(due_waits);
        r << now << limit;
        while (r.step()) due.emplace_back(r.number(0), as<waitpoint_type>(r.number(1)));
    }
    for (auto const& [num, type] : due) {
        (c.prepare("update waitpoints set status = ?, completed_at = ? where num = ? and status = 0")
         << number(detail::fate_when_due(type)) << now << num)
            .run();
        wake(c, num);
    }
}

/// With when their waits were over.
std::vector<std::pair<std::int64_t, time_point>> called_back(connection& c, std::int64_t limit)
{
    auto r = c.prepare(woken_runs);
    r << limit;
    std::vector<std::pair<std::int64_t, time_point>> out;
    while (r.step()) out.emplace_back(r.number(0), r.time(1));
    return out;
}

}  // namespace

outcome<std::size_t> sqlite_store::scan(time_point now, std::size_t limit)
{
    bool work = false;
    if (auto const asked = db_.read([&](connection& c) { work = has_work(c, now); }); !asked) return asked.error();
    if (!work) return std::size_t{0};

    std::size_t queued = 0;
    auto const most = static_cast<std::int64_t>(std::min<std::size_t>(limit, 1'000'000));
    auto const done = db_.write(
        "scan", db_.patience(),
        [&](connection& c) {
            queued = 0;
            decide_due_waits(c, now, most);
            for (auto const& [num, due] : called_back(c, most)) {
                queue_woken(c, num, due, now);
                ++queued;
            }
            for (auto const num : numbers(std::move(c.prepare(due_runs) << now << most))) {
                auto row = find_run(c, num);
                // Nobody has held it: there is no former holder to fence.
                write_plan(c, *row, detail::plan_fall_due(*row, now), row->epoch, owner_id::nobody, now);
                ++queued;
            }
            for (auto const num : numbers(std::move(c.prepare(overdue_runs) << now << most))) {
                auto row = find_run(c, num);
                // It went with a parent just now.
                if (is_terminal(row->status.run) || row->status.run == run_status::cancelling) continue;
                write_plan(c, *row, detail::plan_deadline(*row, now), detail::epoch_for_request(*row), owner_id::nobody, now);
                ++queued;
            }
            for (auto const num : numbers(std::move(c.prepare(ended_wakes) << most)))
                (c.prepare("delete from wakes where run = ?") << num).run();
            forget_events(c, now, most);
        },
        {});
    if (!done) return done.error();
    return queued;
}

outcome<std::vector<notice>> sqlite_store::look(owner_id owner, std::size_t limit)
{
    static auto const wakes = select_waitpoints(
        "h.id", "wakes k cross join runs h on h.num = k.run and h.owner = ?1 join waitpoints w on w.num = k.waitpoint"
        " join runs o on o.num = w.run limit ?2");
    static auto const mails = select_requests(
        "requests q indexed by requests_mail cross join runs r on r.num = q.run and r.owner = ?1 where q.fate = 0"
        " order by q.num limit ?2");

    std::vector<notice> out;
    auto const most = static_cast<std::int64_t>(std::min<std::size_t>(limit, 1'000'000));
    auto const done = db_.read([&](connection& c) {
        {
            auto r = c.prepare(wakes.c_str());
            r << number(owner) << most;
            while (r.step()) out.push_back(woken{read_woken_run(r), read_waitpoint(r)});
        }
        auto r = c.prepare(mails.c_str());
        r << number(owner) << most;
        while (r.step() && out.size() < limit) {
            auto q = read_request(r);
            out.push_back(mail{q.run, std::move(q)});
        }
    });
    if (!done) return done.error();
    return out;
}

outcome<time_point> sqlite_store::next_due()
{
    auto due = never;
    auto const done = db_.read([&](connection& c) {
        {
            auto r = c.prepare("select w.due_at from waitpoints w cross join runs r on r.num = w.run where w.status = 0 and"
                               " w.due_at < 9223372036854775807 and r.owner = 0 order by w.due_at limit 1");
            if (r.step()) due = r.time(0);
        }
        auto r = c.prepare("select min(due_at) from runs where execution = 1");
        if (r.step() && !r.is_null(0)) due = std::min(due, r.time(0));
        auto d = c.prepare(next_overdue);
        if (d.step()) due = std::min(due, d.time(0));
    });
    if (!done) return done.error();
    return due;
}

}  // namespace flow::sqlite_detail
