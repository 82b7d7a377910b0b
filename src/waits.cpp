#include "src/waits.hpp"

namespace flow::detail {

completion_answer judge(waitpoint_row const& w, completion const& what)
{
    // First of all, so that without the secret nothing is learnt.
    if (what.secret_hash && (w.secret_hash.is_none() || *what.secret_hash != w.secret_hash))
        return completion_answer::wrong_secret;
    if (w.type != waitpoint_type::manual || w.purpose == waitpoint_purpose::approval) return completion_answer::not_permitted;
    switch (w.status) {
    case waitpoint_status::pending: break;
    case waitpoint_status::timed_out: return completion_answer::timed_out;
    case waitpoint_status::withdrawn: return completion_answer::withdrawn;
    case waitpoint_status::completed:
        return w.output == what.output && w.output_encoding == what.encoding && w.output_is_error == what.is_error
                   ? completion_answer::already_same
                   : completion_answer::already_other;
    }
    return completion_answer::completed;
}

waitpoint_row completed_by(waitpoint_row w, completion const& what)
{
    w.status = waitpoint_status::completed;
    w.completed_at = what.at;
    w.output = what.output;
    w.output_encoding = what.encoding;
    w.output_is_error = what.is_error;
    w.by = what.by;
    w.why = what.why;
    return w;
}

namespace {

waitpoint_row row_of(run_id run, waitpoint_id id, waitpoint_type type, waitpoint_purpose purpose, std::string_view name, std::string_view place, time_point now)
{
    waitpoint_row w;
    w.id = id;
    w.run = run;
    w.type = type;
    w.purpose = purpose;
    w.name = name;
    w.place = place;
    w.created_at = now;
    return w;
}

}  // namespace

waitpoint_row token_row(run_id run, waitpoint_id id, position const& at, std::string_view name, std::string_view shape, bool strict, time_point now)
{
    auto w = row_of(run, id, waitpoint_type::manual, waitpoint_purpose::token, name, at.place, now);
    w.shape = shape;
    w.options = strict ? R"({"strict":true})" : "";
    return w;
}

waitpoint_row timer_row(run_id run, waitpoint_id id, std::string_view name, std::string_view place, time_point due_at, time_point now)
{
    auto w = row_of(run, id, waitpoint_type::datetime, waitpoint_purpose::timer, name, place, now);
    w.due_at = due_at;
    return w;
}

waitpoint_status fate_when_due(waitpoint_type type) noexcept
{
    return type == waitpoint_type::datetime ? waitpoint_status::completed : waitpoint_status::timed_out;
}

}  // namespace flow::detail
