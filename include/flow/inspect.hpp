// What one can ask about a run: its view, made from its rows and its journal.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "flow/error.hpp"
#include "flow/ids.hpp"
#include "flow/journal.hpp"
#include "flow/responses.hpp"
#include "flow/rows.hpp"
#include "flow/status.hpp"
#include "flow/time.hpp"

#pragma GCC visibility push(default)

namespace flow {

/// One step of a run, as its entries tell it.
struct step_view {
    std::string place, name;
    effect cls = effect::none;
    step_status status = step_status::pending;
    int attempts = 0;
    time_point begun_at{}, ended_at{};
    std::string output;  ///< as stored; empty if it lies in a blob or is damaged
    flow::encoding output_encoding = flow::encoding::none;
    bool output_in_blob = false;
    bool output_damaged = false;  ///< it does not match `output_hash`
    digest output_hash;           ///< SHA-256 of the output's bytes; none before it is completed
    std::string error;  ///< of its last attempt that failed
    time_point next_at = never;  ///< when the next attempt begins, after one that failed
    std::string commit_ref;
    seq_no entry = seq_no::none;  ///< of its outcome
};

/// Something that happened to a run, as its journal tells it to people.
struct happening {
    seq_no entry{};
    time_point at{};
    std::string text;     ///< one sentence
    std::string by, why;  ///< who did it and their reason, where somebody did
};

/// An open token, intervention or wait for an event: what somebody can answer.
struct open_wait {
    waitpoint_row row;
    std::string question;              ///< of an intervention
    std::vector<std::string> choices;  ///< of an intervention
    std::string output_shape;          ///< what `complete` must be given
    std::optional<question_terms> asks;  ///< of a question to people (flow::ask)
};

/// What entering a run again would do (mechanism CK-14), as far as its rows tell: what recovery is going to find.
struct goes_on {
    std::size_t step;  ///< index of the first step that is not finished; the number of steps: behind them all
};
struct asks_person {
    std::string why;
    std::optional<std::size_t> step;  ///< the one in doubt; none: it is about the run
};
struct stays {
    std::string why;  ///< ended, held, paused
};
using resume_result = std::variant<goes_on, asks_person, stays>;

/// Everything about a run that fits one screen. Durable facts only.
struct run_view {
    run_row row;
    wait_reason waits_for;
    std::string doing;      ///< one sentence: what it is doing
    std::string unblocked_by;  ///< one sentence: what would make it go on; empty if nothing is needed
    std::vector<step_view> steps;
    std::vector<open_wait> open;
    std::vector<happening> happened;  ///< status changes, and what people asked, answered and decided; oldest first
    std::int64_t entries = 0;  ///< length of its history
    std::uint32_t segment = 0; ///< raised by `checkpoint` and `continue_as_new`; steps and what happened are of the newest
    int recoveries = 0;        ///< taken over from a dead process while executing, since the last progress (P31)
    resume_result resume = goes_on{0};
    std::optional<std::string> result;       ///< of a run that succeeded; empty if it lies in a blob
    flow::encoding result_encoding = flow::encoding::none;
    bool result_in_blob = false;
    std::optional<error_detail> failure;     ///< of one that ended otherwise
    std::vector<std::string> unfinished;     ///< of one that ended otherwise: what was not done, what happened and cannot be undone
};

namespace detail {
/// Pure: with what it asks, where it is an intervention.
open_wait as_open_wait(waitpoint_row row);
/// Pure: from the rows to the view.
run_view make_view(run_row row, std::vector<journal_entry> const& entries, std::vector<waitpoint_row> const& waitpoints);
}  // namespace detail

}  // namespace flow

#pragma GCC visibility pop
