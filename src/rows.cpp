#include "flow/rows.hpp"

namespace flow {

std::string_view to_string(waitpoint_type t) noexcept
{
    switch (t) {
    case waitpoint_type::datetime: return "datetime";
    case waitpoint_type::manual: return "manual";
    case waitpoint_type::run: return "run";
    case waitpoint_type::event: return "event";
    }
    return "?";
}

std::string_view to_string(waitpoint_status s) noexcept
{
    switch (s) {
    case waitpoint_status::pending: return "pending";
    case waitpoint_status::completed: return "completed";
    case waitpoint_status::timed_out: return "timed_out";
    case waitpoint_status::withdrawn: return "withdrawn";
    }
    return "?";
}

std::string_view to_string(waitpoint_purpose p) noexcept
{
    switch (p) {
    case waitpoint_purpose::timer: return "timer";
    case waitpoint_purpose::token: return "token";
    case waitpoint_purpose::intervention: return "intervention";
    case waitpoint_purpose::approval: return "approval";
    case waitpoint_purpose::child: return "child";
    case waitpoint_purpose::event: return "event";
    }
    return "?";
}

std::string_view to_string(close_policy p) noexcept
{
    switch (p) {
    case close_policy::cancel: return "cancel";
    case close_policy::abandon: return "abandon";
    case close_policy::request_cancel: return "request_cancel";
    case close_policy::detached: return "detached";
    }
    return "?";
}

std::string_view to_string(request_kind k) noexcept
{
    switch (k) {
    case request_kind::cancel: return "cancel";
    case request_kind::resume: return "resume";
    case request_kind::pause: return "pause";
    case request_kind::raise: return "raise";
    case request_kind::accept: return "accept";
    }
    return "?";
}

std::string_view to_string(request_fate f) noexcept
{
    switch (f) {
    case request_fate::left_to_holder: return "left_to_holder";
    case request_fate::taken: return "taken";
    case request_fate::ended_before: return "ended_before";
    case request_fate::refused: return "refused";
    case request_fate::unknown_run: return "unknown_run";
    }
    return "?";
}

}  // namespace flow
