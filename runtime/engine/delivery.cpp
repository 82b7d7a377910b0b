// Events as a client sends them.
#include "runtime/engine/delivery.hpp"

#include "flow/client.hpp"
#include "runtime/engine/client_core.hpp"
#include "src/events.hpp"
#include "src/names.hpp"

namespace flow {

namespace detail {

void check_delivered(delivered const& told, event const& e, std::optional<run_id> to)
{
    auto const about = "event \"" + printable(e.topic, 256) + "\"" + (to ? " for run " + to_string(*to) : " about " + printable(e.correlation, 200));
    switch (told.answer) {
    case delivery_answer::matched:
    case delivery_answer::kept:
    case delivery_answer::duplicate: return;
    case delivery_answer::unfit:
        if (e.only_if_awaited) throw error(errc::wrong_shape, about + ": who waits for it wants " + told.wanted);
        return;
    case delivery_answer::conflict: throw error(errc::event_conflict, about + " was sent before under the same id, with another value");
    case delivery_answer::not_awaited: throw error(errc::event_not_awaited, "nobody waits for " + about + "; `flow show` tells what a run waits for");
    case delivery_answer::inbox_full:
        throw error(errc::inbox_full, std::to_string(inbox_limit) + " events of topic \"" + printable(e.topic, 256) + "\" wait for somebody to want them; `flow events` lists them");
    case delivery_answer::unknown_run: throw error(errc::unknown_run, "no run " + to_string(*to) + " in this store");
    case delivery_answer::run_ended: throw error(errc::run_ended, "run " + to_string(*to) + " has ended: " + about + " was not taken");
    }
}

event client_core::make_event(std::string_view topic, std::string_view correlation, std::string_view json, event_options const& o) const
{
    check_name(topic);
    if (o.keep < duration::zero()) throw error(errc::bad_argument, "an event is kept for some time: `keep` is not negative");
    auto const keep = o.keep == duration::zero() ? duration(std::chrono::hours{24 * 7}) : o.keep;
    event e;
    e.topic = topic;
    e.correlation = correlation;
    e.payload = compact_json(json).value();
    e.by = o.by.empty() ? by : std::string(o.by);
    e.at = clock_.now();
    e.expires_at = keep > duration::max() - e.at.time_since_epoch() ? never : e.at + keep;
    e.only_if_awaited = o.only_if_awaited;
    return e;
}

event_id client_core::id_for(event const& e, std::string_view name) const
{
    return name.empty() ? event_id{new_uuid4()} : id_of_event(e.topic, e.correlation, name);
}

}  // namespace detail

delivered client::deliver(event e, event_options const& options)
{
    e.id = core()->id_for(e, options.id);
    auto told = core()->insist([&] { return data().deliver(e); }).value();
    detail::check_delivered(told, e, e.run);
    core()->look();
    return told;
}

delivered client::send_event_json(std::string_view topic, std::string_view correlation, std::string_view json, event_options options)
{
    detail::check_correlation(correlation, "send_event \"" + detail::printable(topic, 256) + "\"");
    return deliver(core()->make_event(topic, correlation, json, options), options);
}

delivered client::send_json(run_id run, std::string_view topic, std::string_view json, event_options options)
{
    if (options.keep == duration::zero()) options.keep = duration::max();
    return deliver(detail::told_to(core()->make_event(topic, {}, json, options), run), options);
}

std::vector<event_row> client::events(event_filter const& which) { return data().reader().events(which).value(); }

}  // namespace flow
