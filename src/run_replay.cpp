// Branches on replay: outcomes are delivered in the order of their seqs; who asks before its turn is parked (P15).
#include "src/pending.hpp"
#include "src/run.hpp"

namespace flow::detail {

void run::park(scope& s, completion& c, position const& at, journaled_operation& op)
{
    parked_at_.emplace(at.path, ++parked_ever_);
    parked_.emplace(parked_ever_, parked{&op, &s, &c, at, s.shielded()});
}

bool run::ready(scope const& s, completion& c)
{
    if (!s.in_branch().parent || delivering_) return true;
    later([this, &c] { resume(c); });
    return false;
}

/// Lets one parked operation go on whose turn it is; false: there is none.
bool run::advance()
{
    if (parked_.empty() || healing_ || stopping_ || phase_ != phase::live) return false;
    auto turn = parked_.begin();  // the history is over: in the order they were asked for
    auto const* next = history_.next_outcome();
    if (!next && pausing_) return false;
    if (next) {
        auto const there = parked_at_.find(next->path);
        if (there == parked_at_.end()) {
            not_asked_for(*next);
            return false;
        }
        turn = parked_.find(there->second);
    }
    auto p = std::move(turn->second);
    parked_at_.erase(p.at.path);
    parked_.erase(turn);
    bool ready = false;
    delivering_ = true;
    if (p.shielded) {
        scope::shield const still(*p.s);
        ready = p.op->proceed(*p.s, *p.c, std::move(p.at));
    } else {
        ready = p.op->proceed(*p.s, *p.c, std::move(p.at));
    }
    delivering_ = false;
    if (ready) resume(*p.c);
    return true;
}

}  // namespace flow::detail
