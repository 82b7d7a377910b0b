// An operation in flight: what the run tells it, and what all of them do alike.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "flow/detail/operation.hpp"
#include "flow/detail/scope.hpp"
#include "src/children.hpp"
#include "src/run.hpp"

namespace flow::detail {

class pending {
public:
    pending(scope& s, continuation& c, position at)
        : run_(s.owner()), branch_(s.in_branch()), done_(c), at_(std::move(at)), shielded_(s.shielded()),
          self_(run_.enter_flight(*this))
    {
    }
    virtual ~pending() { land(); }
    pending(pending const&) = delete;
    pending& operator=(pending const&) = delete;

    virtual void returned(ticket, call_result) {}
    virtual void due(ticket) {}
    virtual void durable() {}
    virtual void woken(waitpoint_row const&) {}
    /// A cancel was taken; what `withdrawable` named is withdrawn already.
    virtual void cancel() = 0;
    /// The waitpoint a cancel takes away.
    virtual std::optional<waitpoint_id> withdrawable() const { return std::nullopt; }
    /// It is not this operation's own: if only a branch is cancelled, others may still wait for it.
    virtual bool leaves_open() const { return false; }
    /// It stays open whatever is cancelled: its fate is not this run's to decide.
    virtual bool leaves_undecided() const { return false; }
    /// What it waited for is an event: how that is given back where the body has no use for it.
    virtual std::optional<return_event> returnable() const { return std::nullopt; }
    /// The engine stops: functions are asked to.
    virtual void stop() {}

    bool shielded() const noexcept { return shielded_; }
    position const& at() const noexcept { return at_; }
    branch const& in_branch() const noexcept { return branch_; }
    ticket self() const noexcept { return self_; }

protected:
    /// Its outcome is there: nothing is delivered to it any more. A group keeps its operations until all have ended.
    void land() noexcept
    {
        if (!std::exchange(landed_, true)) run_.leave_flight(*this);
    }
    /// Re-entered after a cancel was taken while nobody held the run: what was completed before it still counts (P42).
    bool cancelled_meanwhile(waitpoint_row const* known)
    {
        // A child that was cancelled meanwhile was so because its parent is: no outcome of its own.
        bool const completed = known && known->status == waitpoint_status::completed && !is_cancelled_child(*known);
        if (shielded_ || completed || !run_.is_cancel_wanted(branch_)) return false;
        if (known && known->status != waitpoint_status::pending) run_.take(known->id);
        return true;
    }

    run& run_;
    branch& branch_;
    continuation& done_;
    position at_;
    bool shielded_;
    ticket self_;

private:
    bool landed_ = false;
};

}  // namespace flow::detail
