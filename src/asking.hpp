// Questions to people: what decides them. Pure; stores write what is decided here under their locks.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flow/responses.hpp"
#include "flow/rows.hpp"

#pragma GCC visibility push(default)

namespace flow::detail {

/// shape_in of the entries of a wait for people; those of other waits have it not.
inline constexpr std::string_view question_mark = "ask";

/// As the options of a waitpoint hold them.
std::string write_terms(question_terms const& t);
std::optional<question_terms> read_terms(std::string_view options);

struct judged_response {
    responded told;
    std::string output;  ///< of `decided`: what completes the waitpoint
};
/// What an answer finds; `before`: the answers to this question so far, in their order. `counted` and `decided`: it is to be written.
judged_response judge(waitpoint_row const& w, std::span<response const> before, response const& r);

constexpr bool is_written(response_answer a) noexcept { return a == response_answer::decided || a == response_answer::counted; }

/// The waitpoint, once it is decided by this answer.
waitpoint_row decided_by(waitpoint_row w, response const& r, std::string output);

/// The answer where nobody decided in time; nothing: there is none.
std::optional<std::string> default_answer(question_terms const& t);

/// Who may answer at that instant; empty: everybody.
std::vector<std::string> asked_at(question_terms const& t, time_point now);
/// Where it is to be shown at that instant.
std::string_view channel_at(question_terms const& t, time_point now);

/// "2 of ann, bob, cy", "somebody".
std::string who_decides(question_terms const& t);

}  // namespace flow::detail

#pragma GCC visibility pop
