#include "support/postgres_schedules.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <utility>

namespace flow::test
{

namespace
{

std::string told;

/// One choice of the schedule at hand. Bits stand for the two sessions.
struct choice {
    unsigned ready = 0, asleep = 0, tried = 0, wanted = 0;
    std::array<footprint, 2> next;
    unsigned taken = 0;
    unsigned preempted = 0;  ///< so often a session was left that could have gone on, before this
};

constexpr unsigned bit(unsigned who) { return 1U << who; }
unsigned some_of(unsigned bits, unsigned preferred)
{
    return (bits & bit(preferred)) != 0 ? preferred : (bits & 1U) != 0 ? 0U : 1U;
}

struct event {
    unsigned who;
    footprint what;
    std::array<std::size_t, 2> knows;  ///< so many events of each session come before it or are it, whatever the order
};

class search {
public:
    search(stepped_pair& two, std::optional<unsigned> preemptions) : two_(two), most_(preemptions) {}

    explored run(std::function<round_of()> const& fresh)
    {
        explored out;
        do {
            auto const r = fresh();
            told.clear();
            two_.begin(r.first, r.second);
            bool const again = play();
            try {
                two_.end();
            } catch (std::exception const& e) {
                throw std::runtime_error(std::string(e.what()) + "\n" + told);
            }
            out.again += again ? 1 : 0;
            out.rollbacks += two_.rollbacks();
            ++out.schedules;
            ++out.outcomes[r.check()];
        } while (go_back());
        return out;
    }

private:
    /// Follows the choices made, then makes the rest. True: all that was left to choose was tried elsewhere.
    bool play()
    {
        events_.clear();
        bool again = false;
        unsigned last = 0;
        for (std::size_t depth = 0;; ++depth) {
            auto const ready = two_.ready();
            if (ready == 0) return again;
            if (depth == choices_.size() && !again) {
                auto c = look(ready);
                again = (ready & ~c.asleep) == 0;
                if (!again) {
                    c.taken = some_of(ready & ~c.asleep, last);
                    if (depth > 0) c.preempted = choices_.back().preempted + (preempts(choices_.back()) ? 1 : 0);
                    bool const may_leave = depth == 0 || (ready & bit(last)) == 0 || c.preempted < most_.value_or(0);
                    c.wanted = most_ && may_leave ? ready : bit(c.taken);
                    choices_.push_back(c);
                }
            }
            if (depth < choices_.size() && choices_[depth].ready != ready)
                throw std::runtime_error("the same schedule went another way than before:\n" + told);
            auto const who = depth < choices_.size() ? choices_[depth].taken : some_of(ready, last);
            note(who, depth);
            two_.step(who);
            last = who;
        }
    }

    /// Its predecessor could have gone on.
    bool preempts(choice const& c) const
    {
        auto const i = static_cast<std::size_t>(&c - choices_.data());
        return i > 0 && choices_[i - 1].taken != c.taken && (c.ready & bit(choices_[i - 1].taken)) != 0;
    }

    choice look(unsigned ready) const
    {
        choice c;
        c.ready = ready;
        for (unsigned who : {0U, 1U})
            if ((ready & bit(who)) != 0) c.next[who] = two_.next(who);
        if (choices_.empty() || most_) return c;
        // Who was tried before, or slept, and did not depend on what was done instead: its turn now was had then.
        auto const& before = choices_.back();
        auto const other = 1U - before.taken;
        bool const was = ((before.asleep | before.tried) & bit(other)) != 0 && (ready & bit(other)) != 0;
        if (was && !depend(before.next[other], before.next[before.taken])) c.asleep = bit(other);
        return c;
    }

    /// The event that comes now; and where the other session could have come first, if that may matter.
    void note(unsigned who, std::size_t depth)
    {
        event e{who, two_.next(who), {}};
        told += (who == 0 ? "A: " : "        B: ") + two_.text(who).substr(0, 150) + "\n";
        auto const other = 1U - who;
        std::size_t own = 0;
        for (auto const& x : events_)
            if (x.who == who) {
                e.knows = x.knows;
                ++own;
            }
        auto const known = e.knows[other];
        e.knows[who] = own + 1;
        std::optional<std::size_t> nearest;
        std::size_t nth = 0;
        for (std::size_t i = 0; i < events_.size(); ++i) {
            if (events_[i].who != other) continue;
            ++nth;
            if (!depend(events_[i].what, e.what)) continue;
            if (nth > known) nearest = i;
            e.knows[0] = std::max(e.knows[0], events_[i].knows[0]);
            e.knows[1] = std::max(e.knows[1], events_[i].knows[1]);
            e.knows[who] = own + 1;
        }
        if (!most_ && nearest && *nearest < choices_.size() && *nearest < depth) {
            auto& c = choices_[*nearest];
            c.wanted |= (c.ready & bit(who)) != 0 ? bit(who) : c.ready;
        }
        events_.push_back(e);
    }

    /// To the last choice that leaves something to be tried.
    bool go_back()
    {
        for (; !choices_.empty(); choices_.pop_back()) {
            auto& c = choices_.back();
            c.tried |= bit(c.taken);
            auto const left = c.wanted & c.ready & ~c.tried & ~c.asleep;
            if (left == 0) continue;
            c.taken = some_of(left, 0);
            return true;
        }
        return false;
    }

    stepped_pair& two_;
    std::optional<unsigned> const most_;
    std::vector<choice> choices_;
    std::vector<event> events_;
};

}  // namespace

explored explore(stepped_pair& two, std::optional<unsigned> preemptions, std::function<round_of()> const& fresh)
{
    return search(two, preemptions).run(fresh);
}

std::string const& schedule_text() { return told; }

}  // namespace flow::test
