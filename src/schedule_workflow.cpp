// The workflow of a schedule: decide, fire, publish, wait, and begin the next turn. All that a schedule keeps over crashes, restarts and
// pauses it keeps as any run does; so there is no table of schedules, and no code that looks after them.
#include <algorithm>
#include <utility>

#include "flow/as_outcome.hpp"
#include "flow/checkpoint.hpp"
#include "flow/child.hpp"
#include "flow/groups.hpp"
#include "flow/publish.hpp"
#include "flow/sleep.hpp"
#include "flow/step.hpp"
#include "flow/values.hpp"
#include "flow/wait_for_event.hpp"
#include "src/schedule.hpp"

namespace flow::detail {

namespace {

constexpr std::size_t most_back_at_once = 10'000;

class [[nodiscard]] start_by_name final : public start_run_base {
public:
    start_by_name(schedule_terms const& t, child_options o) : start_run_base(workflow_version{t.workflow, t.version}, t.arguments, t.arguments_shape, o) {}
    start_by_name(start_by_name&&) noexcept = default;
    run_id take() { return check(), id_; }
};

/// The end of a run, whatever it gave.
class [[nodiscard]] end_of_run final : public wait_base {
public:
    end_of_run(run_id which, wait_options o) : wait_base("end", end_of(which), o), child_(which) {}
    end_of_run(end_of_run&&) noexcept = default;
    void take() { check(); }
    outcome<void> accept(encoding, std::string_view) override { return {}; }
    std::string_view shape() const override { return {}; }
    std::optional<run_id> child_run() const noexcept override { return child_; }

private:
    run_id child_;
};

workflow<void> until_over(run_id which)
{
    auto const ended = co_await as_outcome(end_of_run(which, {}));
    static_cast<void>(ended);
}

workflow<void> until_due(std::optional<time_point> next)
{
    // `never` is a wait like any other: what else may come ends it.
    auto const at = next.value_or(never);
    co_await sleep_until(at);
}

/// Has it ended by now?
workflow<bool> is_over(run_id which)
{
    wait_options now_or_never;
    now_or_never.timeout = duration::zero();
    auto const ended = co_await as_outcome(end_of_run(which, now_or_never));
    co_return ended.has_value() || ended.error().code() != errc::wait_timeout;
}

/// Starts the run for one instant. An instant is fired once, whoever asks for it and how often.
workflow<schedule_state> fire(schedule_state s, time_point at)
{
    auto const key = "schedule/" + s.terms.name + "/" + to_string(at);
    auto const tags = "schedule:" + s.terms.name;
    child_options o;
    o.on_close = close_policy::abandon;
    o.idempotency_key = key;
    o.tags = tags;
    auto const started = co_await as_outcome(start_by_name(s.terms, o));
    if (started) {
        ++s.fired;
        s.last = std::max(at, s.last.value_or(at));
        s.last_run = *started;
        s.running = s.terms.overlap != overlap_policy::allow;
        s.trouble.clear();
    } else if (started.error().code() != errc::start_conflict) {
        s.trouble = started.error().message();
        ++s.left_out;
    }
    co_return s;
}

void obey(schedule_state& s, schedule_command const& c, time_point now)
{
    if (c.change) {
        s.terms = *c.change;
        s.seen = std::max(s.seen, now);
        s.trouble.clear();
    }
    if (!c.back) return;
    auto all = firings_between(s.terms, c.back->first, std::min(c.back->second, now), most_back_at_once);
    if (!all) s.trouble = all.error().message();
    else s.owed.insert(s.owed.end(), all->begin(), all->end());
}

}  // namespace

workflow<void> fires(schedule_terms first)
{
    auto s = co_await state<schedule_state>();
    auto const now = co_await flow::now();
    if (!s.begun) s = {.begun = true, .terms = std::move(first), .seen = now, .last = {}, .last_run = {}, .buffered = {}, .owed = {}, .trouble = {}};
    if (s.running) s.running = !co_await is_over(*s.last_run);

    // In a step, because the data of time zones may be another's when this is replayed.
    auto const turn = co_await step("turn", replayable, [&] { return turn_at(s, now); }, {.inline_ = true});
    s.seen = turn.seen;
    s.left_out += turn.left_out;
    s.buffered = turn.buffered;
    if (!turn.trouble.empty()) s.trouble = turn.trouble;
    auto const back = std::min(s.owed.size(), most_a_turn);
    std::vector<time_point> firing(s.owed.begin(), s.owed.begin() + static_cast<std::ptrdiff_t>(back));
    s.owed.erase(s.owed.begin(), s.owed.begin() + static_cast<std::ptrdiff_t>(back));
    firing.insert(firing.end(), turn.fire.begin(), turn.fire.end());
    for (auto const at : firing) s = co_await fire(s, at);

    schedule_news const news{s, turn.next};
    co_await publish(schedule_key, news);
    if (!s.owed.empty()) co_await checkpoint(s);
    if (!turn.next && !s.buffered) co_return;

    std::optional<schedule_command> told;
    if (s.running) {
        auto const woken = co_await any(until_due(turn.next), wait_for_event<schedule_command>(schedule_topic), until_over(*s.last_run));
        if (woken.index() == 1) told = std::get<1>(woken);
        if (woken.index() == 2) s.running = false;
    } else {
        auto const woken = co_await any(until_due(turn.next), wait_for_event<schedule_command>(schedule_topic));
        if (woken.index() == 1) told = std::get<1>(woken);
    }
    if (told) {
        auto const heard = co_await flow::now();
        auto const obeyed = co_await step("obey", replayable, [&] { auto then = s; obey(then, *told, heard); return then; }, {.inline_ = true});
        s = obeyed;
    }
    co_await checkpoint(s);
}

}  // namespace flow::detail
