#include "runtime/cli/words.hpp"

#include "src/events.hpp"

namespace flow::cli {

style style_of(run_status s) noexcept
{
    using enum run_status;
    switch (s) {
    case succeeded: return style::good;
    case failed:
    case timed_out:
    case expired:
    case held: return style::bad;
    case waiting:
    case paused:
    case cancelling: return style::busy;
    case running: return style::strong;
    default: return style::plain;
    }
}

style style_of(step_status s) noexcept
{
    switch (s) {
    case step_status::completed: return style::good;
    case step_status::failed: return style::bad;
    case step_status::running: return style::busy;
    default: return style::dim;
    }
}

std::string_view mark_of(step_status s) noexcept
{
    switch (s) {
    case step_status::completed: return "✓";
    case step_status::failed: return "✗";
    case step_status::running: return "▸";
    case step_status::skipped: return "–";
    case step_status::pending: break;
    }
    return "·";
}

std::string as_typed_here(session const& s, std::string sentence)
{
    constexpr std::string_view program = "flow ";
    if (sentence.starts_with(program)) sentence.replace(0, program.size() - 1, s.asked.typed);
    return sentence;
}

std::string answer_command(session const& s, open_wait const& o)
{
    auto const id = to_string(o.row.id);
    if (o.row.purpose == waitpoint_purpose::event) return as_typed_here(s, detail::send_command(o.row));
    if (o.row.purpose == waitpoint_purpose::token) return s.asked.typed + " complete " + id + " JSON";
    if (o.row.purpose == waitpoint_purpose::approval)
        return s.asked.typed + " approve " + id + (o.row.shape == "void" ? "" : " --value JSON") + " --by NAME   (or reject)";
    return s.asked.typed + " decide " + id + " CHOICE";
}

}  // namespace flow::cli
