#include "src/events.hpp"

#include <algorithm>

#include "flow/codec.hpp"
#include "flow/error.hpp"
#include "src/names.hpp"

namespace flow::detail {

bool fits(waitpoint_row const& wait, std::string_view payload)
{
    bool const strict = wait.options.find("\"strict\":true") != std::string::npos;
    return check_shape(payload, wait.shape, strict).has_value();
}

waitpoint_row ended_by(waitpoint_row wait, event const& e, time_point at)
{
    wait.status = waitpoint_status::completed;
    wait.completed_at = at;
    wait.output = e.payload;
    wait.output_encoding = encoding::json;
    wait.by = e.by;
    wait.why = to_string(e.id);
    return wait;
}

event told_to(event e, run_id run)
{
    e.run = run;
    e.correlation = to_string(run);
    return e;
}

delivery_answer judge(event const& e, inbox_facts const& f)
{
    using enum delivery_answer;
    if (f.told_before) return *f.told_before == sha256(e.payload) ? duplicate : conflict;
    if (e.run && !f.addressee) return unknown_run;
    if (e.run && is_terminal(*f.addressee)) return run_ended;
    if (f.fits) return matched;
    if (e.only_if_awaited) return f.is_awaited ? unfit : not_awaited;
    if (f.kept >= inbox_limit) return inbox_full;
    return f.is_awaited ? unfit : kept;
}

void check_correlation(std::string_view correlation, std::string const& who)
{
    constexpr std::size_t longest = 1024;
    if (!correlation.empty() && correlation.size() <= longest) return;
    throw error(errc::bad_argument, who + " was given a correlation of " + std::to_string(correlation.size()) + " bytes; it has 1 to " + std::to_string(longest));
}

event_id id_of_event(std::string_view topic, std::string_view correlation, std::string_view name)
{
    // Lengths first, so that no two triples are spelt alike.
    auto const text = std::to_string(topic.size()) + ' ' + std::to_string(correlation.size()) + ' ' + std::string(topic) +
                      std::string(correlation) + std::string(name);
    auto const hash = sha256(text);
    uuid id;
    std::copy_n(hash.bytes.begin(), id.bytes.size(), id.bytes.begin());
    return {id};
}

std::string send_command(waitpoint_row const& wait)
{
    auto const own = to_string(wait.run);
    return "flow send " + shell_word(wait.name) + " JSON " + (wait.correlation == own ? "--run " + own : "--about " + shell_word(wait.correlation));
}

}  // namespace flow::detail
