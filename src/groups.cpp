#include "flow/groups.hpp"

#include <charconv>
#include <string>

#include "src/pending.hpp"

namespace flow::detail {

/// A group that has begun: its branches, and how it ends. Decides by the order in which branches end, which replay repeats (P15, P16).
class group_state : public std::enable_shared_from_this<group_state> {
public:
    group_state(group_base& op, scope& s, continuation& c, position at) : op_(op), outer_(s), done_(c), at_(std::move(at)) {}

    /// True: the group has ended.
    bool begin()
    {
        fill();
        starting_ = false;
        return over_;
    }

    /// The entry that says which branch ended the group for the others, recorded or written. True: the group has ended.
    bool decide()
    {
        deciding_ = true;
        take_decision();
        deciding_ = false;
        return over_;
    }

private:
    struct slot final : continuation {
        slot(group_state& g, std::size_t i) : group(g), index(i)
        {
            in.parent = &g.outer_.in_branch();
            positions.emplace(g.outer_, g.at_, i, in);
        }
        void done() override { group.branch_ended(index); }

        group_state& group;
        std::size_t index;
        branch in;
        std::optional<scope> positions;
        std::exception_ptr thrown;  ///< by its start
        bool ended = false;
    };

    bool may_start() const
    {
        return slots_.size() < op_.count_ && slots_.size() - ended_ < op_.concurrency_ && !cancelling_ && !outside_;
    }

    void fill()
    {
        auto& r = outer_.owner();
        filling_ = true;
        r.starting_branches(true);
        while (may_start()) {
            auto& s = slots_.emplace_back(*this, slots_.size());
            bool ready = true;
            try {
                ready = op_.enter(s.index, *s.positions, s);
            } catch (...) {
                s.thrown = std::current_exception();
            }
            if (ready) branch_ended(s.index);
        }
        r.starting_branches(false);
        filling_ = false;
        finish_if_over();
    }

    void branch_ended(std::size_t i)
    {
        auto& s = slots_[i];
        s.ended = true;
        ++ended_;
        // A cancel from outside, delivered in the branch, is no failure of the branch: it reaches the others as well.
        if (s.in.cancel_delivered && !s.in.cancel_wanted) outside_ = true;
        else took_end(i);
        if (filling_) return;
        if (may_start()) return fill();
        finish_if_over();
    }

    error const* failure_of(slot& s) { return s.thrown ? &thrown_.emplace(describe(s.thrown)) : op_.branch_failure(s.index); }

    void took_end(std::size_t i)
    {
        if (cancelling_ || outside_) return;
        bool const wins = op_.how_ == joining::any;
        if (!wins && (op_.how_ != joining::all || !failure_of(slots_[i]))) return;
        cancelling_ = true;
        decisive_ = i;
        undecided_ = wins || ended_ < slots_.size();
        if (!undecided_) return;
        outer_.owner().later([weak = weak_from_this()] {
            auto const self = weak.lock();
            if (self && self->decide()) self->outer_.owner().resume(self->done_);
        });
    }

    void take_decision()
    {
        auto& r = outer_.owner();
        std::span<journal_entry const* const> entries;
        auto const what = r.find(outer_, done_, at_, {entry_kind::group, op_.name_, effect::none, {}, {}}, op_, entries);
        if (what == run::found::stopped) return;
        if (what == run::found::finished) {  // a cancel of the run came first
            outside_ = true;
        } else if (what == run::found::recorded) {
            if (auto const ok = op_.accept(encoding::json, entries.back()->payload); !ok || op_.decisive_ != decisive_) {
                r.hold("nondeterminism", "branch " + std::to_string(decisive_) + " decided " + at_.place +
                                             ", the journal says another one did (entry " +
                                             std::to_string(static_cast<std::int64_t>(entries.back()->seq)) + ")");
                return;
            }
            r.consumed(at_);
            undecided_ = false;
            for (auto* b : others()) b->cancel_wanted = true;
        } else {
            if (!r.go_live()) return;
            r.cancel_branches(others(), [this, &r] {
                auto e = r.make(entry_kind::group, at_);
                e.name = op_.name_;
                e.payload = std::to_string(decisive_);
                e.encoding = encoding::json;
                r.append(std::move(e));
                undecided_ = false;
            });
        }
        finish_if_over();
    }

    std::vector<branch*> others()
    {
        std::vector<branch*> all;
        for (auto& s : slots_)
            if (!s.ended) all.push_back(&s.in);
        return all;
    }

    void finish_if_over()
    {
        bool const all_begun = slots_.size() == op_.count_ || cancelling_ || outside_;
        if (over_ || filling_ || !all_begun || ended_ < slots_.size() || (undecided_ && !outside_)) return;
        over_ = true;
        op_.decisive_ = decisive_;
        if (outside_) {
            outer_.in_branch().cancel_delivered = true;  // as the branches were: nothing outside a shield begins any more
            op_.fail(error(errc::cancelled, "the run was cancelled"));
        } else if (auto* s = failed_slot()) {
            op_.fail(*failure_of(*s));
            op_.thrown_ = s->thrown;
            op_.branch_threw_ = !s->thrown;
        }
        if (starting_ || deciding_) return;
        outer_.owner().resume(done_);  // may destroy this
    }

    /// The branch whose error is the group's.
    slot* failed_slot()
    {
        if (cancelling_) return failure_of(slots_[decisive_]) ? &slots_[decisive_] : nullptr;
        for (auto& s : slots_)
            if (s.thrown) return &s;  // `all_settled`: what an operation refuses at the await is nobody's outcome
        return nullptr;
    }

    friend class group_base;
    group_base& op_;
    scope& outer_;
    continuation& done_;
    position at_;
    std::deque<slot> slots_;
    std::size_t ended_ = 0;
    std::size_t decisive_ = 0;  ///< the branch that won, or failed
    std::optional<error> thrown_;
    bool starting_ = true;    ///< inside begin(): the end is told by its return value
    bool filling_ = false;
    bool cancelling_ = false; ///< the branches that still run are of no use any more
    bool undecided_ = false;  ///< and the entry that says so is not there yet
    bool outside_ = false;    ///< a cancel of the run, or of a group around, reached the branches
    bool deciding_ = false, over_ = false;
};

bool group_base::start(scope& s, continuation& c)
{
    auto at = s.next(name_);
    if (count_ == 0) return true;
    state_ = std::make_shared<group_state>(*this, s, c, std::move(at));
    return state_->begin();
}

bool group_base::proceed(scope&, continuation&, position) { return state_->decide(); }

outcome<void> group_base::accept(encoding, std::string_view payload)
{
    auto const [end, failure] = std::from_chars(payload.data(), payload.data() + payload.size(), decisive_);
    if (failure != std::errc{} || end != payload.data() + payload.size()) return error(errc::undecodable, "expected the index of a branch");
    return {};
}

void group_base::check_group()
{
    if (thrown_) std::rethrow_exception(thrown_);
    if (branch_threw_) rethrow_branch(decisive_);
    check();
}

}  // namespace flow::detail
