// A wait that is not over: for a token, an event, people, or the end of a child.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "flow/ask.hpp"
#include "src/payloads.hpp"
#include "src/pending.hpp"

namespace flow::detail {

/// shape_in of the entries of a wait; empty: for a token, or a child.
std::string_view mark_of(wait_base const& op) noexcept;
/// Of what a question is about; none: of nothing.
digest about_of(wait_base const& op);

/// What a question waits for: what people know, or what they decide.
wait_reason::kind type_of(question_terms const& asked) noexcept;

class waiting final : public pending {
public:
    /// `asked`: of a question, what is stored of it.
    waiting(wait_base& op, scope& s, continuation& c, position at, wait_payload w, std::optional<question_terms> asked);

    /// `fresh`: nothing of it is recorded. `secret`: of a question that is new and has secrets. True: it is over already.
    bool begin(bool fresh, std::string_view secret);

    void woken(waitpoint_row const& w) override;
    void due(ticket) override;
    void cancel() override;
    std::optional<waitpoint_id> withdrawable() const override;
    std::optional<return_event> returnable() const override;
    bool leaves_open() const override { return !on_.made_here; }
    bool leaves_undecided() const override { return child_.has_value(); }

private:
    void write_wait(std::string_view secret);
    waitpoint_row row_to_make(std::string_view secret) const;
    wait_reason reason() const;
    bool take_up(bool fresh);
    void lost();
    void give_up(waitpoint_status fate, error_detail why, std::string const& told);
    std::optional<std::string> by_default() const;
    bool accepts_default(std::string const& given);
    void take_default(waitpoint_id w);
    void settle_timer(waitpoint_status fate);
    bool is_timer_over() const;
    void end();
    journal_entry entry(entry_kind k) const;
    error_detail failure(waitpoint_row const& w) const;
    std::string told_of(waitpoint_row const& w) const;
    wait_terms const& policy() const;

    wait_base& op_;
    /// As they were when it was asked (P40), not as the code has them now.
    std::optional<question_terms> asked_;
    wait_payload on_;
    std::optional<run_id> child_;  ///< it waits for the end of this run
    run::made_token token_;
    std::string subject_;  ///< for people: what it waits for
    time_point due_at_ = never;
    bool token_ends_ = false;  ///< at due_at_ the token itself is over, not only this wait for it
    bool starting_ = true;     ///< inside begin(): the end is told by its return value
    bool over_ = false;
    bool lost_ = false;  ///< its policy has it that only the engine that began it goes on with it, and its run has left that
};

}  // namespace flow::detail
