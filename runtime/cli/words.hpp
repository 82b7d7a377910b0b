// How statuses look, and the commands that answer an open wait.
#pragma once

#include <string>
#include <string_view>

#include "flow/inspect.hpp"
#include "runtime/cli/verbs.hpp"

namespace flow::cli {

style style_of(run_status s) noexcept;
style style_of(step_status s) noexcept;
/// One column wide.
std::string_view mark_of(step_status s) noexcept;

/// `sentence` of a view, with what is to be typed here in place of "flow".
std::string as_typed_here(session const& s, std::string sentence);
/// What to type for a token or an intervention; JSON and CHOICE stand for what is to be filled in.
std::string answer_command(session const& s, open_wait const& o);

}  // namespace flow::cli
