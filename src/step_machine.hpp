// A step that is live: from its first attempt, or from where a crash left it, to its outcome (design, section 3).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "flow/detail/call.hpp"
#include "flow/step.hpp"
#include "src/pending.hpp"
#include "src/step_record.hpp"

namespace flow::detail {

class step_machine final : public pending {
public:
    step_machine(step_base& op, scope& s, continuation& c, position at, step_record r, effect cls);
    ~step_machine() override;

    /// Takes up the step where the record leaves it. True: its outcome is there (an inline function).
    bool begin();
    /// Its first attempt was made already, and did not give a value.
    bool begin_after(call_result r);
    /// The recorded output does not match its hash (P27).
    bool begin_healing(journal_entry const& damaged, std::vector<journal_entry const*> behind);

    void returned(ticket t, call_result r) override;
    void due(ticket t) override;
    void durable() override;
    void woken(waitpoint_row const& w) override;
    void cancel() override;
    std::optional<waitpoint_id> withdrawable() const override;
    void stop() override;

private:
    enum class doing : std::uint8_t {
        nothing,
        in_line,    ///< waits for a place under its limit; nothing of the attempt has begun
        barrier,    ///< waits until all that came before is durable
        calling,    ///< the function runs
        timed_out,  ///< it runs, and its time is over: the decision is made, the body waits for it to let go
        pausing,    ///< before the next attempt
        asking,     ///< a person decides
        elsewhere,  ///< it was begun, and ends elsewhere
    };
    /// Which function: the step's own, or what settles a doubt about it.
    enum class role : std::uint8_t { own, reconcile, compensate };

    // Attempts.
    void attempt_next();
    void stand_in_line();
    bool acts_outside() const noexcept;
    void leave_to_next_engine();
    void call_when_durable();
    void call_now();
    void make_attempt_data();
    void took(call_result r);
    void timed_out();
    void failed(call_result const& r, errc code);
    void pause_until(time_point t);

    // A poll: called until it says yes.
    void begin_polling();
    void not_yet();
    void write_look(std::optional<time_point> next_at);
    void stand_until(time_point next_at, bool fresh);
    void look_again(bool decided_by_store);
    bool is_limit_over() const { return limit_at_ && !damaged_ && run_.now() >= *limit_at_; }
    error_detail limit_error(std::string_view last_failure) const;

    // A step that ends elsewhere.
    bool open_token();
    void write_begun(std::string over);
    void take_up_elsewhere();
    void stand_elsewhere();
    void beat_is_due();
    void close_token(waitpoint_status fate, std::string why, std::function<void()> then);
    void too_late(std::string why);
    void go_on_from_token(std::string why);
    void forget_token();
    void answered(waitpoint_row const& w);
    void failed_elsewhere(errc code, std::string why);

    // The outcome.
    void settle(journal_entry outcome);
    void settle_value(call_result const& r);
    void settle_failure(error_detail e);
    void finished();

    // Doubt.
    void in_doubt();
    void sub_step(role what);
    void sub_step_done(std::string fate, call_result const* r);
    void ask(std::string question, std::vector<std::string> choices);
    void decided(decision_payload const& d, std::string by, std::string why);
    void give_up();  ///< the cancel, at this step
    void cannot_store(call_result const& r);

    void healed(call_result const& r);
    void void_what_is_behind();

    journal_entry entry(entry_kind k) const;
    position where() const;  ///< of the function that is called: the step's, or the sub-step's
    std::string role_name() const;
    retry_policy const& retry() const noexcept { return op_.options().retry; }
    time_span limit() const noexcept;
    void disarm();
    bool let_go() const noexcept { return !call_ || call_->detached; }

    step_base& op_;
    step_record record_;
    effect cls_;
    doing doing_ = doing::nothing;
    role role_ = role::own;
    bool starting_ = true;      ///< inside begin(): the outcome is told by its return value
    bool settled_ = false;
    bool recorded_ = false;     ///< the outcome is in the journal; the body has not been told yet
    bool cancel_wanted_ = false;
    bool waited_in_place_ = false;
    bool stopped_ = false;      ///< its engine goes
    int attempt_ = 0;           ///< the one made now
    int failures_ = 0;          ///< counted against the policy: of the step, or of the sub-step
    int sub_index_ = 0;
    std::shared_ptr<call> own_call_;  ///< kept for the next attempt
    std::shared_ptr<call> call_;      ///< out now
    std::shared_ptr<attempt_data> data_;
    ticket call_ticket_ = ticket::none, timeout_ = ticket::none, announce_ = ticket::none, pause_ = ticket::none,
           line_ = ticket::none, beat_ = ticket::none;
    std::shared_ptr<void> held_;      ///< a place under the limit, or in its line
    std::function<void()> when_let_go_;
    std::optional<intervention_payload> asked_;
    time_point asked_since_{};

    // Of a poll.
    std::optional<time_point> limit_at_;      ///< then it looks for the last time
    std::uint32_t looks_ = 0;
    std::optional<waitpoint_id> next_look_;   ///< the timer it stands on
    bool taken_up_ = false;                   ///< from another stay: that it goes on is progress
    bool announced_ = false;                  ///< the journal has it already

    // Of a step that ends elsewhere.
    std::optional<waitpoint_id> token_;       ///< of this attempt, while somebody may complete it
    time_point token_ends_at_ = never;
    std::optional<waitpoint_row> answer_;     ///< came before its function returned
    bool stands_ = false;                     ///< the run is blocked by it
    std::chrono::milliseconds heartbeat_{};   ///< signs of life are asked for so often; zero: none
    wait_terms policy_{};

    // Healing.
    bool healing_ = false;
    std::optional<journal_entry> damaged_;
    std::vector<journal_entry const*> behind_;
};

}  // namespace flow::detail
