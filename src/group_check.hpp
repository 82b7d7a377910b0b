// What every store asks of a holder's group before it writes it, but for what only its rows can tell.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "flow/rows.hpp"
#include "src/plans.hpp"

#pragma GCC visibility push(default)

namespace flow::detail {

/// What a holder's engine must never send, as a sentence; "" for a sound group. `from` are the run's statuses now.
std::string fault_in(group const& g, status_pair from);

inline answer only(answer_kind kind)
{
    answer a;
    a.kind = kind;
    return a;
}

/// `decided`: the waitpoint it wanted to decide or leave; none: its release found work.
inline answer superseded_by(std::optional<waitpoint_row> decided)
{
    answer a;
    a.kind = answer_kind::superseded;
    a.superseded_by = std::move(decided);
    return a;
}

/// Does the group release or end its run, which raises the epoch?
inline bool raises_epoch(group const& g) noexcept { return g.change && (g.change->release || is_terminal(g.change->status.run)); }

/// Does it take this request from the mailbox?
bool takes(group const& g, request_id id) noexcept;

/// Is this a wait for an event, which the group that makes it does not end itself?
bool wants_event(group const& g, waitpoint_row const& wait) noexcept;

/// Does it make this waitpoint in one of its first `before` effects?
bool makes(group const& g, waitpoint_id id, std::size_t before) noexcept;

/// Seq of its newest snapshot entry.
seq_no snapshot_in(group const& g) noexcept;

/// The run row's due_at behind it: who is put back into the queue becomes due anew (P62). The group has a change.
time_point due_after(group const& g, time_point before) noexcept;

}  // namespace flow::detail

#pragma GCC visibility pop
