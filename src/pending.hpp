// An operation in flight: what the run tells it, and what all of them do alike.
#pragma once

#include <optional>
#include <string>

#include "flow/detail/operation.hpp"
#include "flow/detail/scope.hpp"
#include "src/run.hpp"

namespace flow::detail {

class pending {
public:
    pending(scope& s, completion& c, position at)
        : run_(s.owner()), branch_(s.in_branch()), done_(c), at_(std::move(at)), shielded_(s.shielded()),
          self_(run_.enter_flight(*this))
    {
    }
    virtual ~pending() { run_.leave_flight(*this); }
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
    /// The engine stops: functions are asked to.
    virtual void stop() {}

    bool shielded() const noexcept { return shielded_; }
    position const& at() const noexcept { return at_; }
    ticket self() const noexcept { return self_; }

protected:
    run& run_;
    branch& branch_;
    completion& done_;
    position at_;
    bool shielded_;
    ticket self_;
};

}  // namespace flow::detail
