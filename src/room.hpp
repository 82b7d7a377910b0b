// What an operation does that needs no time, where too much of the run is not durable yet.
#pragma once

#include <functional>
#include <string_view>
#include <utility>

#include "src/pending.hpp"

namespace flow::detail {

/// The body waits before more is appended (P22); then `go_on` appends it.
class waits_for_room final : public pending {
public:
    waits_for_room(journaled_operation& op, std::string_view name, scope& s, continuation& c, position at, std::function<void()> go_on)
        : pending(s, c, std::move(at)), op_(op), name_(name), go_on_(std::move(go_on))
    {
        run_.when_durable(*this);
    }
    void durable() override
    {
        if (!over_ && !shielded_ && run_.is_cancel_wanted(branch_)) return cancel();
        if (std::exchange(over_, true)) return;
        land();
        go_on_();
        run_.resume(done_);
    }
    void cancel() override
    {
        if (std::exchange(over_, true)) return;
        land();
        run_.deliver_cancel(branch_, at_, name_, op_);
        run_.submit();
        run_.resume(done_);
    }

private:
    journaled_operation& op_;
    std::string_view name_;
    std::function<void()> go_on_;
    bool over_ = false;
};

}  // namespace flow::detail
