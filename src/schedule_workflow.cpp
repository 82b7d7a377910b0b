// The workflow of a schedule: decide, fire, publish, wait, and begin the next turn. All that a schedule keeps over crashes, restarts and
// pauses it keeps as any run does; so there is no table of schedules, and no code that looks after them.
#include <algorithm>
#include <utility>
#include <variant>

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

/// A command that is there already.
workflow<std::optional<schedule_command>> command_here()
{
    wait_options now_or_never;
    now_or_never.timeout = duration::zero();
    auto const told = co_await as_outcome(wait_for_event<schedule_command>(schedule_topic, now_or_never));
    if (told) co_return *told;
    if (told.error().code() != errc::wait_timeout) raise(told.error());
    co_return std::nullopt;
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
        if (!s.last || at >= *s.last) {
            s.last = at;
            s.last_run = *started;
            s.running = true;
        }
        s.trouble.clear();
    } else if (started.error().code() != errc::start_conflict) {
        s.trouble = started.error().message();
        ++s.left_out;
    }
    co_return s;
}

/// Of an `any` whose first branch is a command.
template <class... Others>
std::optional<schedule_command> command_in(std::variant<schedule_command, Others...> const& first)
{
    return first.index() == 0 ? std::optional(std::get<0>(first)) : std::nullopt;
}

/// Waits for what comes first: an instant, a command, the end of the last run.
workflow<std::optional<schedule_command>> next_command(std::optional<time_point> due, std::optional<run_id> running)
{
    if (due && running) {
        auto const first = co_await any(wait_for_event<schedule_command>(schedule_topic), sleep_until(*due), until_over(*running));
        co_return command_in(first);
    }
    if (due) {
        auto const first = co_await any(wait_for_event<schedule_command>(schedule_topic), sleep_until(*due));
        co_return command_in(first);
    }
    auto const first = co_await any(wait_for_event<schedule_command>(schedule_topic), until_over(*running));
    co_return command_in(first);
}

}  // namespace

workflow<void> fires(schedule_terms first, std::uint64_t fired_before)
{
    auto s = co_await state<schedule_state>();
    auto const now = co_await flow::now();
    if (s.terms.name.empty()) {  // its first turn
        s.terms = std::move(first);
        s.seen = now;
        s.fired = fired_before;
    }
    bool const watches = s.terms.overlap != overlap_policy::allow;
    if (s.running && watches) s.running = !co_await is_over(*s.last_run);

    // In a step, because the data of time zones may be another's when this is replayed.
    auto const turn = co_await step("turn", replayable, [&] { return turn_at(s, now); }, {.inline_ = true});
    s.seen = turn.seen;
    s.left_out += turn.left_out;
    s.buffered = turn.buffered;
    if (!turn.trouble.empty()) s.trouble = turn.trouble;
    auto const back = static_cast<std::ptrdiff_t>(std::min(s.owed.size(), most_a_turn));
    std::vector<time_point> firing(s.owed.begin(), s.owed.begin() + back);
    s.owed.erase(s.owed.begin(), s.owed.begin() + back);
    firing.insert(firing.end(), turn.fire.begin(), turn.fire.end());
    for (auto const at : firing) {
        if (s.has_fired_all()) ++s.left_out;
        else s = co_await fire(s, at);
    }

    bool const ends = s.has_fired_all() || (!turn.next && !s.buffered && s.owed.empty());
    schedule_news const news{s, ends ? std::nullopt : turn.next};
    co_await publish(schedule_key, news);

    // Behind, or at its end, it looks for commands as well; otherwise it waits for one.
    bool const waits_for_end = s.running && watches;
    bool const behind = !s.owed.empty() || (turn.next && *turn.next <= now) || (s.buffered && !waits_for_end);
    std::optional<schedule_command> told;
    if (ends || behind) told = co_await command_here();
    else told = co_await next_command(turn.next, waits_for_end ? s.last_run : std::nullopt);
    if (told) {
        auto const heard = co_await flow::now();
        auto const obeyed = co_await step("obey", replayable, [&] { auto then = s; obey(then, *told, heard); return then; }, {.inline_ = true});
        s = obeyed;
    } else if (ends) {
        co_return;
    }
    co_await checkpoint(s);
}

}  // namespace flow::detail
