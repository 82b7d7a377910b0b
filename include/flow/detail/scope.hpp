// Positions and names of the operations of one body or branch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace flow::detail {

class run;

/// What one branch of a run knows: the top body is one; a sub-workflow awaited directly is part of its caller's.
struct branch {
    branch* parent = nullptr;       ///< the one its group stands in; none: the top
    bool cancel_wanted = false;     ///< its group has no use for it any more
    bool cancel_delivered = false;  ///< every operation outside a shield now throws `cancelled`, without an entry (P42)
    std::string prefix{};           ///< what its places begin with: "all#0.1/"
};

/// Where an operation stands: `4.0.1`, and `workflow#0/charge#2` (P1).
struct position {
    std::string path, place;
};

/// Counts the operations of one body. On the run's strand only.
class scope {
public:
    /// The top body.
    scope(run& owner, branch& b) : owner_(owner), branch_(b) {}
    /// A body inside another: its positions begin with `at`.
    scope(scope const& outer, position const& at);
    /// A branch of the group at `at`.
    scope(scope const& outer, position const& at, std::size_t index, branch& b);
    scope(scope const&) = delete;
    scope& operator=(scope const&) = delete;

    run& owner() const noexcept { return owner_; }
    flow::detail::branch& in_branch() const noexcept { return branch_; }
    bool shielded() const noexcept { return shields_ > 0; }
    /// The workflow's own body, neither a branch nor a sub-workflow.
    bool is_top() const noexcept { return path_prefix_.empty(); }

    /// The position of the operation that is awaited now. Throws flow::error(bad_name).
    position next(std::string_view name);

    /// Operations started while one of these lives are not cancelled.
    class shield {
    public:
        explicit shield(scope& s) noexcept : scope_(s) { ++scope_.shields_; }
        ~shield() { --scope_.shields_; }
        shield(shield const&) = delete;

    private:
        scope& scope_;
    };

private:
    struct counted {
        std::string name;
        std::string place;  ///< up to the occurrence: "all#0.1/charge#"
        std::uint32_t count;
    };
    counted& counter_of(std::string_view name);

    run& owner_;
    flow::detail::branch& branch_;
    std::string path_prefix_, place_prefix_;  ///< "" or ending in '.', '/'
    std::uint32_t next_position_ = 0;
    std::uint32_t shields_ = 0;
    std::vector<counted> counts_;  ///< few names in a body: searched from the last one used
    std::size_t last_used_ = 0;
};

}  // namespace flow::detail

#pragma GCC visibility pop
