// What a schedule does at an instant: which firings start a run, which are left out, when it looks again. Decided from values alone; the
// workflow that carries it out is in schedule_workflow.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flow/schedule.hpp"
#include "flow/workflow.hpp"

namespace flow::detail {

/// The name under which every engine has the workflow of schedules.
inline constexpr char const* schedule_workflow = "flow.schedule";
/// What is told to a schedule's run, and what it publishes.
inline constexpr char const* schedule_topic = "flow.schedule";
inline constexpr char const* schedule_key = "schedule";

/// Journaled: fields are added at the end, with a default that means "as before".
struct schedule_terms {
    std::string name;
    timing when;
    overlap_policy overlap{};
    catch_up_policy catch_up{};
    duration grace{};
    std::uint64_t limit = 0;
    time_point until = never;
    std::string workflow;
    std::uint32_t version = 0;
    std::string arguments, arguments_shape;
    friend bool operator==(schedule_terms const&, schedule_terms const&) = default;
};

/// Told from outside.
struct schedule_command {
    std::optional<schedule_terms> change;                  ///< from now on
    std::optional<std::pair<time_point, time_point>> back;  ///< fire what lies in [first, second], whatever overlaps
};

/// Where it stands: what is carried from one turn to the next.
struct schedule_state {
    schedule_terms terms;                 ///< without a name: it has not begun
    time_point seen{};                    ///< what fell due up to here is done
    std::optional<time_point> last;
    std::optional<run_id> last_run;
    bool running = false;                 ///< last_run is not known to have ended
    std::optional<time_point> buffered;
    std::vector<time_point> owed;         ///< decided, not fired yet
    std::uint64_t fired = 0, left_out = 0;
    std::string trouble;

    bool has_fired_all() const noexcept { return terms.limit != 0 && fired >= terms.limit; }
};

/// Firings of one turn; the next follows at once.
inline constexpr std::size_t most_a_turn = 100;

struct schedule_turn {
    std::vector<time_point> fire;        ///< at most most_a_turn
    std::uint64_t left_out = 0;
    time_point seen{};
    std::optional<time_point> buffered;
    std::optional<time_point> next;      ///< look again then; nothing: nothing comes any more by the clock
    std::string trouble;                 ///< nothing could be decided; look again at `next`
};

/// bad_argument: why these terms are none. `now`: something must still come.
outcome<void> check_terms(schedule_terms const& terms, time_point now);

/// Of these terms, after `t`; nothing: none any more.
outcome<std::optional<time_point>> next_firing(schedule_terms const& terms, time_point t);

/// At most so many instants are filled back by one command.
inline constexpr std::size_t most_back = 10'000;

/// What is due at `now`. Never fails: where the time zone is not to be had, that is its trouble.
schedule_turn turn_at(schedule_state const& s, time_point now);

/// All instants in [from, to], at most `most`. bad_argument: there are more.
outcome<std::vector<time_point>> firings_between(schedule_terms const& terms, time_point from, time_point to, std::size_t most);

/// What was told, done to the state. Firings that fell due before a change, by the terms before it, are left out.
void obey(schedule_state& s, schedule_command const& told, time_point now);

/// What declaring a schedule does.
enum class declaration : std::uint8_t { leave, change, begin };
/// `there`: of the newest run of this name, with what is on its way to it; null: there is none.
declaration declare(schedule_state const* there, run_status status, schedule_terms const& terms);

/// "cron 0 9 * * * (Europe/Berlin)", "every 15min".
std::string text_of(timing const& t);

/// What a schedule publishes of itself.
struct schedule_news {
    schedule_state state;
    std::optional<time_point> next;
};

/// The workflow itself.
workflow<void> fires(schedule_terms first, std::uint64_t fired_before);

}  // namespace flow::detail
