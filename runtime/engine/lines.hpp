// Who waits for a place under a named limit, and who has one (flow::limit).
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "flow/limit.hpp"

namespace flow::detail {

/// All lines of this process. Any thread.
class lines {
public:
    static lines& of_process();

    /// Joins the end of the line. `arrived` is called once, when the place is there: perhaps inside this call, never under a lock of
    /// ours. The place, or the wait for it, ends with what is returned.
    std::shared_ptr<void> join(limit const& l, std::function<void()> arrived);

private:
    struct place {
        int most;
        std::function<void()> arrived;
        bool taken = false;
    };
    struct line {
        std::list<place*> waiting;
        std::multiset<int> taken;  ///< by the number each of them gave
    };
    void leave(std::string const& name, place& p);
    /// The lock is held; to be called without it.
    static std::vector<std::function<void()>> let_in(line& l);

    std::mutex guard_;
    std::map<std::string, line> lines_;
};

}  // namespace flow::detail
