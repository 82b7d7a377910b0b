#include "src/texts.hpp"

namespace flow::detail::texts {

std::string timed_out(std::string const& place, time_span limit)
{
    return place + " did not return within " + std::to_string(limit.get().count()) + " ms";
}
std::string looks_again(std::string const& place, time_point at)
{
    return place + " says \"not yet\": it looks again at " + to_string(at) + ".";
}
std::string never_came(std::string const& place, std::string_view last_failure)
{
    return "what " + place + " waits for did not come within its time limit" +
           (last_failure.empty() ? "" : "; the last look failed: " + std::string(last_failure));
}
std::string not_completed(std::string const& place) { return "nobody completed " + place + " in time"; }
std::string silent(std::string const& place, duration silence)
{
    return "there was no sign of life of " + place + " for " +
           std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(silence).count()) + " ms";
}
std::string too_large(std::string const& place, std::size_t bytes, std::size_t limit)
{
    return "the output of " + place + " has " + std::to_string(bytes) + " bytes; the limit is " + std::to_string(limit);
}
std::string in_doubt(std::string const& place, std::string const& why)
{
    return "It is not known whether " + place + " happened" +
           (why.empty() ? ": the process ended between its intent and its outcome." : ": " + why);
}
std::string unstorable(std::string const& place)
{
    return place + " happened, but its output could not be stored. Give its output, or skip it.";
}
std::string abandoned(std::string const& place)
{
    return "It is not known whether " + place + " happened; it was given up when the run was cancelled.";
}
std::string damaged(std::string const& place, std::string const& seq)
{
    return "The stored output of " + place + " (entry " + seq + ") is damaged. It is not run again: give its output.";
}
std::string differs(std::string const& place)
{
    return "The stored output of " + place + " was damaged, and running it again gave another one. What follows was built on "
           "the old one and has acted outside: keep it, or repeat it.";
}

waitpoint_row intervention_waitpoint(run_id run, intervention_payload const& p, std::string const& place, time_point now)
{
    waitpoint_row w;
    w.id = p.waitpoint;
    w.run = run;
    w.type = waitpoint_type::manual;
    w.purpose = waitpoint_purpose::intervention;
    w.name = "decide";
    w.place = place;
    w.created_at = now;
    w.options = write_payload(p);
    return w;
}

wait_reason asks(intervention_payload const& p, std::string const& place, time_point since)
{
    wait_reason r;
    r.type = wait_reason::kind::intervention;
    r.id = to_string(p.waitpoint);
    r.name = place;
    r.detail = p.question;
    r.since = since;
    return r;
}

}  // namespace flow::detail::texts
