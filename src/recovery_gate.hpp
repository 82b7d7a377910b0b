// Before a body that has ended its process again and again is entered once more, a person is asked (P31).
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "src/payloads.hpp"
#include "src/pending.hpp"

namespace flow::detail {

/// How often a run was taken over while executing, since its newest progress or decision.
int recoveries_without_progress(std::vector<journal_entry> const& entries);

class recovery_gate final : public pending, private continuation {
public:
    /// A gate, or nothing: then the body may be entered. `open` is called when a person has decided to go on.
    static pending_ptr needed(run& r, scope& top, std::function<void()> open);

    void begin();
    void woken(waitpoint_row const& w) override;
    void cancel() override;
    std::optional<waitpoint_id> withdrawable() const override;

private:
    recovery_gate(scope& top, std::function<void()> open, std::optional<intervention_payload> asked, int recoveries);
    void done() override {}

    std::function<void()> open_;
    std::optional<intervention_payload> asked_;
    int recoveries_;
    bool over_ = false;
};

}  // namespace flow::detail
