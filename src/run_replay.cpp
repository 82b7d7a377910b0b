// Branches on replay: outcomes are delivered in the order of their seqs; who asks before its turn is parked (P15).
#include "src/pending.hpp"
#include "src/run.hpp"

namespace flow::detail {

void run::park(scope& s, continuation& c, position const& at, journaled_operation& op)
{
    parked_at_.emplace(history_.key_of(at), ++parked_ever_);
    parked_.emplace(parked_ever_, parked{&op, &s, &c, at, s.shielded()});
}

bool run::ready(scope const& s, continuation& c)
{
    if (!s.in_branch().parent || delivering_) return true;
    later([this, &c] { resume(c); });
    return false;
}

/// What comes next in recorded order stands behind an inserted operation: of what is asked for, the one whose outcome is recorded first; else
/// the first that was asked for. Depends on the journal and the code alone, so the next replay takes the same turn.
std::map<std::uint64_t, run::parked>::iterator run::first_inserted()
{
    auto best = parked_.begin();
    auto best_seq = seq_no::none;
    for (auto at = parked_.begin(); at != parked_.end(); ++at) {
        auto const seq = history_.outcome_of(at->second.at);
        if (seq != seq_no::none && (best_seq == seq_no::none || seq < best_seq)) best = at, best_seq = seq;
    }
    return best;
}

/// Lets one parked operation go on whose turn it is; false: there is none.
bool run::advance()
{
    if (parked_.empty() || healing_ || stopping_ || phase_ != phase::live) return false;
    auto turn = parked_.begin();  // the history is over: in the order they were asked for
    auto const* next = history_.next_outcome();
    if (!next && pausing_) return false;
    if (next) {
        auto there = parked_at_.find(history_.key_of(*next));
        if (there == parked_at_.end() && !history_.is_tolerant()) {
            not_asked_for(*next);
            return false;
        }
        turn = there == parked_at_.end() ? first_inserted() : parked_.find(there->second);
    }
    auto p = std::move(turn->second);
    parked_at_.erase(parked_at_.find(history_.key_of(p.at)));
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
