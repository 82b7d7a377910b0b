// What a client does with schedules. A schedule is a run of the workflow "flow.schedule" (src/schedule_workflow.cpp), found by its key
// "flow.schedule/NAME/GENERATION"; how it stands is what that run publishes.
#include <algorithm>
#include <map>
#include <utility>

#include "flow/client.hpp"
#include "flow/store_reader.hpp"
#include "runtime/engine/client_core.hpp"
#include "src/names.hpp"
#include "src/schedule.hpp"

namespace flow {

namespace {

constexpr std::string_view key_prefix = "flow.schedule/";

std::string key_of(std::string_view name, int generation)
{
    return std::string(key_prefix) + std::string(name) + '/' + std::to_string(generation);
}
std::string name_in(std::string_view key)
{
    key.remove_prefix(std::min(key.size(), key_prefix.size()));
    return std::string(key.substr(0, key.rfind('/')));
}

struct found_schedule {
    int generation = 0;  ///< 0: there is none of this name
    run_row row;
};
found_schedule newest_of(store_reader& reader, std::string_view name)
{
    found_schedule found;
    while (auto row = reader.run_by_key({}, key_of(name, found.generation + 1)).value()) found = {found.generation + 1, std::move(*row)};
    return found;
}

using first_arguments = std::tuple<detail::schedule_terms, std::uint64_t>;
// Commands that a paused schedule has not heard: as many as its inbox takes.
constexpr std::size_t most_unheard = 10'000;

template <class T>
T decoded(encoding how, std::string_view text)
{
    T value{};
    detail::decode(how, text, value).value();
    return value;
}

/// What it has published, or what it was started with.
detail::schedule_news news_of(client& on, run_id id)
{
    if (auto known = on.published<detail::schedule_news>(id, detail::schedule_key)) return std::move(*known);
    auto const start = on.data().journal(id, seq_no::none, 1).value();
    if (start.empty()) throw error(errc::store_corrupt, "run " + to_string(id) + " has no entries");
    auto const& e = start.front();
    detail::schedule_news first;
    std::tie(first.state.terms, first.state.fired) =
        decoded<first_arguments>(e.encoding, e.in_blob ? on.data().load_blob(e.hash).value() : e.payload);
    return first;
}

/// With what is on its way to it.
detail::schedule_state state_of(client& on, run_id id)
{
    auto state = news_of(on, id).state;
    event_filter pending;
    pending.run = id;
    pending.topic = detail::schedule_topic;
    pending.limit = most_unheard;
    for (auto const fate : {event_fate::given, event_fate::kept}) {  // what ended its wait came before what is kept behind it
        pending.fate = fate;
        for (auto const& e : on.events(pending))
            if (auto const told = decoded<detail::schedule_command>(encoding::json, e.what.payload); told.change) state.terms = *told.change;
    }
    return state;
}

schedule_row row_of(client& on, run_row const& run)
{
    auto const news = news_of(on, run.id);
    auto const& s = news.state;
    schedule_row row{s.terms.name,    run.id,  run.status,    s.terms.workflow, s.terms.arguments,        s.terms.when, s.terms.overlap,
                     s.terms.catch_up, news.next, s.last, s.last_run,       s.buffered.has_value(), s.fired,      s.left_out, s.trouble};
    if (is_terminal(run.status.run)) row.next.reset();
    return row;
}

run_row existing(store_reader& reader, std::string_view name)
{
    auto found = newest_of(reader, name);
    if (found.generation > 0) return std::move(found.row);
    throw error(errc::unknown_run, "no schedule \"" + detail::printable(name, 100) + "\" in this store; client::schedules() and `flow schedules` list them");
}

}  // namespace

any_run_handle client::schedule(std::string_view name, timing const& when, std::string_view workflow, args const& arguments, schedule_options options)
{
    detail::check_name(workflow);
    return schedule_encoded(name, when, {std::string(workflow), options.version}, detail::compact_json(arguments.text()).value(), arguments.shape(),
                            options);
}

any_run_handle client::schedule_encoded(std::string_view name, timing const& when, workflow_version workflow, std::string arguments,
                                        std::string_view arguments_shape, schedule_options const& o)
{
    detail::schedule_terms const terms{std::string(name), when,    o.overlap,         o.catch_up,         o.grace,
                                       o.limit,           o.until, workflow.workflow, workflow.version,   std::move(arguments),
                                       std::string(arguments_shape)};
    // Somebody else may declare it, or it may end, between what is read here and what is written.
    for (int again = 0;; ++again) {
        auto const there = newest_of(core_->data->reader(), name);
        auto const state = there.generation > 0 ? std::optional(state_of(*this, there.row.id)) : std::nullopt;
        auto const what = detail::declare(state ? &*state : nullptr, there.row.status.run, terms);
        if (what == detail::declaration::leave) return {core_, there.row.id};
        detail::check_terms(terms, core_->time().now()).value();
        try {
            if (what == detail::declaration::change) {
                detail::schedule_command const change{terms, {}};
                event_options told;
                told.by = o.by;
                send_json(there.row.id, detail::schedule_topic, encoded(change), told);
                return {core_, there.row.id};
            }
            auto const key = key_of(name, there.generation + 1);
            start_options how;
            how.idempotency_key = key;
            how.by = o.by;
            first_arguments const first{terms, state ? state->fired : 0};
            return core_->start({detail::schedule_workflow, 1}, encoded(first), detail::shape_of<first_arguments>(), how);
        } catch (error const& e) {
            if (again == 3 || (e.code() != errc::run_ended && e.code() != errc::start_conflict)) throw;
        }
    }
}

std::vector<schedule_row> client::schedules()
{
    std::map<std::string, run_row> newest;  // the first seen of a name: runs come newest first
    run_filter which;
    which.workflow = detail::schedule_workflow;
    for (auto const& r : core_->all_runs(which).value()) newest.try_emplace(name_in(r.key), r);
    std::vector<schedule_row> all;
    for (auto const& [_, run] : newest) all.push_back(row_of(*this, run));
    return all;
}

schedule_row client::schedule_of(std::string_view name)
{
    return row_of(*this, existing(core_->data->reader(), name));
}

std::size_t client::backfill(std::string_view name, time_point from, time_point to)
{
    auto const run = existing(core_->data->reader(), name).id;
    if (to > core_->time().now()) throw error(errc::bad_argument, "a schedule is filled back up to now at most, not up to " + to_string(to));
    auto const count = detail::firings_between(news_of(*this, run).state.terms, from, to, detail::most_back).value().size();
    if (count == 0) return 0;
    detail::schedule_command const back{{}, std::pair(from, to)};
    send_json(run, detail::schedule_topic, encoded(back));
    return count;
}

}  // namespace flow
